/**
 * The difference of two reads of one growing profile, as a profile of its own: the window of a live screen. The sampler
 * only appends rows and increases their counts, so rows with equal index correspond. Pure.
 */
import { f64, item } from './columns.js';
import { pathSince } from './path-since.js';
import {
  cpuLimitCounts,
  unwindingColumns,
  type RawObject,
  type RawProfile,
  type RawSharedLine,
} from './raw-profile.js';

type Counts = Float64Array | Uint32Array;

function minus<T extends Counts>(later: T, earlier: T): T {
  const out = later.slice() as T;
  const n = Math.min(later.length, earlier.length);
  for (let k = 0; k < n; k++) out[k] = Math.max(0, item(later, k) - item(earlier, k));
  return out;
}

const headCounts = [
  'roundsBegun',
  'snapshots',
  'elapsedNs',
  'visits',
  'tornRetries',
  'tornAccepted',
  'skippedTicks',
  'weightSquaresUs2',
  'invalid',
  'samplerCpuNs',
  'cpuRunNs',
  'cpuWaitNs',
  'cpuDispatches',
  'usageNs',
  'userNs',
  'systemNs',
  'voluntarySwitches',
  'involuntarySwitches',
  'minorFaults',
  'majorFaults',
  'readCalls',
  'writeCalls',
  'readBytes',
  'writtenBytes',
  'childrenRunNs',
  'processesStarted',
  'startUs',
  'runningSamples',
  'timerDispatches',
  'cpuUseSamples',
  'cpuUseSpinning',
  'cpuUseHanding',
  'oversubscribedSamples',
  'oversubscribedSpinning',
  'oversubscribedHanding',
  'stackOverflows',
  'callsLost',
  'threadsDropped',
  'objectsMerged',
  'stringsDropped',
  'spawns',
  'switches',
  'steals',
  'parks',
  'tuplesMerged',
  'stacksCut',
  'entitiesMerged',
] as const;

function headMinus(later: RawProfile['head'], earlier: RawProfile['head']): RawProfile['head'] {
  const head = { ...later };
  for (const key of headCounts) head[key] = Math.max(0, later[key] - earlier[key]);
  return head;
}

function objectMinus(later: RawObject, earlier: RawObject | undefined): RawObject {
  if (!earlier) return later;
  return {
    entity: later.entity,
    capacity: later.capacity,
    instances: later.instances,
    waitMaxNs: later.waitMaxNs,
    holdMaxNs: later.holdMaxNs, // a maximum, not a sum, so it cannot be subtracted
    acquisitions: later.acquisitions - earlier.acquisitions,
    contended: later.contended - earlier.contended,
    waitNs: later.waitNs - earlier.waitNs,
    spinNs: later.spinNs - earlier.spinNs,
    holdNs: later.holdNs - earlier.holdNs,
    observedNs: later.observedNs - earlier.observedNs,
    queueLengthNs: later.queueLengthNs - earlier.queueLengthNs,
    queueNs: minus(later.queueNs, earlier.queueNs),
    waitHist: minus(later.waitHist, earlier.waitHist),
    holdHist: minus(later.holdHist, earlier.holdHist),
  };
}

/**
 * Stretches after the earlier read. Stretches that were merged since then cannot be separated, so all of them are
 * shown.
 */
function timelineSince(later: RawProfile['timeline'], earlier: RawProfile['timeline']): RawProfile['timeline'] {
  const known = earlier.ns.length;
  const joined = known > 0 && later.ns.length > 0 && f64(later.ns, 0) !== f64(earlier.ns, 0);
  const cut = joined ? 0 : Math.max(0, known - 1);
  return {
    startNs: later.startNs.slice(cut),
    ns: later.ns.slice(cut),
    usefulNs: later.usefulNs.slice(cut),
    overheadNs: later.overheadNs.slice(cut),
    spinningNs: later.spinningNs.slice(cut),
    idleNs: later.idleNs.slice(cut),
    runnableNs: later.runnableNs.slice(cut),
    snapshots: later.snapshots.slice(cut),
    top: later.top.slice(cut),
  };
}

/** Lines, and the threads of each line, keep their order; new ones are appended. */
function lineMinus(later: RawSharedLine, earlier: RawSharedLine | undefined): RawSharedLine {
  if (!earlier) return later;
  return {
    ...later,
    samples: later.samples - earlier.samples,
    turns: later.turns - earlier.turns,
    by: later.by.map((user, k) => ({ ...user, samples: user.samples - (earlier.by[k]?.samples ?? 0) })),
  };
}

/** Subtracts these columns of a table; the others are the later ones. */
function columnsMinus<Name extends string, Table extends Record<Name, Counts>>(
  names: readonly Name[],
  later: Table,
  earlier: Table,
): Table {
  const more = Object.fromEntries(names.map((name) => [name, minus<Counts>(later[name], earlier[name])]));
  return { ...later, ...more };
}

/** Throws RangeError if the two are not reads of one recording in this order. */
export function difference(later: RawProfile, earlier: RawProfile): RawProfile {
  if (
    later.head.pid !== earlier.head.pid ||
    later.head.firstNs !== earlier.head.firstNs ||
    later.head.snapshots < earlier.head.snapshots
  )
    throw new RangeError('not two reads of one recording, the later one first');
  const { pathNs, ...path } = pathSince(later, earlier);
  const earlierObjects = new Map(earlier.objects.map((row, k) => [k, row]));
  return {
    ...later,
    ...path,
    head: { ...headMinus(later.head, earlier.head), pathNs },
    tuples: {
      ...later.tuples,
      count: minus(later.tuples.count, earlier.tuples.count),
      ns: minus(later.tuples.ns, earlier.tuples.ns),
      runnableNs: minus(later.tuples.runnableNs, earlier.tuples.runnableNs),
    },
    balance: {
      ...later.balance,
      overheadNs: minus(later.balance.overheadNs, earlier.balance.overheadNs),
      count: minus(later.balance.count, earlier.balance.count),
      ns: minus(later.balance.ns, earlier.balance.ns),
      runnableNs: minus(later.balance.runnableNs, earlier.balance.runnableNs),
    },
    objects: later.objects.map((row, k) => objectMinus(row, earlierObjects.get(k))),
    blame: {
      ...later.blame,
      count: minus(later.blame.count, earlier.blame.count),
      ns: minus(later.blame.ns, earlier.blame.ns),
    },
    waitOverlap: {
      ...later.waitOverlap,
      count: minus(later.waitOverlap.count, earlier.waitOverlap.count),
      ns: minus(later.waitOverlap.ns, earlier.waitOverlap.ns),
      waitersNs: minus(later.waitOverlap.waitersNs, earlier.waitOverlap.waitersNs),
    },
    instructions: {
      ...later.instructions,
      count: minus(later.instructions.count, earlier.instructions.count),
      ns: minus(later.instructions.ns, earlier.instructions.ns),
      nptPs: minus(later.instructions.nptPs, earlier.instructions.nptPs),
      spinNs: minus(later.instructions.spinNs, earlier.instructions.spinNs),
    },
    counted: { ...later.counted, amount: minus(later.counted.amount, earlier.counted.amount) },
    cpuLimits: columnsMinus(cpuLimitCounts, later.cpuLimits, earlier.cpuLimits),
    sharedLines: later.sharedLines.map((line, k) => lineMinus(line, earlier.sharedLines[k])),
    unwinding: columnsMinus(unwindingColumns, later.unwinding, earlier.unwinding),
    calls: { ...later.calls, count: minus(later.calls.count, earlier.calls.count) },
    processors: {
      usefulNs: minus(later.processors.usefulNs, earlier.processors.usefulNs),
      overheadNs: minus(later.processors.overheadNs, earlier.processors.overheadNs),
      spinningNs: minus(later.processors.spinningNs, earlier.processors.spinningNs),
      idleNs: minus(later.processors.idleNs, earlier.processors.idleNs),
    },
    timeline: timelineSince(later.timeline, earlier.timeline),
  };
}
