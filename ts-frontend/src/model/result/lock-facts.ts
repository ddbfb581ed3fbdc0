/** What findings about locks that are taken or handed on very often are based on. */

/** Locks are acquired so often that this takes a large share of the processor time, although threads hardly wait. */
export interface LockChurnFacts {
  form: 'lock-churn';
  objects: number[]; // the locks, most acquisitions first
  // most of the cost is in a library's channels, and in switching and waking the threads that wait at them
  passing: boolean;
  /**
   * Only if `passing`: nearly all of the cost is one procedure's; whatever is at the other ends hardly uses the
   * channels.
   */
  oneSided: boolean;
  by: number | null; // the procedure with most acquisitions of the first lock
  /**
   * Number of acquisitions; how many of them found the lock taken; processor time to acquire and release one, excluding
   * what recording adds; the same for a lock that only one CPU uses, as measured on this machine. Null: not counted.
   */
  counts: { times: number; waits: number; eachNs: number; freeNs: number } | null;
  share: number; // share of the processor time
  leastNs: number; // saved if they were acquired `rarer` times less often
  mostNs: number;
  rarer: number;
}

/** How long a lock that is handed on all the time is held each time. */
export interface HeldFacts {
  ns: number; // processor time
  // not counted: what this procedure, the only one that takes it, does between two waits, perhaps not all with the lock
  taker: number | null;
}
