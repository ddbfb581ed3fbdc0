/** Parts that facts of several findings have. */
import type { LibraryLock } from '../profile/raw-profile.js';

/** Waits at a condition that began again immediately after a wake-up. */
export interface WaitsAgainFacts {
  condition: number;
  count: number | null; // at least; null: not known
  waits: number; // all waits there
  // if it is not known how many: the mean number of threads that have been woken there and have no CPU yet, and what
  // one of them works after a wake-up
  together: { mean: number; workNs: number } | null;
}

/** The procedure on whose behalf most of the memory is allocated, by the time that allocation takes. */
export interface AllocatingFacts {
  entity: number; // the innermost procedure that, with its callees, has at least half of the allocation time
  part: number; // share of the allocation time in it and its callees
  share: number; // share of the processor time that allocation takes
}

/** A lock that procedures of the C library take for state that all threads share. */
export interface LibraryLockFacts {
  of: LibraryLock;
  taker: number | null; // the procedure within which threads wait; null: not known
}

/** Threads that begin like the only one with work, and live at the same time. */
export interface Siblings {
  threads: number; // those that have hardly any work
  start: number; // the procedure in which all of them begin
}

/** What each of several threads does again: procedures that take about as long in each of them. */
export interface RepeatedWork {
  workNs: number; // elapsed time that a thread accounts for, on average,
  procedures: { entity: number; eachNs: number }[]; // and what of it these procedures take, the largest first
}

/** A caller of a procedure in which threads wait, and its share of these waits. */
export interface WaitCaller {
  entity: number;
  share: number;
}

/** Mean number of threads that waited at an object during the cost of the finding. */
export interface WaitingAt {
  entity: number;
  threads: number;
}
