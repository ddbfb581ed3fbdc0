/**
 * Where in the tree of stacks elapsed time is lost: the busy tuples, sorted by stack, each with what it
 * lost (time that more parallelism would have saved). A context is a set of nodes: "what ran in f, called, however
 * deep, from g". Pure.
 */
import { addAt, f64, item, u16, u32, u8 } from '../profile/columns.js';
import type { RawProfile } from '../profile/raw-profile.js';
import type { Tables } from '../metrics/tables.js';
import type { Own } from './code-origin.js';
import type { RowsBy } from '../profile/row-index.js';
import { isBusy } from '../metrics/sums.js';

export interface Contexts {
  byStack: RowsBy; // tuples of each stack
  own: Own;
  lost: Float64Array; // by tuple: ns (1/b - 1/P), times the part that nothing else explains; 0 where not busy
  unexplained: Float64Array; // by tuple: that part
  lostSelf: Float64Array; // by node: lost in tuples with this very stack
  atWork: Uint8Array; // by node: it has busy tuples
  byThread: Record<'time' | 'cost' | 'at', Float64Array>; // scratch of statsOf
}

export function prepareContexts(
  raw: RawProfile,
  { stacks, byStack, weights }: Tables,
  own: Own,
  unexplained: Float64Array,
): Contexts {
  const { tuples, head } = raw;
  const P = head.processors;
  const lost = new Float64Array(weights.length);
  const lostSelf = new Float64Array(stacks.count);
  const atWork = new Uint8Array(stacks.count);
  for (let k = 0; k < weights.length; k++) {
    if (!isBusy(u8(tuples.state, k))) continue;
    const b = Math.min(P, Math.max(1, u16(tuples.busy, k)));
    const stack = u32(tuples.stack, k);
    lost[k] = f64(weights, k) * (1 / b - 1 / P) * f64(unexplained, k);
    addAt(lostSelf, stack, f64(lost, k));
    atWork[stack] = 1;
  }
  const scratch = (): Float64Array => new Float64Array(raw.entities.length);
  return {
    byStack,
    own,
    lost,
    unexplained,
    lostSelf,
    atWork,
    byThread: { time: scratch(), cost: scratch(), at: scratch() },
  };
}

export interface ContextStats {
  lost: number;
  lostAlone: number; // of lost: while no other thread was at work
  cost: number; // elapsed time (ns/b) while b < P, unexplained part
  time: number; // processor time, all levels
  npt: number;
  nptBeside: number; // of npt: while others were at work too
  timeBeside: number; // of time: likewise
  costBusy: number;
  costSpinning: number;
  costReady: number; // means over cost
  threads: ThreadTimes;
}
/** Who ran it: threads, and the time and cost of each. Columns, for a program may have thousands. */
export interface ThreadTimes {
  ids: number[];
  time: number[];
  cost: number[];
}

/** One of the times at which the code ran; `byThread` is all 0 between two calls of statsOf. */
function addTuple(
  stats: ContextStats,
  { tuples, head }: RawProfile,
  contexts: Contexts,
  weight: number,
  k: number,
): void {
  const P = head.processors;
  const b = Math.min(P, Math.max(1, u16(tuples.busy, k)));
  const npt = weight / b;
  const cost = b < P ? npt * f64(contexts.unexplained, k) : 0;
  const lost = f64(contexts.lost, k);
  stats.time += weight;
  stats.npt += npt;
  if (b > 1) {
    stats.nptBeside += npt;
    stats.timeBeside += weight;
  } else stats.lostAlone += lost;
  stats.lost += lost;
  const { time, cost: costs, at: seen } = contexts.byThread;
  const thread = u32(tuples.thread, k);
  if (seen[thread] === 0) seen[thread] = stats.threads.ids.push(thread);
  addAt(time, thread, weight);
  addAt(costs, thread, cost);
  if (cost === 0) return;
  const spinning = u16(tuples.spinning, k);
  stats.cost += cost;
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
 * A context where lost time concentrates. `self`: only the entity's own code, run-time libraries that it calls
 * included.
 */
export interface Context {
  entity: number;
  members: number[];
  self: boolean;
  // distinguished from the same entity called elsewhere, by other threads: what it is called from; 0: wherever it was
  // called
  within: number;
}

/** Cosine of two ways in which processor time is divided among threads. */
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
