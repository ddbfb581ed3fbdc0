/**
 * Values and bounds of profiles, as abi/*.h define them and the addon gives them; what each means is said there.
 * Made by scripts/abi-table.js; change the headers, or ts-frontend/addon/head.cc.
 */
/** enum qz_state, in tuples.state. */
export const State = { idle: 0, useful: 1, overhead: 2, spinning: 3, ready: 4, blocked: 5, io: 6 } as const;

/** enum qz_waiting, in tuples.waiting. */
export const Waiting = { none: 0, object: 1, woken: 2 } as const;

/** enum qz_arrival, in segments.came and .arrival, onPath.arrival. */
export const Arrival = { same: 0, created: 1, woken: 2, joined: 3, own: 4, io: 5 } as const;

/** enum qz_kernel, in tuples.kernel. */
export const KernelWork = {
  none: 0,
  fault: 1,
  call: 2,
  memory: 3,
  futex: 4,
  yield: 5,
  read: 6,
  write: 7,
  poll: 8,
  thread: 9,
  sleep: 10,
  lock: 11,
} as const;

/** enum qz_kind. */
export const objectKinds = {
  mutex: 1,
  rwlock: 2,
  condition: 3,
  semaphore: 4,
  barrier: 5,
  channel: 6,
  join: 7,
  sleep: 8,
  spinlock: 9,
  once: 10,
  futex: 11,
  loop: 12,
} as const;
export type ObjectKind = keyof typeof objectKinds;

/** enum qz_entity_kind: what else time is charged to. */
export const otherKinds = { procedure: 32, thread: 33, 'code-loop': 34, 'code-line': 35 } as const;
export type OtherKind = keyof typeof otherKinds;

/** enum qz_origin: where code comes from. */
export const origins = { unknown: 0, own: 1, runtime: 2, openmp: 3, standard: 4, installed: 5 } as const;
export type Origin = keyof typeof origins;

/** QZ_PURPOSE_...: bits of entities.purposes. */
export const Purpose = {
  decided: 1,
  teamCall: 2,
  exclusion: 4,
  tbbLibrary: 8,
  tbbCode: 16,
  collection: 32,
  waitOrWake: 64,
  libraryLock: 128,
  handOver: 256,
  threadStart: 512,
  pthreadLock: 1024,
  allocator: 2048,
  sleep: 4096,
  device: 8192,
  children: 16384,
  requests: 32768,
  read: 65536,
  signal: 131072,
  threadMaking: 524288,
  lockWrapper: 262144,
  processMaking: 1048576,
  serialization: 2097152,
  order: 4194304,
  fileLock: 8388608,
  cloning: 16777216,
  compilation: 33554432,
  housekeeping: 67108864,
  allocation: 134217728,
  mpiStart: 268435456,
  receiving: 536870912,
  copying: 1073741824,
  chains: 2147483648,
} as const;

/** enum qz_naming_style. */
export const namingStyles = { other: 0, go: 1, 'go-call': 2, 'llvm-team': 3 } as const;
export type NamingStyle = keyof typeof namingStyles;

/** enum qz_library_wait. */
export const libraryWaits = {
  unknown: 0,
  lock: 1,
  barrier: 2,
  'region-end': 3,
  data: 4,
  message: 5,
  collective: 6,
  processes: 7,
  tasks: 8,
} as const;
export type LibraryWait = keyof typeof libraryWaits;

/** enum qz_library_lock. */
export const libraryLocks = { none: 0, random: 1, stream: 2, time: 3, loader: 4 } as const;
export type LibraryLock = keyof typeof libraryLocks;

/** enum qz_naming. */
export const namings = { own: 0, place: 1, inside: 2 } as const;
export type Naming = keyof typeof namings;

/** enum qz_missing. */
export const missings = { nothing: 0, name: 1, stripped: 2, place: 3, system: 4 } as const;
export type Missing = keyof typeof missings;

/** enum qz_cut: why a walk ended before the beginning of the thread. */
export const cuts = { 'no-rule': 1, wrong: 2, memory: 3, generated: 4, later: 5, deep: 6 } as const;
export type CutReason = keyof typeof cuts;

/** enum qz_unwound_by. */
export const unwoundWays = { table: 0, code: 1, pointer: 2 } as const;
export type UnwoundBy = keyof typeof unwoundWays;

/** enum qz_profile_status. */
export const statuses = { recording: 1, complete: 2, cut: 3 } as const;
export type ProfileStatus = keyof typeof statuses;

/** enum qz_profile_fault: why a file cannot be read. */
export const profileFaults = {
  none: 0,
  damaged: 1,
  foreign: 2,
  version: 3,
  denied: 4,
  'too-large': 5,
  system: 6,
} as const;
export type ProfileFault = keyof typeof profileFaults;

/** enum qz_end_reason. */
export const endReasons = {
  none: 0,
  exit: 1,
  signal: 2,
  interrupted: 3,
  'disk-full': 4,
  exec: 5,
  error: 6,
  time: 7,
} as const;
export type EndReason = keyof typeof endReasons;

/** enum qz_publisher. */
export const publishers = { threadlib: 1, pthread: 2 } as const;
export type Publisher = keyof typeof publishers;

/** enum qz_what_if_kind. */
export const whatIfKinds = { none: 0, procedure: 1, site: 2, lock: 3, place: 4 } as const;
export type WhatIfKind = keyof typeof whatIfKinds;

/** enum qz_counter, in counted.counter. */
export const counterKinds = { cycles: 0, instructions: 1, cacheMisses: 2, tlbMisses: 3, remote: 4, faults: 5 } as const;
export type CounterName = keyof typeof counterKinds;

/** enum qz_mpi_event_kind, in messages.kind. */
export const MessageKind = { sent: 1, received: 2, all: 3, fromRoot: 4, toRoot: 5, prefix: 6 } as const;

/** QZ_LOCKED_...: bits of sharedLines.by.locked. */
export const lockedAccess = { change: 2, compare: 4 } as const;

/** QZ_PATHS_...: bits of head.paths. */
export const pathBits = {
  hooks: 1,
  waits: 2,
  running: 4,
  noMemory: 8,
  noSamples: 16,
  fewSamples: 32,
  noCalls: 64,
  kernel: 128,
  rare: 256,
  signals: 512,
} as const;
export type PathBit = keyof typeof pathBits;

/** Runnable threads are counted exactly below `exact`, then in `parts` buckets for each power of two. */
export const runnableBuckets = { exact: 64, parts: 8 } as const;
/** Queue lengths likewise, in so many buckets. */
export const queueBuckets = {
  exact: 16,
  parts: 2,
  count: 32,
} as const;
/** Processor times of threads may deviate by this part of their sum from what the kernel counts. */
export const accountPart = 1 / 128;
/** Factor of hashes of 32 bits. */
export const hashFactor = 0x9e3779b1;
/** Kinds of locks: qz_kind_is_lock. */
export const lockKinds = ['mutex', 'rwlock', 'spinlock'] as const;
/** Times: bucket k holds [2^k, 2^(k+1)) ns, the first also 0. */
export const timeBuckets = { count: 40 } as const;

/** The head of a profile as the addon gives it: struct qz_profile, with values of enumerations as numbers. */
export interface HeadFields {
  version: number;
  status: number;
  endReason: number;
  exitStatus: number;
  publisher: number;
  pid: number;
  samplerPid: number;
  processors: number;
  cpus: number;
  startedRealtimeNs: number;
  firstNs: number;
  rateHz: number;
  samplerCpu: number;
  samplerThreads: number;
  stackLimit: number;
  paths: number;
  roundsBegun: number;
  snapshots: number;
  elapsedNs: number;
  visits: number;
  tornRetries: number;
  tornAccepted: number;
  skippedTicks: number;
  weightSquaresUs2: number;
  invalid: number;
  samplerCpuNs: number;
  runningSamples: number;
  runningSampleNs: number;
  cpuUseSamples: number;
  cpuUseSpinning: number;
  cpuUseHanding: number;
  oversubscribedSamples: number;
  oversubscribedSpinning: number;
  oversubscribedHanding: number;
  timerDispatches: number;
  timerNs: number;
  freeLockPs: number;
  cpuRunNs: number;
  cpuWaitNs: number;
  cpuDispatches: number;
  childrenRunNs: number;
  processesStarted: number;
  startUs: number;
  rank: number;
  relatedMilli: number;
  usageNs: number;
  userNs: number;
  systemNs: number;
  voluntarySwitches: number;
  involuntarySwitches: number;
  minorFaults: number;
  majorFaults: number;
  residentBytes: number;
  readCalls: number;
  writeCalls: number;
  readBytes: number;
  writtenBytes: number;
  hookLeastPs: number;
  hookMostPs: number;
  hookInsidePs: number;
  lockLeastPs: number;
  lockMostPs: number;
  spawnPs: number;
  waitPs: number;
  stackOverflows: number;
  callsLost: number;
  threadsDropped: number;
  objectsMerged: number;
  stringsDropped: number;
  spawns: number;
  switches: number;
  steals: number;
  parks: number;
  tuplesMerged: number;
  stacksCut: number;
  entitiesMerged: number;
  pathNs: number;
  pathCrumbs: number;
  pathLost: number;
  pathCutNs: number;
  workNs: number;
  spanNs: number;
  burdenedSpanNs: number;
  typicalSpanNs: number;
  waitedNs: number;
  asideNs: number;
  strands: number;
  levelNs: number;
  burdenPs: number;
  spanLost: number;
  program: string;
  arguments: string;
  host: string;
  quartzVersion: string;
  abandoned: boolean;
  pathToExit: boolean;
  attached: boolean;
  usageKnown: boolean;
  switchesKnown: boolean;
  callsKnown: boolean;
  socketsSeen: boolean;
  listens: boolean;
  connected: boolean;
  connectedLocally: boolean;
  readsSockets: boolean;
  readsElsewhere: boolean;
  writesThrough: boolean;
  writesElsewhere: boolean;
  writesPipes: boolean;
  childrenApart: boolean;
  samplerSpins: boolean;
  exactHold: boolean;
  spanRecorded: boolean;
  cpuWaitsOut: boolean;
  teamsReported: boolean;
  outside: boolean;
}

/** Of all that the addon and the front end must agree on; the addon has the same (addon/CMakeLists.txt). */
export const addonMark = '5d96b4f2dcea5db8';
