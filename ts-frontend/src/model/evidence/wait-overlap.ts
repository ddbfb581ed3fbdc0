/**
 * Who ran while threads waited and processors were idle: pairs from the same snapshots (abi/profile_rows.h, struct
 * qz_wait_overlap). Findings join the two sides of a loss by them. Pure functions.
 */
import { addAt, f64, u16, u32, u8 } from '../profile/columns.js';
import type { RawProfile } from '../profile/raw-profile.js';
import { addTo } from '../profile/maps.js';
import { housekeepingWaits } from '../metrics/housekeeping.js';
import { State, Waiting } from '../profile/raw-profile.js';

/** Elapsed time (time / b) with waiters of one object, by the stack that ran. */
export interface Beside {
  ns: Map<number, number>;
  waitersNs: Map<number, number>;
}

export interface WaitOverlap {
  byObject: Map<number, Beside>; // object 0: input and output
  costOfNode: Float64Array; // elapsed time (ns / b) at b < P that each stack ran, as recorded
  idleOfNode: Float64Array; // mean number of processors that were not busy during that time
}

/** By stack: weighted elapsed time (ns / b) in which it ran at b < P. */
export function costsBesideIdle(
  { tuples, head, stacks }: RawProfile,
  weightOf: (busy: number) => number = () => 1,
): Float64Array {
  const costs = new Float64Array(Math.max(1, stacks.parent.length));
  for (let k = 0; k < tuples.ns.length; k++) {
    const state = u8(tuples.state, k),
      b = u16(tuples.busy, k);
    if ((state === State.useful || state === State.overhead) && b > 0 && b < head.processors)
      addAt(costs, u32(tuples.stack, k), (f64(tuples.ns, k) / b) * weightOf(b));
  }
  return costs;
}

/** By object: the share of its waits by the program's threads, rather than by a run-time's own. */
function ofProgram(raw: RawProfile): Map<number, number> {
  const { tuples, stacks } = raw;
  const isHousekeeping = housekeepingWaits(raw);
  const all = new Map<number, number>(),
    its = new Map<number, number>();
  for (let k = 0; k < tuples.ns.length; k++) {
    if (tuples.waiting[k] === Waiting.none) continue;
    const object = u32(stacks.entity, u32(tuples.stack, k));
    addTo(all, object, f64(tuples.ns, k));
    if (!isHousekeeping(k)) addTo(its, object, f64(tuples.ns, k));
  }
  for (const [object, ns] of all) all.set(object, ns > 0 ? (its.get(object) ?? 0) / ns : 1);
  return all;
}

export function prepareWaitOverlap(raw: RawProfile): WaitOverlap {
  const { waitOverlap } = raw;
  const part = ofProgram(raw);
  // No thread whose waits are part of the program's times waits for an object that has none of these.
  const partOf = (object: number): number => (object === 0 ? 1 : (part.get(object) ?? 0));
  const byObject = new Map<number, Beside>();
  for (let k = 0; k < waitOverlap.ns.length; k++) {
    const object = u32(waitOverlap.object, k);
    let row = byObject.get(object);
    if (!row) byObject.set(object, (row = { ns: new Map<number, number>(), waitersNs: new Map<number, number>() }));
    addTo(row.ns, u32(waitOverlap.stack, k), f64(waitOverlap.ns, k));
    addTo(row.waitersNs, u32(waitOverlap.stack, k), f64(waitOverlap.waitersNs, k) * partOf(object));
  }
  const costOfNode = costsBesideIdle(raw);
  const idleOfNode = costsBesideIdle(raw, (b) => raw.head.processors - b);
  for (let n = 0; n < costOfNode.length; n++)
    if (f64(costOfNode, n) > 0) idleOfNode[n] = f64(idleOfNode, n) / f64(costOfNode, n);
  return { byObject, costOfNode, idleOfNode };
}

/**
 * The mean number of threads that waited for each object during the time (at b < P) in which one of these stacks ran.
 */
export function waitersBeside({ byObject, costOfNode }: WaitOverlap, members: readonly number[]): Map<number, number> {
  const means = new Map<number, number>();
  let cost = 0;
  for (const node of members) cost += costOfNode[node] ?? 0;
  if (cost <= 0) return means;
  const inside = new Set(members);
  for (const [object, { waitersNs }] of byObject) {
    let sum = 0;
    for (const [node, ns] of waitersNs) if (inside.has(node)) sum += ns;
    if (object !== 0 && sum > 0) means.set(object, sum / cost);
  }
  return means;
}
