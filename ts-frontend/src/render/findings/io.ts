/** Sentences for input, output and sleep that do not overlap with work, and for time in which no thread runs. */
import { item } from '../../model/index.js';
import type { Finding, IoFacts, NothingRunsFacts } from '../../model/index.js';
import { count } from '../format/units.js';
import { counted, type Phrases, type Sentences, threadsText } from '../wording/phrases.js';

/** How many child processes there were, and the average time for each. */
const eachText = ({ childrenNs, started }: IoFacts, { time }: Phrases): string =>
  childrenNs === null || started === null
    ? ''
    : ` (${count(started)} ${started === 1 ? 'process' : 'processes'}, ${time(childrenNs / started)} each)`;

/** Which threads wait there nearly all the time, if these are all of a pool. */
const asleepText = ({ asleep }: IoFacts): string =>
  asleep === null
    ? ''
    : ` ${asleep === 2 ? 'Both' : `All ${count(asleep)}`} threads that do this are asleep there nearly all the time, ` +
      'and do not wait for work.';

/** More threads, if all that there are wait; '' if it is not known that there is more to do. */
const moreThreads = ({ asleep, several }: IoFacts, { time }: Phrases): string =>
  asleep === null || several === null
    ? ''
    : 'run more of them at a time (more threads, or asynchronous calls): ' +
      `${count(several.atATime)} instead of ${count(asleep)} would save up to ${time(several.savesNs)}`;

/** What lets more threads do this at a time; '' if it is not known that any wait to begin. */
const letMore = ({ limit }: IoFacts, { time, title }: Phrases): string =>
  limit === null
    ? ''
    : `${title(limit.entity)} limits how many threads do this at a time, let more of them in: ` +
      `${count(limit.atATime)} at a time would save up to ${time(limit.savesNs)}`;

/** What a sleep is for cannot be seen: a loop that begins at set times loses nothing by it. */
const ofSleep = (facts: IoFacts, together: string, say: Phrases): string =>
  `${ofLostSleep(facts, together, say)} If it keeps a pace (frames, a period), it costs nothing.`;

function ofLostSleep(facts: IoFacts, together: string, say: Phrases): string {
  const polls =
    'it sleeps and looks again until another thread or program has done something, let it wait for that event (a ' +
    `condition, a semaphore): that could save up to ${say.time(facts.goesNs)}.`;
  if (facts.asleep !== null) return `If the sleep stands for a slow operation, ${moreThreads(facts, say)}. If ${polls}`;
  const more = letMore(facts, say);
  if (more !== '') return `If the sleep stands for a slow operation, and ${more}. If ${polls}`;
  const other = together === '' ? 'do other work at the same time' : together;
  return `If ${polls} If the sleep stands for a slow operation, ${other}.`;
}

function ofReplies(facts: IoFacts, say: Phrases): string {
  const more = moreThreads(facts, say),
    limited = letMore(facts, say);
  return (
    (limited === '' ? 'Find' : `If ${limited}. Otherwise find`) +
    ` out why the other side takes so long${more === '' ? '' : `, or ${more}`}. If each wait is for the answer ` +
    'to a request, send several requests before waiting, or more in each, and send each with one call (a small ' +
    'packet that follows another one may wait for its acknowledgement: TCP_NODELAY); that could save up to ' +
    `${say.time(facts.goesNs)}. Doing other work meanwhile could save up to ${say.time(facts.overlapNs)}.`
  );
}

/** One child process that does not end: it answers. */
function ofAnswers({ overlapNs, several, childrenNs }: IoFacts, { time }: Phrases): string {
  const more = several === null ? '' : ` (twice as many would save up to ${time(several.savesNs)})`;
  const takes = childrenNs === null ? '' : `It takes ${time(childrenNs)} of processor time. `;
  return (
    `${takes}If this is one request after the other, send the next ones before the answer to the first has come, ` +
    'several in each write, or do part of its work in this process; or let several such processes answer at a time' +
    `${more}. Doing other work meanwhile could save up to ${time(overlapNs)}. Option --children also records what ` +
    'it does.'
  );
}

/** Children that may end waits for events; '' if there were none. */
function childrenText({ started, childrenNs }: IoFacts, { time }: Phrases): string {
  if (started === null && childrenNs === null) return '';
  const which =
    started === null ? 'its child processes' : `${count(started)} child ${started === 1 ? 'process' : 'processes'}`;
  return `${which}${childrenNs === null ? '' : ` (${time(childrenNs)} of processor time)`}`;
}

function ofEvents(facts: IoFacts, say: Phrases): string {
  const more = moreThreads(facts, say);
  return (
    (childrenText(facts, say) === ''
      ? ''
      : 'If it waits for what its child processes write, or for their end, quartz run --tree or --children also ' +
        'records what they do; doing other work while they run, or more of them at a time, is what saves time then. ') +
    'If it is a timer (a rate limit, a delay between attempts, an interval, a time limit after which it looks for ' +
    'what another thread has done), shorten it, or let what it waits for end it (a condition, an eventfd, a pipe)' +
    `${more === '' ? '' : `, or ${more}`}; that could save up to ${say.time(facts.goesNs)}. If it is input, the ` +
    `sender sets the pace; doing other work meanwhile could save up to ${say.time(facts.overlapNs)}.`
  );
}

/** For whom it waits. */
const callersText = ({ callers }: IoFacts, { title, share: part }: Phrases): string =>
  callers.length === 0
    ? ''
    : ` (called by ${callers.map(({ entity, share }) => `${title(entity)}: ${part(share)}`).join(', ')})`;

export function io(finding: Finding, facts: IoFacts, say: Phrases): Sentences {
  const { waits, call, several } = facts;
  const where = `${say.title(finding.entity)}${callersText(facts, say)}`,
    pool = asleepText(facts),
    costs = say.costs(finding.costNs),
    threads = threadsText(facts.threads);
  const held = facts.held.length > 0 ? `; threads that waited at the same time: ${say.eachAt(facts.held)}` : '';
  const state = `while ${say.processorUse(finding.processorUse)}${held}.`;
  const isNamed = call === null || call === item(say.model.entities, finding.entity).name;
  const inCall = isNamed ? '' : ` (${call})`;
  const together = several
    ? `start several at a time (more threads, or asynchronous calls): ${several.atATime} at a time would save ` +
      say.time(several.savesNs)
    : '';
  const saved = say.time(facts.overlapNs),
    limited = letMore(facts, say);
  if (waits === 'children') {
    const text = `${where} waits for child processes${inCall} for ${costs}, ${threads} on average, ${state}`;
    if (facts.started === 1 && facts.answers) return { text, remedy: ofAnswers(facts, say) };
    return {
      text,
      remedy:
        (several
          ? `Run more of them at a time (twice as many would save up to ${say.time(several.savesNs)}), or do other ` +
            `work while they run (up to ${saved}). `
          : `Do other work while they run; that could save up to ${saved}. `) +
        (facts.childrenNs === null
          ? ''
          : `They take ${say.time(facts.childrenNs)} of processor time${eachText(facts, say)}, including their ` +
            'start and end: ' +
            `if these take most of it, start fewer, or do their work in this process; that could save up to ` +
            `${say.time(Math.min(finding.costNs, facts.childrenNs))}. `) +
        'Options --tree and --children also record what they do.',
    };
  }
  if (waits === 'file-lock') {
    return {
      text:
        `${where} waits for a lock on a file${inCall} for ${costs}, ${threads} on average, ${state} Its holder ` +
        'is not recorded: it may be another process, or another thread of this one.',
      remedy:
        'Hold it for less time (do what needs no lock before it is taken or after it is released), lock only the ' +
        `part of the file that is used, or use one file for each process or thread: that could save up to ${saved}.`,
    };
  }
  if (waits === 'sleep')
    return {
      text: `${where} sleeps (${call ?? 'nanosleep'}) for ${costs}, ${threads} on average, ${state}${pool}`,
      remedy: ofSleep(facts, together, say),
    };
  if (waits === 'replies')
    return {
      text: `${where} waits for what others send${inCall} for ${costs}, ${threads} on average, ${state}${pool}`,
      remedy: ofReplies(facts, say),
    };
  if (waits === 'events')
    return {
      text:
        `${where} waits for events${inCall} for ${costs}, ${threads} on average, ${state}${pool} The program had no ` +
        'connection to others and did not listen for any, so timers, input from a terminal or pipe, or ' +
        `${childrenText(facts, say) || 'child processes'} end these waits.`,
      remedy: ofEvents(facts, say),
    };
  const what = facts.mayBeSleep ? 'Input, output or sleep' : 'Input and output';
  return {
    text:
      `${facts.small ? `${requestsText(facts.small, say)} Between them, ${what.toLowerCase()}` : what} in ` +
      `${where}${isNamed ? '' : `, in ${call},`} take ${costs} that does not overlap with other work: ` +
      `${threads} waited for it on average, ${state}`,
    remedy:
      smallText(facts, say) +
      `${
        waits === 'others'
          ? 'If clients or other programs send too late, they set the pace; otherwise overlap'
          : limited === ''
            ? 'Overlap'
            : `If ${limited}. Otherwise overlap`
      } ` +
      `it with ${
        waits === 'others'
          ? 'other requests and computation (handle several at a time, with more threads or asynchronous calls)'
          : 'computation (start it early, or give it a thread of its own)'
      }; that could save up to ${saved}.` +
      (limited !== '' && waits === 'others' ? ` If ${limited}.` : '') +
      (!facts.limit && several && several.savesNs > facts.overlapNs ? ` Or ${together}.` : '') +
      (facts.rarerNs === null
        ? ''
        : ` Or do it less often, with more each time (one transaction or one flush for many changes): that could ` +
          `save up to ${say.time(facts.rarerNs)}.`),
  };
}

/** Of a server whose requests are small: what takes its time; */
const requestsText = ({ share: part }: NonNullable<IoFacts['small']>, { share }: Phrases): string =>
  'Each request takes little more than the system calls that wait for, read and answer it: these are ' +
  `${share(part)} of the processor time.`;

/** and the change that saves both its calls and its waits. */
function smallText({ small }: IoFacts, { time }: Phrases): string {
  if (small === null) return '';
  return (
    `Put more into each request, or send several at a time (pipelining, batches): ${small.atATime} at a time would ` +
    `save up to ${time(small.savedNs)}, of these calls and of the waits between them. `
  );
}

export function nothingRuns(
  finding: Finding,
  { waiting, waits }: NothingRunsFacts,
  { costs, eachAt, title, time }: Phrases,
): Sentences {
  const each = waits
    .map((one) => `${title(one.entity)} ${counted(count(one.count), 'time')}, ${time(one.meanNs)} each`)
    .join('; ');
  return {
    text:
      `Nothing runs for ${costs(finding.costNs)}: all threads wait (${eachAt(waiting)}), and no thread is left ` +
      'to wake them. ' +
      `Only a time-out, a signal or another program ends this. Threads waited for ${each}.`,
    remedy:
      'Find the thread that should wake them: perhaps the condition of a timed wait is not signalled, or too late. ' +
      `Waking them in time could save up to ${time(finding.costNs)}.`,
  };
}
