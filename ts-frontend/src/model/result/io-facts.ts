/** Evidence of the finding about input, output and sleep. */
import type { WaitCaller, WaitingAt } from './fact-parts.js';
import type { SmallRequestsFacts } from './work-facts.js';

/** Input, output or sleep that does not overlap with work. */
export interface IoFacts {
  form: 'io';
  // others: the pace is set by requests or by other programs; replies: threads wait in calls that receive from one
  // sender each, or the program has connections and does not listen; events: it has neither, so timers, input or
  // children end the waits
  waits: 'device' | 'others' | 'replies' | 'events' | 'sleep' | 'children' | 'file-lock';
  mayBeSleep: boolean; // no system procedure was seen, so input, output and sleep cannot be distinguished
  call: string | null; // the C library procedure with most of the time
  callers: WaitCaller[]; // where it is called for several, those with most of the time
  threads: number; // mean number of threads in it
  held: WaitingAt[]; // what other threads waited for at the same time, if that is reported
  overlapNs: number; // saved if other work were done at the same time
  restNs: number; // part of the cost during which nothing ran
  goesNs: number; // for a sleep, and for replies: saved if no thread had to wait there, at most
  // for a device: saved if hardly any of this input and output were done, including the work of the procedure that
  // requests it; null: it has no other work
  rarerNs: number | null;
  several: { atATime: number; savesNs: number } | null; // saved with this many operations at a time
  // what threads of the same role wait for before they begin this, and what is saved if all of them may do it at a
  // time; null: they do not
  limit: { entity: number; atATime: number; savesNs: number } | null;
  // number of threads with the same role that are all asleep there nearly all the time, and never wait for work, so
  // that more threads would do more at a time; null: none are
  asleep: number | null;
  // of child processes that are awaited (children), or may be (events)
  childrenNs: number | null; // their processor time
  started: number | null; // their number; null: not known
  answers: boolean; // what is awaited of child processes is what they write, not their end
  small: SmallRequestsFacts | null; // of a server that waits for requests; null: they are not small
}
