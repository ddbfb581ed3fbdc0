/**
 * What each finding says, as data: one type for each form of evidence. Sentences are made of them in render/findings,
 * and JSON shows them as they are. Numbers named by `...Ns` are nanoseconds, entities are indices into Model.entities.
 * A saving here is that of the change alone; Finding.savingNs is what a longer thread leaves of it.
 */

/** Threads that waited at an object during this time: their mean number. */
export interface WaitingAt {
  entity: number;
  threads: number;
}

/** Code runs alone, while processors have nothing to do. */
export interface SerialFacts {
  form: 'serial';
  worker: { thread: number; share: number } | null; // of several that pass work on, the only one that has some
  oneAtATime: number | null; // threads that ran it, one at a time
  succession: number | null; // of these, beside main: each began after the one before had ended
  callers: number[]; // where most of it is lost, outermost first, at most three
  itself: boolean; // the code alone, without what it calls
  waiting: WaitingAt | null;
  parts: number[]; // what it calls of run-time libraries, where most of it is
  spreadNs: number; // saved, if it were spread over all processors
  smaller: { entity: number; costNs: number }[]; // further serial code, too small for findings of their own
}

/** Code that too few threads run. */
export interface TooFewThreadsFacts {
  form: 'too-few-threads';
  threads: number; // that ran it
  atOnce: number; // of these alive at the same time, at most
  many: boolean; // more than two for each processor: their number says nothing
  waiting: WaitingAt | null;
  parts: number[];
  spreadNs: number; // saved, if it were spread over all processors
  // divided evenly among those there are: where that saves nearly as much
  even: { threads: number; savesNs: number } | null;
}

/** Code whose work is divided unevenly among threads. */
export interface UnevenFacts {
  form: 'uneven-division';
  code: number;
  barrier: number | null; // where the others wait for the last one
  slowest: { thread: number; workNs: number; meanNs: number } | null;
  last: number | null; // the only thread that still had some
  threads: number;
  atOnce: number;
  callers: number[]; // where there are other procedures of the name
  waiting: WaitingAt | null;
  parts: number[];
  many: boolean; // threads: pieces of work, rather than their division, are to be changed
  among: number; // threads that could share it
  evenNs: number; // saved, if it were divided evenly among them
  spreadNs: number | null; // spread over all processors: where that saves nearly as much
}

/** Threads that are too small to be worth handing to another processor. */
export interface SmallThreadsFacts {
  form: 'small-threads';
  spawns: number;
  workNs: number;
  ready: number;
  savesNs: number;
}

/** A pipeline one of whose stages is slower than the others. */
export interface SlowestStageFacts {
  form: 'slowest-stage';
  code: number;
  stage: { thread: number; workNs: number };
  next: { thread: number; workNs: number };
  objects: number[]; // where the others wait
  savesNs: number;
}
/** Threads that pass data on, and wait for each other. */
export interface PassedDataFacts {
  form: 'passed-data';
  objects: number[];
  code: number;
  savesNs: number;
}
/** Threads that do the same, and wait for each other. */
export interface MutualWaitFacts {
  form: 'mutual-wait';
  objects: number[];
  savesNs: number;
}
/** All threads wait, and none is at work that could wake them. */
export interface NothingRunsFacts {
  form: 'nothing-runs';
  waiting: WaitingAt[];
  waits: { entity: number; count: number; meanNs: number }[];
}

/** A lock that threads wait for. */
export interface LockFacts {
  form: 'lock';
  spins: boolean; // the waiters do, mostly
  // it is one by what happens there: so many threads that do the same go on one at a time
  exclusion: { threads: number } | null;
  waitedFor: number; // the lock that most of the waiting is for; the finding's entity is the cause
  others: number[]; // further locks that are waited for because of it
  waiters: number; // mean number
  woken: number | null; // of these, such as had just been woken: where they are many
  counted: boolean; // false: seen from outside alone, the next three are 0
  acquisitions: number;
  contended: number;
  waitMeanNs: number;
  takenIn: number[]; // who waits for it, where it is known by the place that made it alone
  allocator: boolean; // the cause is the allocator's own
  holder: number | null; // the procedure that mostly held it while others waited
  inIo: { share: number; call: number | null } | null; // of the time that it was held so, in input, output or sleep
  mostlyInIo: boolean; // half of it, or more
  unserved: number | null; // share of the time for which threads had it that they waited for a CPU
  readyInstead: boolean; // threads were ready to run: blocking waiters would give them the processors
  savesNs: number;
}
/** Threads spin at another object, although others are ready to run. */
export interface SpinningFacts {
  form: 'spinning';
  savesNs: number;
}

/** Threads wait in MPI for other processes, and nothing else of this one runs. */
export interface ProcessesFacts {
  form: 'processes';
  calls: { entity: number; ns: number }[]; // elapsed time waited there, most first
  further: number; // calls that are not among those
  startNs: number; // of the cost: until all processes had started, or ended
  messageNs: number; // of it: for one other process
  collectiveNs: number; // of it: for several
  savesNs: number; // if the others came as early
}
/** Input, output or sleep that is not overlapped with work. */
export interface IoFacts {
  form: 'io';
  waits: 'device' | 'others' | 'sleep' | 'children' | 'file-lock'; // others: requests, or other programs, set the pace
  mayBeSleep: boolean; // no procedure of the system was seen: which of them it is, is not known
  call: string | null; // the procedure of the C library that it is mostly in
  threads: number; // mean number
  held: WaitingAt[]; // what other threads waited for at that time, where that is to be reported
  overlapNs: number; // saved, if other work were done in that time
  restNs: number; // of the cost: nothing ran at that time
  goesNs: number; // of a sleep, if nobody had to sleep
  // of a device: saved, if hardly any of it were done, with the work of who asks for it; null: it has no other part
  rarerNs: number | null;
  several: { atATime: number; savesNs: number } | null; // so many under way at a time
  childrenNs: number | null; // processor time of the child processes that are waited for
  started: number | null; // how many were started; null: not known
}

/** The thread package's own work. */
export interface PackageWorkFacts {
  form: 'package-work';
  events: { what: 'threads' | 'switches'; count: number; workNs: number } | null; // work for each of them
  savesNs: number;
  coarser: number;
}
/** Kernel threads that are woken so often that there is little work for each wait. */
export interface WakeUpFacts {
  form: 'wake-ups';
  waits: number;
  workNs: number; // processor time for each
  objects: number[];
  again: { condition: number; count: number; waits: number } | null; // waits that began again at once
  wakingNs: number; // of the cost: threads that have been woken, and calls that wait and wake
  leastNs: number; // saved, if waking were so many times rarer, or one thread did all the work
  mostNs: number; // if no thread had to wait
  coarser: number;
}
/** Threads hand locks to each other all the time. */
export interface HandOverFacts {
  form: 'hand-overs';
  objects: number[]; // the locks, by how long threads wait for them
  takenIn: number[]; // who waits for the first, where it is known by the place that made it alone
  allocator: boolean; // the first is the allocator's own
  waits: { count: number; workNs: number } | null; // for locks, and processor time for each; null: nobody counts them
  handingShare: number; // of the processor time: in calls that wait and wake, and in code of locks
  leastNs: number; // saved, if no thread ever found one taken
  mostNs: number;
  aloneNs: number | null; // saved, if one thread did all the work: where that is worth anything
}
/** Locks that are taken so often that this takes much of the processor time, although hardly anybody waits. */
export interface LockChurnFacts {
  form: 'lock-churn';
  objects: number[]; // the locks, by how often they are taken
  passing: boolean; // it is mostly a library's channels, and its switching and waking of what waits at them
  /** `passing`, and nearly all of it for one procedure: who is at the channels' other ends hardly uses them. */
  oneSided: boolean;
  by: number | null; // the procedure that takes the first one most often
  /**
   * How often locks were taken; of these, such as found it taken; processor time to take and release one, without what
   * recording adds; the same of a lock that only one CPU uses, as measured on this machine. Null: nobody counts them.
   */
  counts: { times: number; waits: number; eachNs: number; freeNs: number } | null;
  share: number; // of the processor time
  leastNs: number; // saved, if they were taken so many times less often
  mostNs: number;
  rarer: number;
}
/** Kernel threads that live for hardly any work. */
export interface ShortThreadsFacts {
  form: 'short-threads';
  spawns: number;
  workNs: number;
  leastNs: number;
  savesNs: number;
  mostNs: number; // if few threads on all processors did their work
  coarser: number;
  inlineNs: number | null; // all of their work, done by one thread, takes no longer; null: that saves no more
}
/** OpenMP's library itself. */
export interface OpenMpFacts {
  form: 'openmp';
  library: 'OpenMP' | 'TBB';
  calls: number[];
  use: 'pieces' | 'exclusion' | 'order'; // locks and critical sections; turns in ordered regions
  waitsNs: number; // of the cost: threads wait for its critical sections and locks
  savesNs: number; // at least
  mostNs: number; // if the program's own work were spread over all processors
  coarser: number;
}

/** More threads can run than there are CPUs. */
export interface OversubscriptionFacts {
  form: 'oversubscription';
  oversubscribedNs: number; // elapsed time with more of them than CPUs
  runnable: number; // their mean number
  harmful: boolean; // false: by itself that costs no elapsed time
  // waits for each other, where they are so many that what handing over costs (caches, switches) may be a good part
  handOvers: number | null;
  spinners: { threads: number; object: number } | null;
  // of these, such as were woken and wait for a CPU: where they are many
  woken: { threads: number; object: number } | null;
  cpuWait: { waitNs: number; ownNs: number } | null; // what the kernel counted
  // no more threads than CPUs: at least, and (where it is notable) at most
  fewer: { savesNs: number; mostNs: number | null };
  blocking: number | null; // saved, if waiters only blocked at once: where that is less
}

/** The kernel's work on behalf of the program. */
export interface KernelWorkFacts {
  form: 'kernel-work';
  work: 'memory' | 'read' | 'write' | 'calls';
  called: number | null; // the procedure of a run-time library through which most of it comes
  faults: number | null; // page faults
  again: number | null; // of these the part for memory that the program had had before, at least
  allocator: boolean; // memory is given back by the allocator
  mapping: number; // part of it in calls that map and unmap
  takes: boolean; // the finding's entity takes the memory and gives it back; else most of the work is for it
  calls: { count: number; bytesEach: number } | null; // of the whole program
  both: { count: number; bytesEach: number } | null; // the other of reading and writing, where it is part of the cost
  leastNs: number; // saved at least
  savesNs: number; // and at most
}

/** A run-time's garbage collection. */
export interface CollectionFacts {
  form: 'collection';
  share: number; // of the processor time
  fewer: number; // so many times fewer collections
  savesNs: number; // at least
  mostNs: number; // if no thread ever waited for one, either
  allocating: AllocatingFacts | null; // null: not seen, or spread over many
}

/** Who allocates most of what is collected, by the time that allocating takes. */
export interface AllocatingFacts {
  entity: number; // the innermost procedure below which at least half of it is
  part: number; // of allocating: what is below it
  share: number; // of the processor time: allocating
}

/** Processes are started and ended. */
export interface ProcessStartFacts {
  form: 'process-starts';
  called: number | null; // the procedure of a library through which most of it comes
  started: number | null; // processes; null: not known
  eachNs: number | null; // processor time of each, its beginning and end included
  ownNs: number; // of the cost: processor time of this process, NPT
  faultNs: number; // of the cost: page faults by writing to memory that fork has shared with the children, NPT
  waitedNs: number; // of the cost: waits for processes that do little but begin and end
  copies: boolean; // most of ownNs copies this process (fork)
  residentBytes: number; // the most memory that it had, 0: not known
  fewer: number; // so many times fewer of them
  leastNs: number; // save at least
  savesNs: number; // and at most
}

/** A run-time compiles code while the program runs. */
export interface CompilationFacts {
  form: 'compilation';
  share: number; // of the processor time
  savesNs: number; // if none of it were needed
}

/** Data is turned into bytes for others, and back. */
export interface SerializationFacts {
  form: 'serialization';
  between: 'processes' | 'threads'; // threads with heaps of their own
  share: number; // of the processor time
  caller: number | null; // the procedure of the program that calls it
  savesNs: number; // if none of it were needed
}

/** Threads wait for each other by sched_yield. */
export interface YieldFacts {
  form: 'yields';
  share: number; // of the processor time in the call
  workShare: number; // without that, and without other waiting on a CPU
  threads: number; // that yield
  aloneNs: number; // saved, if one thread did the work, without any handing over
}

/** Threads on different CPUs write one cache line alternately: each time it has to come from another CPU. */
export interface SharingFacts {
  form: 'sharing';
  /** Different words of it (false sharing); the same word, changed in one step; likewise by compare-and-swap. */
  how: 'words-apart' | 'changed' | 'exchanged';
  variable: string; // static one that the line with most samples belongs to; '': none
  lines: number;
  threads: number;
  share: number; // of the samples in that code, found around accesses to such lines
  savesNs: number; // saved, if those took no time at all
  mostNs: number; // if what follows them waits for the line, too
}

/** Code that takes the time while the processors are busy. */
export interface OptimizeFacts {
  form: 'optimize';
  within: { entity: number; ns: number } | null; // what it calls of run-time libraries
  // takes more, but main, which is at work all the time, waits for nobody
  beside: { entity: number; ns: number; main: number } | null;
  mostNs: number; // saved, if it took no time at all: how much less it can take is not known
  calledNs: number; // what it calls takes, which may go with it
  restNs: number; // what both take while fewer processors are busy, which would go as well
  // it would have to become so much faster (a part of its time) to gain what the best of the others saves
  even: { part: number; finding: number } | null;
  /** So many threads run it at the same time. Whether they slow each other there, samples alone do not show. */
  together: number;
  handedOn: boolean; // threads hand locks on all the time: data comes from other CPUs with the lock
  spread: boolean; // with all that it calls: no procedure has a tenth of the elapsed time by itself
  allocatorNs: number | null; // of it, in the allocator (malloc, free, operator new), where that is half or more
}

export type Facts =
  | SerialFacts
  | TooFewThreadsFacts
  | UnevenFacts
  | SmallThreadsFacts
  | SlowestStageFacts
  | PassedDataFacts
  | MutualWaitFacts
  | NothingRunsFacts
  | LockFacts
  | SpinningFacts
  | IoFacts
  | ProcessesFacts
  | PackageWorkFacts
  | WakeUpFacts
  | HandOverFacts
  | LockChurnFacts
  | ShortThreadsFacts
  | OpenMpFacts
  | OversubscriptionFacts
  | KernelWorkFacts
  | YieldFacts
  | CollectionFacts
  | ProcessStartFacts
  | CompilationFacts
  | SerializationFacts
  | SharingFacts
  | OptimizeFacts;
