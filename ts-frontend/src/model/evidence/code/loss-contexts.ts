/**
 * Where in the tree of stacks elapsed time is lost: busy tuples sorted by stack, each with its loss (the time that more
 * parallelism would have saved). A context is a set of nodes, such as "what ran in f, however deep, called from g".
 * Pure functions.
 */
import { addAt, f64, item, u16, u32, u8 } from '../../profile/columns.js';
import type { RawProfile } from '../../profile/raw-profile.js';
import type { Tables } from '../../metrics/tables.js';
import type { Own } from '../code-origin.js';
import type { RowsBy } from '../../profile/row-index.js';
import { isBusy } from '../../metrics/sums.js';

export interface Contexts {
  byStack: RowsBy; // tuples of each stack
  busy: Float64Array; // by tuple: the number of busy processors, without a run-time's background work
  own: Own;
  lost: Float64Array; // by tuple: ns (1/b - 1/P), times the unexplained share; 0 if not busy
  unexplained: Float64Array; // by tuple: the unexplained share
  lostSelf: Float64Array; // by node: loss of tuples with exactly this stack
  atWork: Uint8Array; // by node: whether it has busy tuples
  byThread: Record<'time' | 'cost' | 'at', Float64Array>; // scratch memory of statsOf
}

export function prepareContexts(
  raw: RawProfile,
  { stacks, byStack, weights }: Tables,
  own: Own,
  unexplained: Float64Array,
  busyOf: (tuple: number) => number,
): Contexts {
  const { tuples, head } = raw;
  const P = head.processors;
  const lost = new Float64Array(weights.length);
  const lostSelf = new Float64Array(stacks.count);
  const busy = new Float64Array(weights.length);
  const atWork = new Uint8Array(stacks.count);
  for (let k = 0; k < weights.length; k++) {
    if (!isBusy(u8(tuples.state, k))) continue;
    const b = Math.min(P, Math.max(1, busyOf(k)));
    busy[k] = b;
    const stack = u32(tuples.stack, k);
    lost[k] = f64(weights, k) * (shareAt(b, P).npt - 1 / P) * f64(unexplained, k);
    addAt(lostSelf, stack, f64(lost, k));
    atWork[stack] = 1;
  }
  const scratch = (): Float64Array => new Float64Array(raw.entities.length);
  return {
    byStack,
    busy,
    own,
    lost,
    unexplained,
    lostSelf,
    atWork,
    byThread: { time: scratch(), cost: scratch(), at: scratch() },
  };
}

/**
 * What a fraction of busy processors means: for part of the time there were as many as its whole part, and otherwise
 * one more. `npt` and `cost`: elapsed time for each ns of processor time, and that while fewer than `P` were busy;
 * `alone`: the part of the time for which one was.
 */
export function shareAt(busy: number, P: number): { npt: number; cost: number; alone: number } {
  const low = Math.floor(busy),
    more = busy - low;
  const at = (b: number, part: number): number => (part === 0 ? 0 : part / b);
  return {
    npt: at(low, 1 - more) + at(low + 1, more),
    cost: (low < P ? at(low, 1 - more) : 0) + (low + 1 < P ? at(low + 1, more) : 0),
    alone: low === 1 ? 1 - more : 0,
  };
}

export interface ContextStats {
  lost: number;
  lostAlone: number; // part of `lost` while no other thread was at work
  cost: number; // elapsed time (ns/b) while b < P, unexplained share
  background: number; // part of `cost` in which all processors were busy, counting a run-time's background work
  time: number; // processor time at all levels
  npt: number;
  nptBeside: number; // part of `npt` while other threads were at work
  timeBeside: number; // part of `time` while other threads were at work
  costBusy: number;
  costSpinning: number;
  costReady: number; // means over cost
  threads: ThreadTimes;
}
/**
 * The threads that ran the code, with time and cost of each. Columns, because a program may have thousands of threads.
 */
export interface ThreadTimes {
  ids: number[];
  time: number[];
  cost: number[];
}

/** Adds a tuple of the context; `byThread` is all 0 between calls of statsOf. */
function addTuple(
  stats: ContextStats,
  { tuples, head }: RawProfile,
  contexts: Contexts,
  weight: number,
  k: number,
): void {
  const P = head.processors;
  const b = Math.min(P, Math.max(1, u16(tuples.busy, k)));
  const its = shareAt(f64(contexts.busy, k), P);
  const npt = weight * its.npt,
    alone = weight * its.alone;
  const cost = weight * its.cost * f64(contexts.unexplained, k);
  const lost = f64(contexts.lost, k);
  stats.time += weight;
  stats.npt += npt;
  stats.nptBeside += npt - alone;
  stats.timeBeside += weight - alone;
  stats.lostAlone += alone * (1 - 1 / P) * f64(contexts.unexplained, k);
  stats.lost += lost;
  const { time, cost: costs, at: seen } = contexts.byThread;
  const thread = u32(tuples.thread, k);
  if (seen[thread] === 0) seen[thread] = stats.threads.ids.push(thread);
  addAt(time, thread, weight);
  addAt(costs, thread, cost);
  if (cost === 0) return;
  const spinning = u16(tuples.spinning, k);
  stats.cost += cost;
  if (b === P) stats.background += cost;
  stats.costBusy += cost * b;
  stats.costSpinning += cost * spinning;
  stats.costReady += cost * Math.max(0, u32(tuples.runnable, k) - b - spinning);
}

export function statsOf(
  raw: RawProfile,
  contexts: Contexts,
  weights: Float64Array,
  members: readonly number[],
): ContextStats {
  const stats: ContextStats = {
    lost: 0,
    lostAlone: 0,
    cost: 0,
    background: 0,
    time: 0,
    npt: 0,
    nptBeside: 0,
    timeBeside: 0,
    costBusy: 0,
    costSpinning: 0,
    costReady: 0,
    threads: { ids: [], time: [], cost: [] },
  };
  const { start, order } = contexts.byStack;
  for (const node of members)
    for (let at = u32(start, node), end = u32(start, node + 1); at < end; at++) {
      const k = u32(order, at);
      if (isBusy(u8(raw.tuples.state, k))) addTuple(stats, raw, contexts, f64(weights, k), k);
    }
  const { time: timeOf, cost: costOf, at: seen } = contexts.byThread;
  const { ids, time, cost: costs } = stats.threads;
  for (const thread of ids) {
    time.push(f64(timeOf, thread));
    costs.push(f64(costOf, thread));
    timeOf[thread] = costOf[thread] = seen[thread] = 0;
  }
  if (stats.cost > 0) {
    stats.costBusy /= stats.cost;
    stats.costSpinning /= stats.cost;
    stats.costReady /= stats.cost;
  }
  return stats;
}

/**
 * A context where lost time concentrates. `self`: only the entity's own code, including run-time libraries that it
 * calls.
 */
export interface Context {
  entity: number;
  members: number[];
  self: boolean;
  // the caller that distinguishes it from the same entity called elsewhere by other threads; 0: any caller
  within: number;
}

/** Cosine similarity of two distributions of processor time over threads. */
export function similarity(a: ThreadTimes, b: ThreadTimes): number {
  const timeIn = new Map(b.ids.map((thread, k) => [thread, item(b.time, k)]));
  let dot = 0,
    aa = 0,
    bb = 0;
  for (const [k, time] of a.time.entries()) {
    dot += time * (timeIn.get(item(a.ids, k)) ?? 0);
    aa += time ** 2;
  }
  for (const time of b.time) bb += time ** 2;
  return aa > 0 && bb > 0 ? dot / Math.sqrt(aa * bb) : 0;
}
