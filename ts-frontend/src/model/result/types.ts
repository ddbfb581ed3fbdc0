/**
 * What the model computes from a profile: the types that reports, CSV, JSON and live screens render. Every number is
 * defined in docs/reference/metrics.md; docs/reference/model.md explains how it is computed. Times are nanoseconds.
 */
import type { Effort } from './effort.js';
import type { Experiment, Verification } from './experiment.js';
import type { Advice, Change, FindingKind } from './finding-kinds.js';
import type { Facts } from './facts.js';
import type { Notice } from './notices.js';
import type {
  EntityKind,
  LibraryLock,
  LibraryWait,
  Missing,
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

export type { Bucket, TimeBucket };

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

/**
 * How long the program's kernel threads had CPUs, or were runnable and waited for one (docs/reference/metrics.md,
 * section 6). All 0: not known.
 */
export interface CpuWait {
  runNs: number;
  waitNs: number;
  ownNs: number; // upper bound: part of waitNs because the program had more runnable threads than CPUs
  limitNs: number; // part of waitNs because of the limit of a control group (docs/reference/metrics.md, section 6)
  othersNs: number; // lower bound: part of waitNs because other programs had the CPUs
  lateNs: number; // part of othersNs while other threads of the program executed, so that it may have come late
  share: number; // waitNs / (runNs + waitNs)
}

/**
 * What keeps threads from CPUs that the machine has, apart from other programs (docs/reference/metrics.md, section 6,
 * "Limits of CPUs").
 */
export interface CpuLimits {
  online: number; // CPUs of the machine
  allowed: number; // CPUs that the process could use when recording began
  quota: number | null; // the least limit of its control groups, in CPUs; null: there is none, or it is not known
  // of that control group: its periods, those in which the limit was reached, and how long CPUs then stood still,
  // summed over CPUs
  periods: number;
  throttledPeriods: number;
  throttledNs: number;
  // While the runnable threads could use fewer CPUs than there are for them: the fewest CPUs that they could use, how
  // long that was, what would be saved if they could use all, and how long threads waited; null: never
  confined: { cpus: number; ns: number; savingNs: number; waitNs: number } | null;
}

/** What the kernel counted of the whole program, ended threads included (docs/reference/metrics.md, section 6). */
export interface KernelUsage {
  ns: number; // time covered
  userNs: number;
  systemNs: number;
  cpusUsed: number; // mean number of CPUs used: (userNs + systemNs) / ns
  cpus: number; // number of CPUs that the program may use
  switches: { voluntary: number; involuntary: number } | null; // null: not known (yet)
  faults: { minor: number; major: number };
  residentBytes: number; // maximum resident memory; 0: not known
  // calls that read and write files, pipes and sockets; null: not known
  calls: { reads: number; writes: number; readBytes: number; writtenBytes: number } | null;
  // counted contended operations, and a lower bound of how many of them returned without giving up the CPU
  waits: { count: number; atOnce: number } | null;
  threads: number; // number of threads seen
  threadsAtOnce: number; // maximum number of threads alive at the same time
}

export interface Compensation {
  applied: boolean;
  processorTimeNs: number; // subtracted from T(root)
  elapsedNs: number; // subtracted from NPT(root)
  clampedNs: number; // cost that was not subtracted because its procedure shows less time than that
  calls: number;
}

/** Estimate of what recording added to the elapsed time, by cause: upper and lower bounds. */
export interface Slowdown {
  hooksNs: number; // hooks of procedures, upper bound
  hooksLeastNs: number;
  locksNs: number; // acquisitions of locks and semaphores, upper bound
  locksLeastNs: number;
  waitsNs: number; // upper bound
  waitsLeastNs: number;
  regionsNs: number; // parallel regions of OpenMP and barriers in them, upper bound
  regionsLeastNs: number;
  tasksNs: number; // tasks of OpenMP and oneTBB, and threads created, in plain pthread programs; upper bound
  tasksLeastNs: number;
  spawnsNs: number;
  samplesNs: number; // samples of running threads, taken by the kernel
  timerNs: number; // the timer of these samples, when threads get a CPU that was idle or had another program's thread
  samplingNs: number; // CPU time of the sampler while the program could have used the CPU, upper bound
  samplingLeastNs: number;
  // time that the program waited at its start until it was recorded; not part of the time that the report covers
  startNs: number;
  commandNs: number; // of the command that started it, before the program began and after it had ended; in no sum
  elapsedNs: number; // the sum of those above, upper bound
  elapsedLeastNs: number;
  share: number; // relative to the elapsed time without recording, upper bound
  shareLeast: number;
  /**
   * Threads wait for each other so often that recording may change which ones wait; the effect is not included in the
   * bounds.
   */
  waitsMayChange: boolean;
  /**
   * Threads acquire locks whose cache lines move from CPU to CPU; recording may change how often. Not included either.
   */
  linesMayMove: boolean;
  /** Other programs have the CPUs: how long the program waits for its CPU after each snapshot is not included. */
  othersMayChange: boolean;
  /** Operations that occurred, but whose cost could not be measured; they are not included. */
  unmeasured: readonly ('hooks' | 'locks' | 'threads made')[];
}

/**
 * The snapshot rate was lower than requested: either each snapshot was expensive, so the intervals were lengthened, or
 * the sampler was often late.
 */
export interface FewerSnapshots {
  askedHz: number;
  reason: 'cost' | 'late';
  eachNs: number; // processor time of the sampler per snapshot
  // the real-time priority of threads of the program that kept CPUs from the sampler; 100: class SCHED_DEADLINE; 0:
  // none did, or the sampler took precedence over them
  realtime: number;
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
