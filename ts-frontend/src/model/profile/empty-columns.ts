/** The parts of a profile that are not in it: tables without rows, and statistics of an entity that has none. */
import { queueBuckets, timeBuckets } from './abi.js';
import { cpuLimitCounts, cpuLimitFixed, unwindingColumns, type RawObject, type RawProfile } from './raw-profile.js';

/** The columns of a profile without a time path. */
export const noTimePath = (): Pick<
  RawProfile,
  'onPath' | 'segments' | 'recentPaths' | 'recentSegments' | 'onSpan' | 'sites' | 'levels' | 'whatIf'
> => {
  const words = (): Uint32Array => new Uint32Array(0);
  const bytes = (): Uint8Array => new Uint8Array(0);
  const times = (): Float64Array => new Float64Array(0);
  const where = { stack: words(), thread: words(), object: words() };
  const how = { state: bytes(), arrival: bytes(), inferred: bytes() };
  const segments = { ...where, ...how, startNs: times(), ns: times(), came: bytes(), by: words(), joined: words() };
  return {
    onPath: { ...where, ...how, count: times(), ns: times() },
    segments,
    recentPaths: {
      number: times(),
      startNs: times(),
      ns: times(),
      undecidedNs: times(),
      cutNs: times(),
      first: times(),
      count: times(),
    },
    recentSegments: segments,
    onSpan: { stack: words(), thread: words(), count: times(), ns: times() },
    sites: {
      site: times(),
      start: words(),
      caller: words(),
      count: times(),
      workNs: times(),
      spanNs: times(),
      topCount: times(),
      topWorkNs: times(),
      topSpanNs: times(),
      merges: times(),
      merged: times(),
      lost: times(),
      slackNs: times(),
      leastSlackNs: times(),
      line: words(),
    },
    whatIf: [],
    levels: { ns: times() },
  };
};

/**
 * The columns of a profile without instructions, counters, limits of CPUs, messages, slices, stack walks and shared
 * cache lines.
 */
export const noInstructions = (): Pick<
  RawProfile,
  'instructions' | 'counted' | 'cpuLimits' | 'messages' | 'slices' | 'unwinding' | 'sharedLines'
> => ({
  counted: { stack: new Uint32Array(0), counter: new Uint32Array(0), amount: new Float64Array(0) },
  messages: {
    postedNs: new Float64Array(0),
    beginNs: new Float64Array(0),
    ns: new Float64Array(0),
    communicator: new Float64Array(0),
    number: new Uint32Array(0),
    peer: new Uint32Array(0),
    tag: new Uint32Array(0),
    kind: new Uint32Array(0),
    call: new Uint32Array(0),
    thinning: new Uint32Array(0),
  },
  cpuLimits: Object.fromEntries(
    [...cpuLimitFixed, ...cpuLimitCounts].map((name) => [name, new Float64Array(0)]),
  ) as RawProfile['cpuLimits'],
  sharedLines: [],
  slices: {
    startNs: new Float64Array(0),
    ns: new Float64Array(0),
    thread: new Uint32Array(0),
    stack: new Uint32Array(0),
    state: new Uint8Array(0),
    waiting: new Uint8Array(0),
  },
  unwinding: Object.fromEntries(unwindingColumns.map((name) => [name, new Float64Array(0)])) as RawProfile['unwinding'],
  instructions: {
    address: new Float64Array(0),
    procedure: new Uint32Array(0),
    count: new Float64Array(0),
    ns: new Float64Array(0),
    nptPs: new Float64Array(0),
    spinNs: new Float64Array(0),
  },
});

/** Statistics of an entity without instances. */
export const noObject = (entity: number): RawObject => ({
  entity,
  capacity: 0,
  instances: 0,
  acquisitions: 0,
  contended: 0,
  waitNs: 0,
  waitMaxNs: 0,
  spinNs: 0,
  holdNs: 0,
  holdMaxNs: 0,
  observedNs: 0,
  queueLengthNs: 0,
  queueNs: new Float64Array(queueBuckets.count),
  waitHist: new Uint32Array(timeBuckets.count),
  holdHist: new Uint32Array(timeBuckets.count),
});
