/** The evidence of findings about work of which only less helps (facts.ts). */
import type { LibraryLockFacts } from './fact-parts.js';

/** The memory allocator's work for many procedures, while the processors are busy. */
export interface AllocationFacts {
  form: 'allocation';
  callers: { entity: number; ns: number }[]; // the procedures that cause most of it
  procedures: number; // number of procedures that call the allocator
  called: number[]; // the allocator's procedures with most of the time
  // part of it in the kernel, for memory that the allocator gives back and requests again (`again`: at least this share
  // of the page faults); null: none, or not known
  kernel: { ns: number; again: number } | null;
  mostNs: number; // upper bound: saved if nothing were allocated
}

/** Code that takes time while the processors are busy. */
export interface OptimizeFacts {
  form: 'optimize';
  // procedures of run-time libraries that it calls; with `spread`, the called one with most self time, if it has a
  // tenth of the elapsed time
  within: { entity: number; ns: number } | null;
  // code that takes more, but does not delay main, which works all the time and waits for no thread
  beside: { entity: number; ns: number; main: number } | null;
  mostNs: number; // upper bound: saved if the code took no time; how much less it can take is not known
  calledNs: number; // time of the procedures that it calls, which might be saved, too
  restNs: number; // time of both while fewer processors are busy, which would also be saved
  // what calls it, and has half of all work while the processors are busy; null: it has not notably more
  around: WorkAroundFacts | null;
  // the share of its time that has to be removed to save as much as the best other finding does
  even: { part: number; finding: number } | null;
  /** Number of threads that run it at the same time. Samples alone do not show whether they slow each other down. */
  together: number;
  // threads hand locks to each other all the time, so that data comes from other CPUs together with the lock
  handedOn: boolean;
  guessed: boolean; // other programs had CPUs, and threads wait for a lock: that all CPUs were busy is not certain
  // the lock, where no finding is about it: thread time of waiting for it, as it was seen; null: none
  waited: { lock: number; ns: number } | null;
  spread: boolean; // the procedure with its callees
  unnamed: boolean; // half of it is in procedures of its library that have no names and run for it
  allocatorNs: number | null; // part of it in the allocator (malloc, free, operator new); null if less than half
  loop: string | null; // file and line of the innermost loop of its own code that has most of it
  copyingNs: number | null; // part of it that copies memory (memcpy); null if less than half
  chainsNs: number | null; // part of it that follows the buckets of a hash table; null if less than half
  // most of it is in procedures of the C library that take a lock for state that all threads share; null: not so
  library: LibraryLockFacts | null;
  atomics: AtomicsFacts | null; // null: less than a quarter of it
}

/** A procedure that calls the code of a finding. */
export interface WorkAroundFacts {
  entity: number;
  ns: number; // NPT with everything that it calls, at all times
}

/** Time at atomic operations on words that several threads change. */
export interface AtomicsFacts {
  ns: number;
  how: 'changed' | 'exchanged'; // as of SharingFacts
  variable: string; // the static variable with most of it; '': it is none
  threads: number; // that were seen to change that word
}

/** Code that another change is about, as a whole: what it takes at all times, also while all processors are busy. */
export interface WholeFacts {
  entity: number;
  ns: number; // NPT, upper bound of what is saved if it becomes faster
  busyNs: number; // part of it while all processors are busy
}

/** All code that one thread runs alone. */
export interface AloneFacts {
  costNs: number;
  spreadNs: number; // saved if it were spread over all processors
}

/** Each request takes little more than the system calls that read and answer it. */
export interface SmallRequestsFacts {
  share: number; // share of the processor time in these calls
  atATime: number; // the assumed improvement: this many requests at a time
  savedNs: number; // then saved, at most: of the calls, and of the time in which nothing runs while it waits
}
