/**
 * What a reader must know of a run besides what limits it, as data: one type for each form. Sentences are made of them
 * in render/notices, and JSON shows them as they are. Numbers named by `...Ns` are nanoseconds, entities are indices
 * into Model.entities, shares are of 1.
 */
import type { WaitingAt } from './facts.js';
import type { CutReason } from './unwinding.js';

/** Nothing was sampled. */
export interface NoSnapshotNotice {
  form: 'no-snapshot';
}
/** So few snapshots that shares are known to no more than `margin`. */
export interface FewSnapshotsNotice {
  form: 'few-snapshots';
  snapshots: number;
  margin: number;
}
/** The first two findings save as much, as far as that is known: which one comes first may change from run to run. */
export interface CloseFindingsNotice {
  form: 'close-findings';
  firstNs: number; // what they are ordered by
  secondNs: number;
}
/** Kernel threads of the program waited for CPUs (docs/reference/metrics.md, section 6). */
export interface CpuWaitNotice {
  form: 'cpu-wait';
  who: 'threads' | 'processors';
  waitNs: number;
  runNs: number;
  share: number; // waitNs of both together
  cause: 'others' | 'own'; // which of the next two is more
  ownNs: number; // at most
  othersNs: number; // at least
  cpus: number; // that the program may use
}
/** Processes that the program started did part of its work. */
export interface ChildProcessesNotice {
  form: 'child-processes';
  childrenNs: number; // processor time
  ownNs: number;
  profiled: boolean; // each has a profile of its own
}
/** Other recorded processes of the launched program had CPUs during the recording. */
export interface RelatedProcessesNotice {
  form: 'related-processes';
  cpus: number; // that they had, on average
  left: number; // processors that findings count as this one's
  of: number; // CPUs that it may use
}
/** A loop that nobody marked only waits. */
export interface WaitingLoopNotice {
  form: 'waiting-loop';
  entity: number;
  ns: number; // thread time
  lock: boolean; // it takes a lock: a mutex would block in its place
}
/** Threads of OpenMP's library spin in its loops, at the ends of regions, at barriers and locks. */
export interface WaitingTeamsNotice {
  form: 'waiting-teams';
  entities: number[]; // the loops
  ns: number; // thread time in all of them
  oversubscribed: boolean; // more threads can run than there are CPUs: who spins has the CPU of one that works
}
/** A lock that one procedure takes and releases with hardly anything in between. */
export interface LockChurnNotice {
  form: 'lock-churn';
  lock: number;
  by: number;
  times: number;
  eachNs: number; // processor time, locking included
  totalNs: number;
}
/** Threads that wait at a condition again before they let its lock go. */
export interface WaitsAgainNotice {
  form: 'waits-again';
  condition: number;
  count: number; // at least so many of them
  waits: number;
}
/** Walks of stacks that were cut short, and callers found without unwind information. */
export interface CallPathsNotice {
  form: 'call-paths';
  walks: number;
  cut: number; // 0: not worth telling
  worst: { module: string; cut: number; why: CutReason }; // where most were cut
  steps: number; // from a procedure to its caller, by machine code or frame pointer
  valid: number; // of these; the others are likely
  refused: number; // beside these
}
/** No procedure at all was seen. */
export interface NoProcedureNotice {
  form: 'no-procedure';
  hooks: boolean; // hooks would have shown them; false: samples
}
/** Nothing ran for a notable part of the time, and no finding says why. */
export interface NothingRanNotice {
  form: 'nothing-ran';
  ns: number;
  asleep: boolean; // threads slept for half of it or more
  waiting: WaitingAt[];
  calls: { name: string; threads: number }[]; // calls of the system in which threads slept, with their mean number
}
/** Nothing is worth a finding. */
export interface NothingStandsOutNotice {
  form: 'nothing-stands-out';
  leastNs: number; // that a finding must save
  workShare: number; // of the effort
}

/** Processors were idle, or spun, and no finding says why. */
export interface UnexplainedNotice {
  form: 'unexplained';
  ns: number; // elapsed time that this cost
}

/** Something of which the sampler or the program ran out, or that was damaged. */
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
  of: number | null; // torn copies: of so many; deep calls: the entries of a profile stack
}
/** Snapshots that the sampler came too late for. */
export interface SkippedNotice {
  form: 'skipped-snapshots';
  skipped: number;
  due: number;
}
/** What hooks or events cost could not be measured. */
export interface UnmeasuredNotice {
  form: 'unmeasured';
  what: readonly ('hooks' | 'locks' | 'threads made')[];
}
/** A means of seeing the program that this machine did not allow. */
export interface ForbiddenNotice {
  form: 'forbidden';
  what:
    | 'samples'
    | 'some-samples'
    | 'rare-samples'
    | 'samples-beside-hooks'
    | 'memory'
    | 'calls'
    | 'memory-outside'
    | 'calls-outside';
}
/** The program publishes nothing: it was watched from outside. */
export interface OutsideNotice {
  form: 'outside';
  holders: boolean; // who holds a mutex could be read from the program's memory
  attached: boolean; // false: it was launched, and the layer does not fit into it
}
/** No procedure but the start routines of threads has hooks. */
export interface NoHooksNotice {
  form: 'no-hooks';
}
/** Work in procedures without names, or without file and line. */
export interface UnnamedNotice {
  form: 'unnamed';
  share: number; // of the work
  missing: 'names' | 'places';
  stripped: boolean;
  detail: string; // why, as the entities have it
}

export type Notice =
  | NoSnapshotNotice
  | FewSnapshotsNotice
  | CloseFindingsNotice
  | CpuWaitNotice
  | ChildProcessesNotice
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
