import {
  type EndReason,
  type HeadFields,
  type LibraryLock,
  type LibraryWait,
  type Missing,
  type Naming,
  type NamingStyle,
  type ObjectKind,
  type Origin,
  type OtherKind,
  pathBits,
  type PathBit,
  type ProfileStatus,
  type Publisher,
} from './abi.js';

export { Arrival, KernelWork, State, Waiting } from './abi.js';
export type { LibraryLock, LibraryWait, Missing, Naming, NamingStyle, ObjectKind, Origin } from './abi.js';

/**
 * A profile as the addon provides it: the sections of the file, column by column, with all numbers checked and nothing
 * computed. This is the only contract between the native reader and the model. The fields are explained in
 * abi/profile_rows.h and abi/profile_path.h. Times are nanoseconds in Float64 (exact up to 2^53 ns = 104 days).
 */
export interface RawProfile {
  path: string;
  head: RawHead;
  strings: (offset: number) => string;
  entities: RawEntity[]; // index 0 unused
  stacks: { parent: Uint32Array; entity: Uint32Array };
  tuples: {
    stack: Uint32Array;
    thread: Uint32Array;
    state: Uint8Array;
    waiting: Uint8Array;
    torn: Uint8Array;
    kernel: Uint8Array;
    busy: Uint16Array;
    spinning: Uint16Array;
    runnable: Uint32Array;
    count: Float64Array;
    ns: Float64Array;
    runnableNs: Float64Array;
  };
  balance: {
    busy: Uint16Array;
    spinning: Uint16Array;
    runnable: Uint32Array;
    overheadNs: Float64Array;
    count: Float64Array;
    ns: Float64Array;
    runnableNs: Float64Array;
  };
  objects: RawObject[];
  blame: { object: Uint32Array; stack: Uint32Array; thread: Uint32Array; count: Uint32Array; ns: Float64Array };
  waitOverlap: {
    object: Uint32Array;
    stack: Uint32Array;
    thread: Uint32Array;
    count: Uint32Array;
    ns: Float64Array;
    waitersNs: Float64Array;
  };
  /** Time of the run's time path (docs/reference/path.md) by thread, stack and state; empty if no path was recorded. */
  onPath: {
    stack: Uint32Array;
    thread: Uint32Array;
    object: Uint32Array;
    state: Uint8Array;
    arrival: Uint8Array;
    inferred: Uint8Array;
    count: Float64Array;
    ns: Float64Array;
  };
  /** The same in time order. */
  segments: RawSegments;
  /** The end of the path as it was at several moments; the one with the greatest number is the newest. */
  recentPaths: {
    number: Float64Array;
    startNs: Float64Array;
    ns: Float64Array;
    undecidedNs: Float64Array;
    cutNs: Float64Array;
    first: Float64Array;
    count: Float64Array;
  };
  recentSegments: RawSegments;
  /** Instructions at which samples found threads; nptPs is in picoseconds. */
  instructions: {
    address: Float64Array;
    procedure: Uint32Array;
    count: Float64Array;
    ns: Float64Array;
    nptPs: Float64Array;
    spinNs: Float64Array;
  };
  /** Messages and collectives of a rank of an MPI program (struct qz_message_event); peer -1 appears as 2^32 - 1. */
  messages: {
    postedNs: Float64Array;
    beginNs: Float64Array;
    ns: Float64Array;
    communicator: Float64Array;
    number: Uint32Array;
    peer: Uint32Array;
    tag: Uint32Array;
    kind: Uint32Array;
    call: Uint32Array;
    thinning: Uint32Array;
  };
  /** What keeps threads from CPUs that the machine has (struct qz_cpu_limits): one row, none in older profiles. */
  cpuLimits: Record<CpuLimitColumn, Float64Array | Uint32Array>;
  /** Hardware counters by path (struct qz_counted); each counter that could be read has at least one row. */
  counted: { stack: Uint32Array; counter: Uint32Array; amount: Float64Array };
  /** What each thread did at which time (--timeline); the first row is unused (abi/profile_rows.h, struct qz_slice). */
  slices: {
    startNs: Float64Array;
    ns: Float64Array;
    thread: Uint32Array;
    stack: Uint32Array;
    state: Uint8Array;
    waiting: Uint8Array;
  };
  /** Cache lines that threads on different CPUs wrote, or read and wrote, alternately. */
  sharedLines: RawSharedLine[];
  /** Statistics of stack walks: row k is module k - 1, row 0 is code in no file. */
  unwinding: Record<UnwindingColumn, Float64Array>;
  /** Work and span (--span): the span by thread and stack; spawn sites; work by the length of the chain before it. */
  onSpan: { stack: Uint32Array; thread: Uint32Array; count: Float64Array; ns: Float64Array };
  sites: {
    site: Float64Array;
    start: Uint32Array;
    caller: Uint32Array;
    count: Float64Array;
    workNs: Float64Array;
    spanNs: Float64Array;
    topCount: Float64Array;
    topWorkNs: Float64Array;
    topSpanNs: Float64Array;
    merges: Float64Array;
    merged: Float64Array;
    lost: Float64Array;
    slackNs: Float64Array;
    leastSlackNs: Float64Array;
    line: Uint32Array; // line of the call, in the caller's file; 0: not known
  };
  whatIf: RawWhatIf[];
  levels: { ns: Float64Array };
  calls: { site: Float64Array; caller: Uint32Array; callee: Uint32Array; count: Float64Array };
  threads: RawThread[];
  modules: RawModule[];
  processors: { usefulNs: Float64Array; overheadNs: Float64Array; spinningNs: Float64Array; idleNs: Float64Array };
  timeline: {
    startNs: Float64Array;
    ns: Float64Array;
    usefulNs: Float64Array;
    overheadNs: Float64Array;
    spinningNs: Float64Array;
    idleNs: Float64Array;
    runnableNs: Float64Array;
    snapshots: Uint32Array;
    top: Uint32Array;
  };
}

/** struct qz_shared_line, with a qz_line_user for each thread seen. */
export interface RawSharedLine {
  address: number;
  variable: string; // '': no static variable
  samples: number;
  turns: number; // number of samples that followed a sample of another thread on another CPU
  by: {
    thread: number;
    procedure: number;
    samples: number;
    written: number; // accessed words of four bytes: bit k is the one at address + 4 * k
    read: number;
    locked: number; // lockedAccess
  }[];
}

/** Fields of struct qz_cpu_limits: those that do not change, and those that grow. */
export const cpuLimitFixed = ['online', 'allowed', 'quotaMilli', 'fewest', 'realtime', 'outranked'] as const;
export const cpuLimitCounts = [
  'periods',
  'throttledPeriods',
  'throttledNs',
  'confinedNs',
  'confinedSavingNs',
  'confinedWaitNs',
  'rounds',
  'roundsNs',
  'tasksNs',
  'commandNs',
  'asleepNs',
] as const;
export type CpuLimitColumn = (typeof cpuLimitFixed)[number] | (typeof cpuLimitCounts)[number];

/**
 * Fields of struct qz_unwinding: walks; those cut short, by reason; steps, by how the caller was found and how certain
 * it is.
 */
export const unwindingColumns = [
  'walks',
  'noRule',
  'wrong',
  'memory',
  'generated',
  'later',
  'deep',
  'tableValid',
  'tableLikely',
  'tableInvalid',
  'codeValid',
  'codeLikely',
  'codeInvalid',
  'pointerValid',
  'pointerLikely',
  'pointerInvalid',
] as const;
type UnwindingColumn = (typeof unwindingColumns)[number];

/** Stretches of a time path, in time order. */
export interface RawSegments {
  startNs: Float64Array;
  ns: Float64Array;
  stack: Uint32Array;
  thread: Uint32Array;
  object: Uint32Array;
  state: Uint8Array;
  arrival: Uint8Array;
  inferred: Uint8Array;
  came: Uint8Array;
  by: Uint32Array;
  joined: Uint32Array;
}

/** The head, with names instead of the numbers of enumerations; the fields are those of struct qz_profile. */
export interface RawHead extends Omit<
  HeadFields,
  'status' | 'abandoned' | 'endReason' | 'publisher' | 'paths' | 'samplerCpu'
> {
  status: ProfileStatus | 'abandoned'; // abandoned: the status is still 'recording', but the sampler no longer exists
  endReason: EndReason;
  publisher: Publisher;
  paths: RawPaths;
  samplerCpu: number | null;
}

/** How call paths were found if there are no hooks, and what prevented it. */
type RawPaths = Record<PathBit, boolean>;
export const pathsOf = (bits: number): RawPaths =>
  Object.fromEntries(Object.entries(pathBits).map(([name, bit]) => [name, (bits & bit) !== 0])) as RawPaths;
export const noPaths: RawPaths = pathsOf(0);

export interface RawEntity {
  kind: EntityKind;
  name: string;
  file: string;
  line: number;
  address: number;
  module: number;
  // for an object or thread: its number in the session. For a procedure: the entity it is inlined into, 0 = it has code
  // of its own
  record: number;

  detail: string; // why name or place is missing, as a clause
  missing: Missing; // which of them is missing
  instances: number;
  origin: Origin;
  purposes: number; // purposes indicated by its name: bits of Purpose
  libraryWait: LibraryWait; // for a futex or loop; for a procedure: whether it passes data between threads
  libraryLock: LibraryLock; // what the C library's procedure of that name takes a lock of its own for
  naming: Naming;
  style: NamingStyle; // whose way of naming a procedure, or of making a thread, this is
}

export type EntityKind = ObjectKind | OtherKind;

export interface RawObject {
  entity: number;
  capacity: number;
  instances: number;
  acquisitions: number;
  contended: number;
  waitNs: number;
  waitMaxNs: number;
  spinNs: number;
  holdNs: number;
  holdMaxNs: number;
  observedNs: number;
  queueLengthNs: number;
  queueNs: Float64Array;
  waitHist: Uint32Array;
  holdHist: Uint32Array;
}
/** An answer to "what if" (abi/profile_path.h, struct qz_what_if_answer). */
export interface RawWhatIf {
  kind: number; // whatIfKinds
  name: string; // as the user wrote it
  entity: number; // the procedure; 0: not known
  seen: boolean; // the code ran; for a lock: a thread had to wait for it
  found: boolean; // a procedure (for a lock: a variable) with that name exists
  missed: boolean; // some of its calls could not be separated from the rest
  factor: number;
  spanNs: number;
  workNs: number;
  site: number; // for a chosen place: return address of the call
  sinceNs: number; // for a chosen place: when it was chosen; what threads did before is not scaled
}
export interface RawThread {
  entity: number;
  creator: number;
  serial: number;
  firstNs: number;
  lastNs: number;
  // sums over the intervals between the ends of its sleeps, and over the lengths of these sleeps, in us and us^2
  sleeps: number;
  intervalUs: number;
  intervalUs2: number;
  lengthUs: number;
  lengthUs2: number;
}
export interface RawModule {
  start: number;
  end: number;
  bias: number;
  path: string;
  buildId: string;
}
