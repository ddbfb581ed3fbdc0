/**
 * A profile as the addon hands it over: the sections of the file, column by column, unchecked numbers already
 * checked, nothing computed. The one contract between the native reader and the model.
 * Field meanings: abi/profile.h. Times are nanoseconds in Float64 (exact up to 2^53 ns = 104 days).
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
  meanwhile: {
    object: Uint32Array;
    stack: Uint32Array;
    thread: Uint32Array;
    count: Uint32Array;
    ns: Float64Array;
    waitersNs: Float64Array;
  };
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

export interface RawHead {
  version: number;
  status: 'recording' | 'complete' | 'cut' | 'abandoned'; // abandoned: still 'recording', but the sampler is gone
  endReason: 'none' | 'exit' | 'signal' | 'interrupted' | 'disk-full' | 'exec' | 'error';
  exitStatus: number;
  publisher: 'threadlib' | 'pthread';
  pid: number;
  samplerPid: number;
  processors: number;
  cpus: number;
  program: string;
  arguments: string;
  host: string;
  quartzVersion: string;
  startedRealtimeNs: number;
  firstNs: number;
  attached: boolean;
  roundsBegun: number;
  snapshots: number;
  elapsedNs: number;
  visits: number;
  tornRetries: number;
  tornAccepted: number;
  skippedTicks: number;
  invalid: number;
  weightSquaresUs2: number; // sum of the squares of the snapshots' weights
  cpuRunNs: number;
  cpuWaitNs: number;
  cpuTurns: number; // of the kernel threads that publish; all 0: not known
  // What the kernel counted of the program while it was recorded; false: not known, and 0.
  usageKnown: boolean;
  switchesKnown: boolean; // the two numbers of switches
  usageNs: number; // time covered
  userNs: number;
  systemNs: number;
  voluntarySwitches: number;
  involuntarySwitches: number;
  minorFaults: number;
  majorFaults: number;
  childrenRunNs: number;
  childrenApart: boolean; // processor time of child processes; whether they have profiles of their own
  judgedSamples: number;
  judgedSpinning: number;
  judgedHanding: number; // samples: all; of threads that only waited; in calls of spinning procedures that wait or wake
  crowdedSamples: number;
  crowdedSpinning: number;
  crowdedHanding: number; // likewise, while more threads could run than there are CPUs
  turns: number;
  // threads got a CPU from elsewhere than a thread of the program while samples were taken; what their timer takes
  // then, 0: not known
  turnNs: number;
  runningSamples: number;
  runningSampleNs: number; // taken of running threads by the kernel; what each took from its thread, 0: not known
  samplerCpuNs: number;
  rateHz: number;
  samplerCpu: number | null;
  samplerSpins: boolean;
  samplerThreads: number;
  hookLeastPs: number;
  hookMostPs: number;
  hookInsidePs: number;
  lockLeastPs: number;
  lockMostPs: number;
  spawnPs: number;
  waitPs: number;
  stackOverflows: number;
  stackLimit: number;
  exactHold: boolean;
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
  paths: RawPaths;
}

/** How call paths were found where there are no hooks, and what stood in the way (abi/profile.h, QZ_PATHS_...). */
export interface RawPaths {
  hooks: boolean;
  waits: boolean;
  running: boolean;
  noMemory: boolean;
  noSamples: boolean;
  fewSamples: boolean;
  noCalls: boolean;
}
export const noPaths: RawPaths = {
  hooks: false,
  waits: false,
  running: false,
  noMemory: false,
  noSamples: false,
  fewSamples: false,
  noCalls: false,
};

export interface RawEntity {
  kind: EntityKind;
  name: string;
  file: string;
  line: number;
  address: number;
  module: number;
  // of an object or thread: its number in the session. Procedure: what it is inlined into (entity), 0 = it has code of
  // its own
  record: number;

  detail: string;
  instances: number;
}

export type ObjectKind =
  | 'mutex'
  | 'rwlock'
  | 'condition'
  | 'semaphore'
  | 'barrier'
  | 'channel'
  | 'join'
  | 'sleep'
  | 'spinlock'
  | 'once'
  | 'futex'
  | 'loop';
export type EntityKind = ObjectKind | 'procedure' | 'thread';

/** Values of enum qz_state, as they stand in `tuples.state`. */
export const State = { idle: 0, useful: 1, overhead: 2, spinning: 3, ready: 4, blocked: 5, io: 6 } as const;

/** Values of `tuples.waiting`. woken: the object at the top has let the thread go on, which waits for a CPU. */
export const Waiting = { none: 0, object: 1, woken: 2 } as const;

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
export interface RawThread {
  entity: number;
  creator: number;
  serial: number;
  firstNs: number;
  lastNs: number;
}
export interface RawModule {
  start: number;
  end: number;
  bias: number;
  path: string;
  buildId: string;
}
