/** Statistics of synchronization objects: waiting (exact), holding, queues, who waited, who held. Pure. */
import type { ObjectKind, RawObject, RawProfile } from './raw.js';
import { queueDistribution, timeDistribution } from './buckets.js';
import type { Stacks } from './stacks.js';
import { pathOf } from './stacks.js';
import type { Sums } from './sums.js';
import { stateCount } from './sums.js';
import type { ObjectStats, PathTime } from './types.js';

/** Paths kept for each object, those with most time. */
export const pathsKept = 100;
const held = new Set<ObjectKind>(['mutex', 'rwlock', 'spinlock']);
/** Kinds of which one thread can be said to make the others wait. */
const owned = new Set<ObjectKind>([...held, 'once', 'futex', 'join']);

function addInto(into: RawObject, from: RawObject): RawObject {
  return {
    ...into,
    capacity: Math.max(into.capacity, from.capacity),
    instances: into.instances + from.instances,
    acquisitions: into.acquisitions + from.acquisitions,
    contended: into.contended + from.contended,
    waitNs: into.waitNs + from.waitNs,
    waitMaxNs: Math.max(into.waitMaxNs, from.waitMaxNs),
    spinNs: into.spinNs + from.spinNs,
    holdNs: into.holdNs + from.holdNs,
    holdMaxNs: Math.max(into.holdMaxNs, from.holdMaxNs),
    observedNs: into.observedNs + from.observedNs,
    queueLengthNs: into.queueLengthNs + from.queueLengthNs,
    queueNs: into.queueNs.map((ns, k) => ns + from.queueNs[k]!),
    waitHist: into.waitHist.map((n, k) => n + from.waitHist[k]!),
    holdHist: into.holdHist.map((n, k) => n + from.holdHist[k]!),
  };
}

export function emptyObject(entity: number): RawObject {
  return {
    entity, capacity: 0, instances: 0, acquisitions: 0, contended: 0, waitNs: 0, waitMaxNs: 0, spinNs: 0, holdNs: 0, holdMaxNs: 0,
    observedNs: 0, queueLengthNs: 0, queueNs: new Float64Array(32), waitHist: new Uint32Array(40), holdHist: new Uint32Array(40),
  };
}

/** By entity, rows of one entity (and of the members of a group) added up. */
export function collectObjects(raw: RawProfile, groupOf: Uint32Array): Map<number, RawObject> {
  const out = new Map<number, RawObject>();
  for (const row of raw.objects)
    for (const entity of groupOf[row.entity]! ? [row.entity, groupOf[row.entity]!] : [row.entity]) {
      const known = out.get(entity);
      out.set(entity, known ? addInto(known, row) : { ...row, entity });
    }
  return out;
}

export interface Blame { byObject: Map<number, PathTime[]>; meanwhile: Map<number, PathTime[]> }

/** Paths by object (and group), those with most time first. */
function pathsByObject(stacks: Stacks, groupOf: Uint32Array, table: RawProfile['blame'], ns: Float64Array, wanted: (object: number) => boolean): Map<number, PathTime[]> {
  const rows = new Map<number, PathTime[]>();
  for (let k = 0; k < ns.length; k++) {
    const object = table.object[k]!;
    if (ns[k] === 0 || !wanted(object)) continue;
    const row = { path: pathOf(stacks, table.stack[k]!), thread: table.thread[k]!, ns: ns[k]! };
    for (const entity of groupOf[object]! ? [object, groupOf[object]!] : [object]) {
      const list = rows.get(entity);
      if (list) list.push(row);
      else rows.set(entity, [row]);
    }
  }
  for (const [entity, list] of rows) rows.set(entity, list.sort((a, b) => b.ns - a.ns).slice(0, pathsKept));
  return rows;
}

export function collectBlame(raw: RawProfile, stacks: Stacks, groupOf: Uint32Array): Blame {
  const isOwned = (object: number): boolean => owned.has(raw.entities[object]!.kind as ObjectKind);
  return {
    byObject: pathsByObject(stacks, groupOf, raw.blame, raw.blame.ns, isOwned),
    meanwhile: pathsByObject(stacks, groupOf, raw.meanwhile, raw.meanwhile.waitersNs, (object) => object !== 0 && !isOwned(object)),
  };
}

function waitersOf(raw: RawProfile, stacks: Stacks, sums: Sums, objects: readonly number[]): PathTime[] {
  const pairs: [number, number][] = [];
  for (const object of objects) {
    const paths = sums.waiting.get(object);
    if (paths) for (const pair of paths) pairs.push(pair);
  }
  const threads = raw.entities.length;
  return pairs.sort((a, b) => b[1] - a[1]).slice(0, pathsKept)
    .map(([key, ns]) => ({ path: pathOf(stacks, Math.floor(key / threads)), thread: key % threads, ns }));
}

/**
 * Holding without exact times: a lock is on the stack while it is waited for and held, so what is left of the
 * time on the stack when waiting is taken off is the time held.
 */
export function objectStats(raw: RawProfile, stacks: Stacks, sums: Sums, entity: number, kind: ObjectKind, members: readonly number[],
  row: RawObject, blame: Blame): ObjectStats {
  const exact = raw.head.exactHold;
  let onStack = 0;
  for (let state = 0; state < stateCount; state++) onStack += sums.stateNs[entity * stateCount + state]!;
  const sampled = held.has(kind) ? Math.max(0, onStack - sums.waitingNs[entity]!) : 0;
  const holdNs = exact ? row.holdNs : sampled;
  return {
    capacity: row.capacity,
    instances: row.instances,
    acquisitions: row.acquisitions,
    contended: row.contended,
    waitNs: row.waitNs,
    waitMeanNs: row.contended > 0 ? row.waitNs / row.contended : 0,
    waitMaxNs: row.waitMaxNs,
    spinNs: row.spinNs,
    waitDistribution: timeDistribution(row.waitHist),
    holdNs,
    holdMeanNs: row.acquisitions > 0 ? holdNs / row.acquisitions : 0,
    holdMaxNs: exact ? row.holdMaxNs : 0,
    holdExact: exact,
    holdDistribution: exact ? timeDistribution(row.holdHist) : [],
    queueLengthMean: row.observedNs > 0 ? row.queueLengthNs / row.observedNs : 0,
    queueLength: queueDistribution(row.queueNs),
    queueObservedNs: row.observedNs,
    waiters: waitersOf(raw, stacks, sums, members.length > 0 ? members : [entity]),
    holders: blame.byObject.get(entity) ?? [],
    meanwhile: blame.meanwhile.get(entity) ?? [],
    criticalByBusyNs: sums.byBusy[entity] ?? new Float64Array(raw.head.processors),
  };
}
