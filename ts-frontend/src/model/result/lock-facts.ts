/** What findings about locks are based on. */
import type { LibraryLockFacts } from './fact-parts.js';

export interface LongestFacts {
  procedure: number;
  times: number; // acquisitions
  eachNs: number; // processor time for which it holds the lock each time
  othersEachNs: number; // the same of all others
}
/** The main thread waits for the lock, while threads that live as long as it does keep the processors busy. */
export interface KeptWaitingFacts {
  thread: number;
  procedure: number; // in which it waits
  readWrite: boolean; // it is a read-write lock
  waitNs: number;
  mostNs: number; // saved if it did not have to wait, and what the others do is not needed: an upper bound
}
/** A lock that threads wait for. */
export interface LockFacts {
  form: 'lock';
  spins: boolean; // most of the waiters spin
  // for an object that is not a lock, but is used as one: the number of threads with the same role that continue one at
  // a time
  exclusion: { threads: number } | null;
  also: number[]; // further objects that are the same lock: the same threads wait there for their turn
  waitedFor: number; // the lock at which most of the waiting occurs; the finding's entity is the cause of the waiting
  others: number[]; // further locks at which threads wait because of the cause
  waiters: number; // mean number of waiting threads
  woken: number | null; // mean number of waiters that had just been woken; null if they are few
  counted: boolean; // false: acquisitions are not known; their number is 0
  waitsCounted: boolean; // false: observed from outside only; the next three are 0
  acquisitions: number;
  contended: number;
  waitMeanNs: number;
  takenIn: number[]; // procedures that wait for it, if the lock is known only by the place that created it
  allocator: boolean; // the cause is a lock of the memory allocator
  library: LibraryLockFacts | null; // the cause is another lock of the C library's own
  holder: number | null; // the procedure that mostly held it while others waited
  holderCalls: number | null; // the library's procedure that the holder called for most of that time
  writer: number | null; // of a read-write lock: the procedure that waits for it while others hold it there
  keptWaiting: KeptWaitingFacts | null;
  heldEachNs: number | null; // processor time for which it is held each time; null: not counted
  longest: LongestFacts | null; // of several procedures that take it: one that holds it for far longer each time
  // if holders are not known: the one procedure that takes it, whose other time stands for that of holders
  taker: number | null;
  // share of the holding time in input, output or sleep, and the call; null if there is none
  inIo: { share: number; call: number | null } | null;
  mostlyInIo: boolean; // at least half of the holding time is in input, output or sleep
  unserved: number | null; // share of the holding time for which the holder waited for a CPU; null if it is small
  readyInstead: boolean; // other threads were ready to run, and would get the processors if the waiters blocked
  shortenedBy: number | null; // the finding about the kernel's work that takes much of the time for which it is held
  savesNs: number;
}

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
