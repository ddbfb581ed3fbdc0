/**
 * What the model computes from a profile: the types that reports, CSV, JSON and live screens render. Every number is
 * defined in docs/reference/metrics.md; docs/reference/model.md explains how it is computed. Times are nanoseconds.
 */
import type { Effort } from './effort.js';
import type { Experiment, Verification } from './experiment.js';
import type { Advice, Change, FindingKind } from './finding-kinds.js';
import type { Facts } from './facts.js';
import type { Notice } from './notices.js';
import type { Compensation, CpuLimits, CpuWait, FewerSnapshots, KernelUsage, Slowdown } from './run.js';
import type {
  EntityKind,
  LibraryLock,
  LibraryWait,
  Missing,
  NamingStyle,
  Origin,
  RawHead,
  RawProfile,
} from '../profile/raw-profile.js';
import type { Bucket, TimeBucket } from '../profile/buckets.js';

/** Kinds of entities in reports. `lock` stands for mutex, rwlock and spinlock; Entity.rawKind says which. */
export type Kind =
  | 'procedure'
  | 'thread'
  | 'lock'
  | 'barrier'
  | 'condition'
  | 'semaphore'
  | 'channel'
  | 'join'
  | 'sleep'
  | 'once'
  | 'futex'
  | 'loop'
  | 'code-loop'
  | 'code-line';

export type StateName = 'useful' | 'overhead' | 'spinning' | 'ready' | 'blocked' | 'io';
export const stateNames: readonly StateName[] = ['useful', 'overhead', 'spinning', 'ready', 'blocked', 'io'];

export type { Bucket, Compensation, CpuLimits, CpuWait, FewerSnapshots, KernelUsage, Slowdown, TimeBucket };

/** E_x: time that threads spent in state x, and how many threads were runnable during that time. */
export interface StateTime {
  ns: number;
  meanRunnable: number; // 0 if ns is 0
  runnable: Bucket[]; // only buckets with time
}

export interface CallCount {
  entity: number;
  count: number;
} // entity 0: an unknown caller
export interface Interval {
  lowNs: number;
  highNs: number;
}

/** Time on one path: entities from the root to the innermost. */
export interface PathTime {
  path: number[];
  thread: number;
  ns: number;
}

export interface ObjectStats {
  capacity: number;
  instances: number;
  // false: acquisitions are not known: observed from outside, or a futex, of which free uses make no call
  counted: boolean;
  waitsCounted: boolean; // false: observed from outside; waitNs is sampled, contended is a lower bound
  acquisitions: number;
  contended: number;
  waitNs: number; // exact, summed over waiters
  waitMeanNs: number; // mean over contended acquisitions
  waitMaxNs: number;
  spinNs: number; // part of waitNs
  waitDistribution: TimeBucket[];
  holdNs: number;
  holdMeanNs: number; // mean over acquisitions
  holdMaxNs: number; // 0 if holding was sampled
  holdExact: boolean; // false: sampled
  holdDistribution: TimeBucket[]; // empty if holding was sampled
  queueLengthMean: number;
  queueLength: Bucket[]; // time-weighted
  queueObservedNs: number;
  waiters: PathTime[]; // longest time first
  // paths that held it while others waited; ns = waiters * time. For a join: the thread waited for. Empty for other
  // kinds
  holders: PathTime[];
  // paths that ran while others waited and b < P (late at a barrier, or yet to send or signal); ns = waiters * time
  waitOverlap: PathTime[];
  criticalByBusyNs: Float64Array; // processor time of its critical sections by b; index 0 is b = 1
}

export interface ThreadStats {
  serial: number;
  creator: number; // entity, 0 = none
  firstNs: number; // since the first snapshot
  lastNs: number;
}

/** One of these threads at a time continues (`excludes`), or a few (`admits`). */
export interface Exclusion {
  threads: number;
}

export interface Entity {
  id: number; // index into Model.entities
  kind: Kind;
  rawKind: EntityKind;
  name: string; // never empty
  file: string; // '' = unknown
  line: number; // 0 = unknown
  address: number;
  module: string; // path, '' = unknown
  detail: string; // why name or file is missing, '' = nothing missing
  missing: Missing; // which of these is missing
  // origin of a procedure's code; for an object, of the place that created it, or of the library that waits there
  origin: Origin;
  purposes: number; // purposes that its name indicates: bits of Purpose
  runsFor: number; // for a procedure without a name: the exported procedure of its library that it runs for, 0 = none
  libraryWait: LibraryWait; // what a library's futex or loop is for, by the functions called there
  style: NamingStyle; // whose way of naming a procedure, or of making a thread, this is
  libraryLock: LibraryLock; // what the C library's procedure of that name takes a lock of its own for
  excludes: Exclusion | null; // for a condition, semaphore or futex that is used as a lock; else null
  admits: Exclusion | null; // for one that limits how many threads wait for something slow at a time; else null
  saysItsKind: boolean; // whether the name contains the kind: "mutex at file:line", "GOMP_barrier at file:line"
  instances: number; // number of objects or threads that share this entity
  members: number[]; // for a group of entities with the same name, else empty
  group: number; // the group that it belongs to; 0 = none
  inlinedInto: number[]; // procedures that it is inlined into; empty: it has code of its own, or is no procedure

  nptNs: number;
  nptSelfNs: number;
  share: number; // nptNs / elapsed time
  processorTimeNs: number;
  processorTimeSelfNs: number;
  byBusyNs: Float64Array; // NPT_i = T_i / i, index 0 is i = 1, length P
  byBusySelfNs: Float64Array;
  parallelism: number; // T / NPT; 0 where NPT is 0
  idlenessNs: number;
  spinBlameNs: number;
  overheadNs: number; // inclusive processor time in state overhead
  systemNs: number | null; // inclusive processor time in the kernel; null: not known
  optimizeNs: number; // = nptNs
  parallelizeNs: number;
  parallelizeSelfNs: number;
  states: Record<StateName, StateTime>;
  calls: number;
  callsCounted: boolean; // false: observed without hooks, so the number of calls is not known
  callers: CallCount[]; // most calls first
  callees: CallCount[];
  ci95: Interval; // of nptNs
  object: ObjectStats | null;
  thread: ThreadStats | null;
}

/** Figure 1 of the paper for one entity. Shares are of the focused entity's NPT; the rows' NPTs sum to it. */
export interface Focus {
  entity: number;
  name: string;
  nptNs: number;
  share: number; // of elapsed time
  byBusyNs: Float64Array;
  rows: FocusRow[]; // most NPT first, self among them
  threads: { entity: number; nptNs: number; share: number; processorTimeNs: number }[]; // threads that ran it
  // time that the children's threads did not work
  waits: { entity: number; blockedNs: number; spinningNs: number; readyNs: number; ioNs: number }[];
}
export interface FocusRow {
  entity: number; // in the row `self`, the focused entity itself
  self: boolean;
  name: string;
  kind: Kind;
  nptNs: number;
  share: number;
  processorTimeNs: number;
  byBusyNs: Float64Array;
  callsCounted: boolean;
  calls: number; // from the focused entity to this one; in the row `self`, calls of the focused entity
}

/** One thing that limits the program; the formulas are in docs/reference/findings.md. */
export interface Finding {
  entity: number; // index into Model.entities
  name: string;
  kind: FindingKind;
  change: Change;
  advice: Advice;
  facts: Facts; // the evidence; render/findings makes sentences of it
  costNs: number; // elapsed time
  costCi95: Interval; // 95 % interval of costNs
  savingNs: number; // elapsed time that the change could save, at most costNs
  savingCi95: Interval;
  processorUse: { busy: number; spinning: number; idle: number }; // mean processors during costNs
  bound: Bound | null;
  whatIf?: FreeBound; // set if the recording computed what would be if it took no time
  related: number[]; // further entities that the finding is about, or that its facts name
  alternatives: Alternative[];
  othersMayCause: boolean; // other programs on the CPUs may be the cause
  verifications?: Verification[]; // if an experiment tried its change: one for each way in which it was made
}
/**
 * Work and span of the run if the subject of a finding took no time; thus an upper bound of what any change there
 * saves.
 */
interface FreeBound {
  spanNs: number;
  workNs: number;
  mostNs: number;
  tighter: boolean; // mostNs is less than the finding would promise otherwise
}
/** Another change that would save nearly as much as the finding's own, or more. */
interface Alternative {
  kind: FindingKind;
  change: Change;
  savingNs: number;
}
/**
 * A thread that the program waits for and that works outside the finding's subject: no change there saves more than the
 * remaining time.
 */
interface Bound {
  thread: number;
  outsideNs: number;
  mostNs: number;
}
export interface TimelineStretch {
  startNs: number;
  ns: number;
  usefulNs: number;
  overheadNs: number;
  spinningNs: number;
  idleNs: number;
  meanRunnable: number;
  snapshots: number;
  top: number; // entity, 0 = none
}

/** Where the processors' time went: the four sum to processors * elapsedNs (raw, not compensated). */
export interface Balance {
  usefulNs: number;
  overheadNs: number;
  spinningNs: number;
  idleNs: number;
  nothingRanNs: number; // elapsed time with b = 0
  byBusyNs: Float64Array; // elapsed time by b, index 0 is b = 0, length P + 1
  bySpinningNs: Float64Array; // elapsed time by s, index 0 is s = 0
  meanRunnable: number;
  runnable: Bucket[];
  meanBusy: number;
}

export interface Model {
  head: RawHead;
  program: string;
  processors: number;
  usable: number; // processors without those that other recorded processes of the program used all the time
  relatedCpus: number; // mean number of CPUs that those processes used
  elapsedNs: number;
  samples: number; // number of snapshots
  rateHz: number; // achieved rate
  fewer: FewerSnapshots | null; // null: the rate was as requested
  root: Entity; // the whole program, id 0, kind 'procedure', named as the program
  // index = id; [0] is root; groups of entities with the same name come after the entities of the profile
  entities: Entity[];
  ranking: number[]; // ids by NPT, largest first; groups stand for their members
  balance: Balance;
  timeline: TimelineStretch[];
  effortNs: number; // work + idleness + spinblame
  /** undefined: nothing ran. */
  effort: Effort | undefined;
  idlenessPercent: number;
  overheadPercent: number;
  spinPercent: number;
  compensation: Compensation;
  readonly slowdown: Slowdown;
  cpuWait: CpuWait;
  cpuLimits: CpuLimits | null; // null: not known
  kernelUsage: KernelUsage | undefined; // undefined: the kernel did not provide these numbers
  findings: Finding[]; // at most three, largest saving first
  readonly notices: Notice[]; // too few samples, nothing to report, losses: what a reader must know
  raw: RawProfile;
  experiment?: Experiment; // set if this is one of several runs (docs/guide/measuring.md)
}

export interface ModelOptions {
  compensate?: boolean; // subtract the cost of hooks (default true)
}
