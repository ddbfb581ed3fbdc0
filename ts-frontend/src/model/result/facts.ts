/**
 * The evidence of each finding as data, with one type for each form of evidence. render/findings makes sentences of it;
 * JSON contains it unchanged. Numbers named `...Ns` are nanoseconds, entities are indices into Model.entities. A saving
 * in these types is that of the change alone; Finding.savingNs is what a longer thread leaves of it.
 */
import type {
  AllocatingFacts,
  LibraryLockFacts,
  RepeatedWork,
  Siblings,
  WaitingAt,
  WaitsAgainFacts,
} from './fact-parts.js';
import type { IoFacts } from './io-facts.js';
import type { HeldFacts, LockChurnFacts, LockFacts } from './lock-facts.js';
import type { AllocationFacts, AloneFacts, OptimizeFacts, WholeFacts } from './work-facts.js';

export type * from './fact-parts.js';
export type * from './io-facts.js';
export type * from './lock-facts.js';
export type * from './work-facts.js';

/** Code runs alone while processors are idle. */
export interface SerialFacts {
  form: 'serial';
  // the only thread with work, if the others only pass work on; null: several threads have work
  worker: { thread: number; share: number } | null;
  oneAtATime: number | null; // number of threads that ran the code, one at a time
  // the thread with most of it, if these threads live at the same time; null: it is divided, or main is one of them
  most: { thread: number; share: number } | null;
  // number of these threads, if each one, apart from main, started after the previous one had ended
  succession: number | null;
  again: RepeatedWork | null; // what each of these threads does again, if they are three or more; null: nothing notable
  // threads that begin in the same procedure as the one that runs it, and have hardly any work; null: there are none
  siblings: Siblings | null;
  callers: number[]; // path on which most of the time is lost, outermost first, at most three procedures
  itself: boolean; // the cost is that of the code alone, without the procedures that it calls
  waiting: WaitingAt | null;
  loop: string | null; // file and line of the innermost loop of its own code that has most of the cost
  parts: number[]; // run-time library procedures that it calls, if most of the cost is in them
  spreadNs: number; // saved if the code were spread over all processors
  smaller: { entity: number; costNs: number }[]; // further serial code that is too small for findings of its own
  allNs: number; // what it takes at all times: saved if it took no time
  inAll: AloneFacts | null; // all serial code of this thread, if that is notably more; null: another finding has it
  // if it is all that a thread runs alone, in several procedures: those with most of it, by cost; else none
  pieces: { entity: number; costNs: number }[];
  only: boolean; // that thread is the program's only one
  // part of the cost in which a run-time's threads, which nobody waits for, kept the other processors busy
  backgroundNs: number;
  // OpenMP's threads wait while it runs, and one thread would do all of the work in this time less; null: it would not
  teamNs: number | null;
}

/** Code that too few threads run. */
export interface TooFewThreadsFacts {
  form: 'too-few-threads';
  threads: number; // number of threads that ran it
  atOnce: number; // maximum number of these alive at the same time
  many: boolean; // more than two threads per processor, so that their number means nothing
  waiting: WaitingAt | null;
  parts: number[];
  spreadNs: number; // saved if the code were spread over all processors
  // if the work were divided evenly among the existing threads; null if that saves much less
  even: { threads: number; savesNs: number } | null;
  // threads of Go's run-time library rest meanwhile: goroutines mostly wait at channels, or it is not known whether for
  // a lock; null: not so
  goroutines: 'channels' | 'unknown' | null;
  faster: WholeFacts | null; // as of UnevenFacts
}

/** Code whose work is divided unevenly among threads. */
export interface UnevenFacts {
  form: 'uneven-division';
  code: number;
  barrier: number | null; // where the other threads wait for the last one
  slowest: { thread: number; workNs: number; meanNs: number } | null;
  last: number | null; // the only thread that still had work
  threads: number;
  atOnce: number;
  callers: number[]; // callers, if other procedures have the same name
  waiting: WaitingAt | null;
  parts: number[];
  many: boolean; // very many threads: the pieces of work have to change, rather than their division
  among: number; // number of threads that could share the work
  evenNs: number; // saved if the work were divided evenly among these threads,
  evenMostNs: number; // also if it was not other programs that made some of them late
  openmp: boolean; // the work is divided by OpenMP: a loop has a schedule, which can be changed
  pool: boolean; // the other threads wait for further pieces of work, as those of a pool do
  spreadNs: number | null; // saved if the work were spread over all processors; null if that is much less
  faster: WholeFacts | null; // the procedure with most of it, if that may save more by becoming faster
}

/** Threads with too little work to be worth moving to another processor. */
export interface SmallThreadsFacts {
  form: 'small-threads';
  spawns: number;
  workNs: number;
  ready: number;
  savesNs: number;
}

/** A pipeline in which one stage is slower than the others. */
export interface SlowestStageFacts {
  form: 'slowest-stage';
  code: number;
  stage: { thread: number; workNs: number };
  next: { thread: number; workNs: number };
  objects: number[]; // objects at which the other stages wait
  savesNs: number; // if its work is divided
  fasterNs: number; // if it needs no time at all: the most that making it faster saves
}
/** Threads that pass data to each other, and wait for each other. */
export interface PassedDataFacts {
  form: 'passed-data';
  objects: number[];
  code: number;
  // the work is handed out piece by piece: a thread waits for results, at an object, while `idle` threads on average
  // that could do more of it wait for it
  awaited: { thread: number; object: number; idle: number } | null;
  savesNs: number;
}
/** Threads that wait for each other. */
export interface MutualWaitFacts {
  form: 'mutual-wait';
  objects: number[];
  // threads of two roles, of which one at a time works, and for how long they do so on the time path; []: of one role
  sides: { thread: number; worksNs: number }[];
  code: number; // what mostly runs meanwhile, 0 if that is not said
  savesNs: number;
}
/** All threads wait, and no thread is at work that could wake them. */
export interface NothingRunsFacts {
  form: 'nothing-runs';
  waiting: WaitingAt[];
  waits: { entity: number; count: number; meanNs: number }[];
}

/** Threads spin at an object that is not a lock, although other threads are ready to run. */
export interface SpinningFacts {
  form: 'spinning';
  savesNs: number;
}

/** Threads wait for other processes in MPI calls while nothing else in this process runs. */
export interface ProcessesFacts {
  form: 'processes';
  calls: { entity: number; ns: number }[]; // elapsed time waited in each call, longest first
  further: number; // number of further calls that are not listed
  startNs: number; // part of the cost: until all processes had started, or ended
  messageNs: number; // part of the cost: waiting for one other process
  collectiveNs: number; // part of the cost: waiting for several processes
  savesNs: number; // saved if the other processes arrived at the same time as this one
}

/** The thread package's own work: creating, scheduling and switching threads. */
export interface PackageWorkFacts {
  form: 'package-work';
  events: { what: 'threads' | 'switches'; count: number; workNs: number } | null; // workNs: work per event
  savesNs: number;
  coarser: number;
}
/** Kernel threads are woken so often that there is little work per wait. */
export interface WakeUpFacts {
  form: 'wake-ups';
  waits: number;
  workNs: number; // processor time per wait
  objects: number[];
  again: WaitsAgainFacts | null;
  wakingNs: number; // part of the cost: threads that have been woken, and calls that wait and wake
  leastNs: number; // saved if waking were `coarser` times rarer, or if one thread did all the work
  mostNs: number; // saved if no thread had to wait
  coarser: number;
}
/** Threads hand locks to each other all the time. */
export interface HandOverFacts {
  form: 'hand-overs';
  objects: number[]; // the locks, longest wait first
  takenIn: number[]; // procedures that wait for the first lock, if it is known only by the place that created it
  allocator: boolean; // the first one is a lock of the memory allocator
  library: LibraryLockFacts | null; // the first one is another lock of the C library's own
  // number of waits for locks, and processor time per wait; null: not counted
  waits: { count: number; workNs: number } | null;
  again: WaitsAgainFacts | null; // the first one is a condition at which woken threads wait again at once
  handingShare: number; // share of the processor time in calls that wait and wake, and in the code of locks
  leastNs: number; // saved if every acquisition found its lock free
  mostNs: number;
  aloneNs: number | null; // saved if one thread did all the work; null if that saves nothing
  shortenedBy: number | null; // as of a lock
  held: HeldFacts | null; // null: not long, or not known
}
/** Goroutines wait for a lock, so that threads of Go's run-time library rest; the entity takes the lock. */
export interface GoroutineLockFacts {
  form: 'goroutine-lock';
  code: number; // the code that ran meanwhile
  parts: number[]; // if that is several procedures: these
  waiting: WaitingAt | null; // where the threads rest
  handingNs: number | null; // part of the cost: processor time of switching and waking, and of the lock's own code
}
/** Kernel threads with hardly any work. */
export interface ShortThreadsFacts {
  form: 'short-threads';
  spawns: number;
  workNs: number;
  leastNs: number;
  savesNs: number;
  mostNs: number; // if few threads on all processors did their work
  coarser: number;
  kernelNs: number | null; // part of the cost: the kernel's work for them, at most; null: not known, or small
  // part of the cost: locks that a run-time takes whenever a thread begins or ends
  locks: { entity: number; costNs: number }[];
  // upper bound of the time that one thread would take for all the work; null: that would save no more
  inlineNs: number | null;
}
/** The cost of OpenMP's or TBB's library itself. */
export interface OpenMpFacts {
  form: 'openmp';
  library: 'OpenMP' | 'TBB';
  calls: number[];
  use: 'pieces' | 'exclusion' | 'order'; // exclusion: locks and critical sections; order: turns in ordered regions
  waitsNs: number; // part of the cost: waiting for the library's critical sections and locks
  savesNs: number; // lower bound
  mostNs: number; // upper bound: the program's own work spread over all processors
  coarser: number;
}

/** Threads may not use CPUs that the machine has. */
export type CpuLimitFacts =
  | { form: 'confined'; cpus: number; confinedNs: number } // threads, by their affinity, to so many CPUs for so long
  | { form: 'throttled'; quota: number; periods: number; throttledPeriods: number; throttledNs: number };

/** More threads are runnable than there are CPUs. */
export interface OversubscriptionFacts {
  form: 'oversubscription';
  oversubscribedNs: number; // elapsed time with more runnable threads than CPUs
  runnable: number; // mean number of runnable threads during that time
  harmful: boolean; // false: by itself, this costs no elapsed time
  // number of waits of threads for each other, if there are so many that hand-overs (caches, switches) may be a notable
  // part of the cost
  handOvers: number | null;
  spinners: { threads: number; object: number } | null;
  // mean number of runnable threads that have been woken and wait for a CPU; null if they are few
  woken: { threads: number; object: number } | null;
  cpuWait: { waitNs: number; ownNs: number } | null; // as counted by the kernel
  // saved by no more threads than CPUs: lower bound, and upper bound if it is notably higher
  fewer: { savesNs: number; mostNs: number | null };
  blocking: number | null; // saved if waiters blocked at once; null if that is not notably less
  // procedures that pass data between threads (a channel's send and receive), if most of the spinning is within them;
  // null: it is not
  passing: number[] | null;
}

/** The kernel's work on behalf of the program. */
export interface KernelWorkFacts {
  form: 'kernel-work';
  // flush: to a device (fsync); yields: of a CPU (sched_yield), between pieces of work
  work: 'memory' | 'read' | 'write' | 'flush' | 'yields' | 'calls';
  called: number | null; // the run-time library procedure through which most of the work is requested
  faults: number | null; // number of page faults
  again: number | null; // lower bound of the share of page faults for memory that the program had used before
  allocator: boolean; // the allocator returns the memory to the kernel
  mapping: number; // part of the cost in calls that map and unmap memory
  takes: boolean; // the finding's entity allocates and releases the memory; else most of the work is on its behalf
  calls: { count: number; bytesEach: number } | null; // calls of the whole program
  // calls of the other kind (reads or writes), if they are part of the cost
  both: { count: number; bytesEach: number } | null;
  replies: boolean; // about as many reads as writes, by connections: each answers a request that another one waits for
  // reads and writes by which threads wake each other (of an eventfd or a pipe), waiting for them included: how often
  // threads went to sleep; else null
  wakes: number | null;
  through: boolean; // flushes: writes are flushes as well, for the file is opened with O_SYNC or O_DSYNC
  // the entity's calls that copy memory (memcpy), page faults included, if most of the faults are there; else null
  copyingNs: number | null;
  // copies: saved at most if the allocator kept the memory instead of giving it back; else null
  keptNs: number | null;
  // flushes: the lock that others wait for meanwhile, and what the kernel itself works, if that is less than the cost
  held: { lock: number; kernelNs: number } | null;
  leastNs: number; // lower bound
  savesNs: number; // upper bound
}

/** A run-time's garbage collection. */
export interface CollectionFacts {
  form: 'collection';
  share: number; // share of the processor time
  fewer: number; // the assumed improvement: this many times fewer collections
  savesNs: number; // lower bound
  mostNs: number; // upper bound: no thread has to wait for a collection, either
  allocating: AllocatingFacts | null; // null: not observed, or spread over many procedures
}

/** The cost of starting and ending processes. */
export interface ProcessStartFacts {
  form: 'process-starts';
  called: number | null; // the library procedure through which most of the cost arises
  started: number | null; // number of processes; null: not known
  eachNs: number | null; // processor time per process, including its start and end
  ownNs: number; // part of the cost: processor time of this process (NPT)
  faultNs: number; // part of the cost: page faults on memory that fork has shared with the children (NPT)
  waitedNs: number; // part of the cost: waits for processes that do little but start and end
  copies: boolean; // most of ownNs is copying this process (fork)
  residentBytes: number; // maximum resident memory; 0: not known
  fewer: number; // the assumed improvement: this many times fewer processes
  leastNs: number; // saved by so many fewer, lower bound
  savesNs: number; // upper bound
  oneNs: number | null; // saved if one process did the work of all; null: they have work of their own
}

/** A run-time compiles code while the program runs. */
export interface CompilationFacts {
  form: 'compilation';
  share: number; // share of the processor time
  savesNs: number; // saved if no compilation were needed
}

/** Data is converted to bytes and back, for other processes or threads. */
export interface SerializationFacts {
  form: 'serialization';
  between: 'processes' | 'threads'; // threads: threads with separate heaps
  share: number; // share of the processor time
  caller: number | null; // the program's procedure that calls it
  savesNs: number; // saved if no serialization were needed
}

/** Threads wait for each other in loops of sched_yield. */
export interface YieldFacts {
  form: 'yields';
  share: number; // share of the processor time in the call
  workShare: number; // share of the processor time that is neither in the call nor other waiting on a CPU
  threads: number; // number of threads that yield
  aloneNs: number; // saved if one thread did all the work, without hand-overs
}

/** Threads wait for each other in loops that read memory, so often that one thread would do all the work sooner. */
export interface SpinTurnFacts {
  form: 'spin-turns';
  objects: number[]; // the loops, longest wait first
  threads: number; // number of threads that both wait there and work
  waitingNs: number; // processor time in these loops
  workNs: number; // processor time of all other work, and time at rest
  aloneNs: number; // saved if one thread did all the work, which takes as long as now
}

/** Threads on different CPUs write one cache line alternately, so that it moves from CPU to CPU each time. */
export interface SharingFacts {
  form: 'sharing';
  /**
   * Different words of the line (false sharing); the same word, by an atomic operation; the same, by compare-and-swap.
   */
  how: 'words-apart' | 'changed' | 'exchanged';
  variable: string; // the static variable that contains the line with most samples; '': none
  lines: number;
  threads: number;
  share: number; // share of the code's samples at accesses to such lines
  savesNs: number; // saved if these accesses took no time
  mostNs: number; // saved if the instructions after them wait for the line, too
  // a lock that this code takes, and another finding (index) is about; its word may be that word. null: none
  lock: { finding: number; bothNs: number } | null; // saved at most if it is taken less often
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
  | GoroutineLockFacts
  | ShortThreadsFacts
  | OpenMpFacts
  | CpuLimitFacts
  | OversubscriptionFacts
  | KernelWorkFacts
  | YieldFacts
  | SpinTurnFacts
  | CollectionFacts
  | ProcessStartFacts
  | CompilationFacts
  | SerializationFacts
  | SharingFacts
  | AllocationFacts
  | OptimizeFacts;
