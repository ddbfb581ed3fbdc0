/**
 * What a reader must know about a run besides the findings, as data, with one type for each form. render/notices makes
 * sentences of it; JSON contains it unchanged. Numbers named `...Ns` are nanoseconds, entities are indices into
 * Model.entities, shares are between 0 and 1.
 */
import type { Advice } from './finding-kinds.js';
import type { WaitingAt } from './facts.js';
import type { CutReason } from './unwinding.js';

/** Nothing was sampled. */
interface NoSnapshotNotice {
  form: 'no-snapshot';
}
/** There are so few snapshots that the error of shares is up to `margin`. */
export interface FewSnapshotsNotice {
  form: 'few-snapshots';
  snapshots: number;
  margin: number;
}
/**
 * The first two findings save about the same, as far as the samples show: which one comes first may differ from run to
 * run.
 */
export interface CloseFindingsNotice {
  form: 'close-findings';
  other: number; // index of the finding that is close to the first one
  firstNs: number; // the values that findings are ordered by
  secondNs: number;
  code: boolean; // one of the two is code to make faster, of which a part counts
}
/** Kernel threads of the program waited for CPUs (docs/reference/metrics.md, section 6). */
export interface CpuWaitNotice {
  form: 'cpu-wait';
  who: 'threads' | 'processors';
  waitNs: number;
  runNs: number;
  share: number; // waitNs / (waitNs + runNs)
  cause: 'others' | 'own'; // which of ownNs and othersNs is larger
  ownNs: number; // upper bound
  othersNs: number; // lower bound
  cpus: number; // number of CPUs that the program may use
}
/** More threads could run than there are CPUs, none of which only spins: that alone costs no elapsed time. */
export interface ManyThreadsNotice {
  form: 'many-threads';
  ns: number; // for so long
  runnable: number; // mean number of these threads
  cpus: number;
}
/**
 * The sleeps of a thread end at equal intervals although they are not equally long: it keeps a pace. Means, and
 * standard deviations.
 */
export interface PaceNotice {
  form: 'pace';
  thread: number;
  count: number; // number of intervals
  everyNs: number;
  everySdNs: number;
  lengthNs: number;
  lengthSdNs: number;
  setsTime: boolean; // the pace sets how long the run takes
}
/** Processes that the program started did part of its work. */
export interface ChildProcessesNotice {
  form: 'child-processes';
  childrenNs: number; // processor time
  ownNs: number;
  profiled: boolean; // each child process has a profile of its own
}
/** Neither the program nor what it waited for did much, but it started processes: one may go on as a daemon. */
export interface LeftProcessesNotice {
  form: 'left-processes';
  started: number;
  ownNs: number;
}
/** Other recorded processes of the launched program had CPUs during the recording. */
export interface RelatedProcessesNotice {
  form: 'related-processes';
  cpus: number; // mean number of CPUs that they used
  left: number; // processors that findings count as available to this process
  of: number; // CPUs that the program may use
}
/** A busy-wait loop that is not marked as one. */
export interface WaitingLoopNotice {
  form: 'waiting-loop';
  entity: number;
  ns: number; // thread time
  lock: boolean; // the loop acquires a lock: a mutex would block instead
}
/** Threads of OpenMP's or TBB's library spin in its loops, at the ends of regions, at barriers and locks. */
export interface WaitingTeamsNotice {
  form: 'waiting-teams';
  library: 'OpenMP' | 'TBB';
  entities: number[]; // the loops
  ns: number; // thread time in all these loops
  // fewer threads: more are runnable than there are CPUs, and a spinning one takes a CPU from one that has work; null
  // where a finding advises the opposite
  advice: Advice;
}
/** A lock that one procedure acquires and releases with hardly any work in between. */
export interface LockChurnNotice {
  form: 'lock-churn';
  lock: number;
  by: number;
  times: number;
  eachNs: number; // processor time per acquisition, including acquiring and releasing
  totalNs: number;
}
/** Threads that have been woken and wait at a condition again before releasing its lock. */
export interface WaitsAgainNotice {
  form: 'waits-again';
  condition: number;
  count: number; // lower bound
  waits: number;
}
/** Stack walks that were cut short, and callers that were found without unwind information. */
export interface CallPathsNotice {
  form: 'call-paths';
  walks: number;
  cut: number; // 0: too few to report
  worst: { module: string; cut: number; why: CutReason }; // the module and reason with most cut walks
  steps: number; // number of steps from a procedure to its caller by machine code or frame pointer
  valid: number; // number of these where the return address follows a call of the procedure; the others are likely
  refused: number; // number of further steps that were rejected
}
/** No procedure was seen. */
export interface NoProcedureNotice {
  form: 'no-procedure';
  hooks: boolean; // true: hooks would have shown procedures; false: samples
}
/** Nothing ran for a notable part of the time, and no finding explains it. */
export interface NothingRanNotice {
  form: 'nothing-ran';
  ns: number;
  asleep: boolean; // threads slept for at least half of this time
  waiting: WaitingAt[];
  calls: { name: string; threads: number }[]; // system calls in which threads slept, with the mean number of threads
}
/** No change would save enough for a finding. */
export interface NothingStandsOutNotice {
  form: 'nothing-stands-out';
  leastNs: number; // the least saving of a finding
  workShare: number; // share of the effort that is work
}

/** Processors were idle or spinning, and no finding explains it. */
export interface UnexplainedNotice {
  form: 'unexplained';
  ns: number; // elapsed time that this cost
}

/** A resource that the sampler or the program ran out of, or damaged data. */
export interface LossNotice {
  form: 'loss';
  what:
    | 'torn-copies'
    | 'invalid-records'
    | 'deep-calls'
    | 'calls'
    | 'threads'
    | 'shared-records'
    | 'names'
    | 'runnable-detail'
    | 'cut-stacks'
    | 'grouped-threads';
  count: number;
  of: number | null; // torn copies: total number of copies; deep calls: number of entries of a profile stack; else null
}
/** Snapshots that the sampler was too late to take. */
export interface SkippedNotice {
  form: 'skipped-snapshots';
  skipped: number;
  due: number;
}
/** The cost of hooks or events could not be measured. */
export interface UnmeasuredNotice {
  form: 'unmeasured';
  what: readonly ('hooks' | 'locks' | 'threads made')[];
}
/** A way of observing the program that this machine did not allow. */
export interface ForbiddenNotice {
  form: 'forbidden';
  what:
    | 'samples'
    | 'some-samples'
    | 'rare-samples'
    | 'samples-beside-hooks'
    | 'signal-samples'
    | 'memory'
    | 'calls'
    | 'memory-outside'
    | 'calls-outside';
}
/** The program publishes nothing, so it was watched from outside. */
export interface OutsideNotice {
  form: 'outside';
  holders: boolean; // holders of mutexes could be read from the program's memory
  attached: boolean; // false: the program was launched by Quartz, but the pthread layer cannot be loaded into it
}
/** Only the start routines of threads have hooks. */
interface NoHooksNotice {
  form: 'no-hooks';
}
/** Work in procedures without names, or without file and line. */
export interface UnnamedNotice {
  form: 'unnamed';
  share: number; // share of the work
  missing: 'names' | 'places';
  stripped: boolean;
  detail: string; // the reason, as in the entities
  module: string; // path of the file with most of it; '': not known
}

export type Notice =
  | NoSnapshotNotice
  | FewSnapshotsNotice
  | CloseFindingsNotice
  | CpuWaitNotice
  | ManyThreadsNotice
  | PaceNotice
  | ChildProcessesNotice
  | LeftProcessesNotice
  | RelatedProcessesNotice
  | WaitingLoopNotice
  | WaitingTeamsNotice
  | LockChurnNotice
  | WaitsAgainNotice
  | NoProcedureNotice
  | NothingRanNotice
  | NothingStandsOutNotice
  | UnexplainedNotice
  | LossNotice
  | SkippedNotice
  | UnmeasuredNotice
  | ForbiddenNotice
  | OutsideNotice
  | NoHooksNotice
  | UnnamedNotice
  | CallPathsNotice;
