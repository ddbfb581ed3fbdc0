/**
 * What the model computes from a profile: the types that reports, CSV, JSON and live screens render.
 * Every number is defined in docs/reference/metrics.md; how it is computed, in docs/reference/model.md. Times are
 * nanoseconds.
 */
import type { Effort } from './effort.js';
import type { Experiment, Verification } from './experiment.js';
import type { Change, FindingKind } from './finding-kinds.js';
import type { Facts } from './facts.js';
import type { Notice } from './notices.js';
import type { EntityKind, LibraryWait, Missing, Origin, RawHead, RawProfile } from '../profile/raw-profile.js';
import type { Bucket, TimeBucket } from '../profile/buckets.js';

/** Kinds as reports show them. `lock` stands for mutex, rwlock and spinlock; Entity.rawKind says which. */
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

/** E_x: time that threads spent in one state, and how many threads were runnable at that time. */
export interface StateTime {
  ns: number;
  meanRunnable: number; // 0 where ns is 0
  runnable: Bucket[]; // only buckets with time
}

export interface CallCount {
  entity: number;
  count: number;
} // entity 0: a caller that is not known
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
  counted: boolean; // false: seen from outside; acquisitions are not known, waitNs is sampled, contended a lower bound
  acquisitions: number;
  contended: number;
  waitNs: number; // exact, summed over waiters
  waitMeanNs: number; // over contended acquisitions
  waitMaxNs: number;
  spinNs: number; // part of waitNs
  waitDistribution: TimeBucket[];
  holdNs: number;
  holdMeanNs: number; // over acquisitions
  holdMaxNs: number; // 0 where holding was sampled
  holdExact: boolean; // false: sampled
  holdDistribution: TimeBucket[]; // empty where holding was sampled
  queueLengthMean: number;
  queueLength: Bucket[]; // time-weighted
  queueObservedNs: number;
  waiters: PathTime[]; // most time first
  // who held it while others waited; ns = waiters * time. Of a join: the thread waited for. Empty for other objects
  holders: PathTime[];
  // who ran while others waited and b < P (late at a barrier, or yet to send or signal); ns = waiters * time
  waitOverlap: PathTime[];
  criticalByBusyNs: Float64Array; // processor time of its critical section by b, index 0 is b = 1
}

export interface ThreadStats {
  serial: number;
  creator: number; // entity, 0 = none
  firstNs: number; // since the first snapshot
  lastNs: number;
}

/** One of these threads at a time goes on. */
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
  missing: Missing; // which
  origin: Origin; // whose code it is, of an object that of the place that made it, or of the library that waits there
  purposes: number; // what it is for, by its name: bits of Purpose
  runsFor: number; // of a procedure without a name: the exported one of its library that it runs for, 0 = none
  libraryWait: LibraryWait; // what a futex or a loop is, by what is called there
  // of a condition, semaphore or futex that is a lock by what happens there, else null
  excludes: Exclusion | null;
  saysItsKind: boolean; // its name does: "mutex at file:line", "GOMP_barrier at file:line"
  instances: number; // objects or threads that share this entity
  members: number[]; // of a group of namesakes, else empty
  group: number; // the group that it belongs to, 0 = none
  inlinedInto: number[]; // procedures that it is inlined into; empty: it has code of its own, or is none

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
  callsCounted: boolean; // false: seen without hooks, so nobody knows how often it was called
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
  threads: { entity: number; nptNs: number; share: number; processorTimeNs: number }[]; // who ran it
  // children's time off work
  waits: { entity: number; blockedNs: number; spinningNs: number; readyNs: number; ioNs: number }[];
}
export interface FocusRow {
  entity: number; // the focused entity itself where self
  self: boolean;
  name: string;
  kind: Kind;
  nptNs: number;
  share: number;
  processorTimeNs: number;
  byBusyNs: Float64Array;
  callsCounted: boolean;
  calls: number; // from the focused entity to this one; of the focused entity in the row self
}

/** One thing that limits the program; the formulas are in docs/reference/findings.md. */
export interface Finding {
  entity: number; // index into Model.entities
  name: string;
  kind: FindingKind;
  change: Change;
  advice: Advice;
  facts: Facts; // what it rests on; render/findings makes sentences of it
  costNs: number; // elapsed time
  costCi95: Interval; // 95 % interval of costNs
  savingNs: number; // elapsed time that the change could save, at most costNs
  savingCi95: Interval;
  processorUse: { busy: number; spinning: number; idle: number }; // mean processors during costNs
  bound: Bound | null;
  whatIf?: FreeBound; // where the recording was asked what if it took no time
  related: number[]; // further entities that it is about, or that its facts name
  alternatives: Alternative[];
  othersMayCause: boolean; // other programs on the CPUs may be the cause
  verifications?: Verification[]; // where an experiment tried its change: one for each way in which it did
}
/**
 * Which way a change goes where another one could go the other way; in the findings of one model no two are opposed
 * (advice.ts).
 */
export interface Advice {
  pieces: 'smaller' | 'larger' | null;
  threads: 'more' | 'fewer' | null;
}
/** Work and span of the run if what a finding is about took no time; so the most that any change there saves. */
export interface FreeBound {
  spanNs: number;
  workNs: number;
  mostNs: number;
  tighter: boolean; // it is less than what the finding would promise otherwise
}
/** Another change that would save nearly as much as that of its finding, or more. */
export interface Alternative {
  kind: FindingKind;
  change: Change;
  savingNs: number;
}
/**
 * A thread that the program waits for, at work outside what the change is about: no change there saves more than the
 * rest.
 */
export interface Bound {
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
 * How long kernel threads of the program had CPUs, or could have run and waited for one (docs/reference/metrics.md,
 * section 6). All 0: not known.
 */
export interface CpuWait {
  runNs: number;
  waitNs: number;
  ownNs: number; // at most so much of it because the program has more to run than CPUs
  othersNs: number; // at least so much of the rest: other programs had them
  share: number; // waitNs / (runNs + waitNs)
}

/** What the kernel counted of the whole program, ended threads included (docs/reference/metrics.md, section 6). */
export interface KernelUsage {
  ns: number; // time covered
  userNs: number;
  systemNs: number;
  cpusUsed: number; // mean number of CPUs that executed it: (userNs + systemNs) / ns
  cpus: number; // that it may use
  switches: { voluntary: number; involuntary: number } | null; // null: not known (yet)
  faults: { minor: number; major: number };
  residentBytes: number; // most at one time; 0: not known
  // that read and write files, pipes and sockets; null: not known
  calls: { reads: number; writes: number; readBytes: number; writtenBytes: number } | null;
  // contended operations that were counted, and how many of them at least returned without giving up the CPU
  waits: { count: number; atOnce: number } | null;
  threads: number; // seen
  threadsAtOnce: number; // alive at the same time, at most
}

export interface Compensation {
  applied: boolean;
  processorTimeNs: number; // taken out of T(root)
  elapsedNs: number; // taken out of NPT(root)
  clampedNs: number; // cost that was not taken out because its procedure shows less time than that
  calls: number;
}

/** What recording added to the elapsed time, by what added it; an estimate: at most so much, and at least. */
export interface Slowdown {
  hooksNs: number; // of procedures, at most
  hooksLeastNs: number;
  locksNs: number; // acquisitions of locks and semaphores, at most
  locksLeastNs: number;
  waitsNs: number; // at most
  waitsLeastNs: number;
  spawnsNs: number;
  samplesNs: number; // that the kernel took of running threads
  timerNs: number; // their timer, when threads get a CPU that was idle or another program's
  samplingNs: number; // CPU time that the sampler took while the program could have used it, at most
  samplingLeastNs: number;
  startNs: number; // that the program waited at its start until it was recorded: before the time that the report covers
  elapsedNs: number; // the sum, at most
  elapsedLeastNs: number;
  share: number; // of the elapsed time without it, at most
  shareLeast: number;
  /** Threads wait for each other so often that recording may change who waits: that is in none of these. */
  waitsMayChange: boolean;
  /** Threads take locks whose cache lines move from CPU to CPU, more or less often when recorded: likewise. */
  linesMayMove: boolean;
  /** Others have the CPUs: how long the program waits for its own after each snapshot is in none of these. */
  othersMayChange: boolean;
  /** What happened, but could not be measured, and so is in none of these. */
  unmeasured: readonly ('hooks' | 'locks' | 'threads made')[];
}

/**
 * Snapshots came at a lower rate than asked for: each cost much, so that intervals were made longer; or the sampler was
 * late for many.
 */
export interface FewerSnapshots {
  askedHz: number;
  reason: 'cost' | 'late';
  eachNs: number; // processor time of the sampler, for each snapshot
}

export interface Model {
  head: RawHead;
  program: string;
  processors: number;
  usable: number; // of these, without what other recorded processes of the program had all the time
  relatedCpus: number; // that those had on average
  elapsedNs: number;
  samples: number; // snapshots
  rateHz: number; // reached
  fewer: FewerSnapshots | null; // null: as asked for
  root: Entity; // the whole program, id 0, kind 'procedure', named as the program
  entities: Entity[]; // index = id; [0] is root; groups of namesakes come after those of the profile
  ranking: number[]; // ids by NPT, most first; members of groups left out, groups in
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
  kernelUsage: KernelUsage | undefined; // undefined: the kernel did not say
  findings: Finding[]; // at most three, the most saving first
  readonly notices: Notice[]; // too few samples, nothing to report, losses that a reader must know of
  raw: RawProfile;
  experiment?: Experiment; // where this is one of several runs (docs/guide/measuring.md)
}

export interface ModelOptions {
  compensate?: boolean; // take the hooks' cost out (default true)
}
