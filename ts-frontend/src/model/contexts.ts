/**
 * Where in the tree of stacks elapsed time is lost: the busy tuples, sorted by stack, each with what it
 * lost (time that more parallelism would have saved). A context is a set of nodes: "what ran in f, called, however
 * deep, from g". Pure.
 */
import type { RawProfile } from './raw.js';
import { State } from './raw.js';
import type { Stacks } from './stacks.js';
import { addTo } from './levels.js';

export interface Contexts {
  order: Uint32Array;         // busy tuples by stack
  start: Uint32Array;         // by node: first of its tuples in `order`; one more at the end
  lost: Float64Array;         // by tuple: ns (1/b - 1/P), times the part that nothing else explains
  unexplained: Float64Array;  // by tuple: that part
  lostSelf: Float64Array;     // by node: lost in tuples with this very stack
}

export function prepareContexts(raw: RawProfile, stacks: Stacks, weights: Float64Array, unexplained: Float64Array): Contexts {
  const { tuples, head } = raw;
  const P = head.processors;
  const counts = new Uint32Array(stacks.count + 1);
  const isBusy = (k: number): boolean => tuples.state[k] === State.useful || tuples.state[k] === State.overhead;
  let total = 0;
  for (let k = 0; k < weights.length; k++)
    if (isBusy(k)) {
      counts[tuples.stack[k] + 1]!++;
      total++;
    }
  for (let n = 0; n < stacks.count; n++) counts[n + 1]! += counts[n];
  const start = counts.slice();
  const order = new Uint32Array(total);
  const lost = new Float64Array(weights.length);
  const lostSelf = new Float64Array(stacks.count);
  for (let k = 0; k < weights.length; k++) {
    if (!isBusy(k)) continue;
    order[counts[tuples.stack[k]]!++] = k;
    const b = Math.min(P, Math.max(1, tuples.busy[k]));
    lost[k] = weights[k] * (1 / b - 1 / P) * unexplained[k];
    lostSelf[tuples.stack[k]]! += lost[k];
  }
  return { order, start, lost, unexplained, lostSelf };
}

export interface ContextStats {
  lost: number;
  cost: number;               // elapsed time (ns/b) while b < P, unexplained part
  time: number;               // processor time, all levels
  npt: number;
  nptBeside: number;          // of npt: while others were at work too
  timeBeside: number;         // of time: likewise
  costBusy: number; costSpinning: number; costReady: number; // means over cost
  threads: Map<number, { time: number; cost: number; lost: number }>;
  costAt: Map<number, number>;// level -> cost
}

export function statsOf(raw: RawProfile, contexts: Contexts, weights: Float64Array,
  members: readonly number[]): ContextStats {
  const { tuples, head } = raw;
  const P = head.processors;
  const stats: ContextStats = {
    lost: 0, cost: 0, time: 0, npt: 0, nptBeside: 0, timeBeside: 0, costBusy: 0, costSpinning: 0, costReady: 0,
    threads: new Map(), costAt: new Map(),
  };
  for (const node of members) for (let at = contexts.start[node]; at < contexts.start[node + 1]; at++) {
    const k = contexts.order[at];
    const b = Math.min(P, Math.max(1, tuples.busy[k]));
    const npt = weights[k] / b;
    const cost = b < P ? npt * contexts.unexplained[k] : 0;
    stats.time += weights[k];
    stats.npt += npt;
    if (b > 1) {
      stats.nptBeside += npt;
      stats.timeBeside += weights[k];
    }
    stats.lost += contexts.lost[k];
    let thread = stats.threads.get(tuples.thread[k]);
    if (!thread) stats.threads.set(tuples.thread[k], (thread = { time: 0, cost: 0, lost: 0 }));
    thread.time += weights[k];
    thread.cost += cost;
    thread.lost += contexts.lost[k];
    if (cost > 0) {
      stats.cost += cost;
      stats.costBusy += cost * b;
      stats.costSpinning += cost * tuples.spinning[k];
      stats.costReady += cost * Math.max(0, tuples.runnable[k] - b - tuples.spinning[k]);
      addTo(stats.costAt, b * (P + 1) + tuples.spinning[k], cost);
    }
  }
  if (stats.cost > 0) {
    stats.costBusy /= stats.cost;
    stats.costSpinning /= stats.cost;
    stats.costReady /= stats.cost;
  }
  return stats;
}

/** Adds `more` to `stats`: several contexts of one entity. */
export function mergeStats(stats: ContextStats, more: ContextStats): void {
  const cost = stats.cost + more.cost;
  if (cost > 0) {
    stats.costBusy = (stats.costBusy * stats.cost + more.costBusy * more.cost) / cost;
    stats.costSpinning = (stats.costSpinning * stats.cost + more.costSpinning * more.cost) / cost;
    stats.costReady = (stats.costReady * stats.cost + more.costReady * more.cost) / cost;
  }
  stats.lost += more.lost;
  stats.cost = cost;
  stats.time += more.time;
  stats.npt += more.npt;
  stats.nptBeside += more.nptBeside;
  stats.timeBeside += more.timeBeside;
  for (const [thread, row] of more.threads) {
    const known = stats.threads.get(thread);
    if (!known) stats.threads.set(thread, { ...row });
    else {
      known.time += row.time;
      known.cost += row.cost;
      known.lost += row.lost;
    }
  }
  for (const [level, ns] of more.costAt) addTo(stats.costAt, level, ns);
}

/** A context where lost time concentrates. `self`: only the entity's own code. */
export interface Context { entity: number; members: number[]; self: boolean }

/**
 * Goes down to where the loss concentrates: into the entity that has half of it or more on its stacks, wherever it was
 * called from; what that leaves is looked at in the same way. Where no entity has half, a context is reported as it is
 * if it is one piece of the program (a serial phase, or code that one set of threads runs together), else piecemeal.
 */
export function concentrate(raw: RawProfile, stacks: Stacks, contexts: Contexts, weights: Float64Array, least: number): Context[] {
  const found: Context[] = [];
  const { lostSelf } = contexts;
  const sum = (members: readonly number[]): number => members.reduce((total, n) => total + lostSelf[n], 0);
  const all: number[] = [];
  for (let n = 0; n < stacks.count; n++) if (contexts.start[n + 1] > contexts.start[n]) all.push(n);
  const whole = sum(all);
  const seen = new Int32Array(raw.entities.length).fill(-1);
  let stamp = 0;

  const has = (node: number, entity: number): boolean => {
    for (let n = node; n !== 0; n = stacks.parent[n]) if (stacks.entity[n] === entity) return true;
    return false;
  };
  const inclusive = (members: readonly number[], path: ReadonlySet<number>): [number, number][] => {
    const totals = new Map<number, number>();
    for (const node of members) {
      if (lostSelf[node] === 0) continue;
      stamp++;
      for (let n = node; n !== 0; n = stacks.parent[n]) {
        const e = stacks.entity[n];
        if (seen[e] === stamp) continue;
        seen[e] = stamp;
        if (!path.has(e)) addTo(totals, e, lostSelf[node]);
      }
    }
    return [...totals];
  };
  const split = (members: readonly number[], test: (node: number) => boolean): [number[], number[]] => {
    const yes: number[] = [], no: number[] = [];
    for (const node of members) (test(node) ? yes : no).push(node);
    return [yes, no];
  };
  const isPhase = (entity: number, members: readonly number[], shares: [number, number][]): boolean => {
    if (entity === 0 || members.some((node) => isBottom(node, entity))) return false;
    const stats = statsOf(raw, contexts, weights, members);
    let most = 0;
    for (const row of stats.threads.values()) most = Math.max(most, row.cost);
    if (most >= 0.9 * stats.cost) return sum(members) < whole / 2 && stats.cost >= 0.75 * stats.npt;
    const [first, second] = shares;
    if (!first || !second) return true;
    const threadsOf = (e: number): ContextStats['threads'] =>
      statsOf(raw, contexts, weights, members.filter((node) => has(node, e))).threads;
    return similarity(threadsOf(first[0]), threadsOf(second[0])) > 0.5;
  };
  /** Is the entity where the stack begins? Then it is the program, or a thread, rather than a piece of it. */
  const isBottom = (node: number, entity: number): boolean => {
    let n = node;
    while (n !== 0 && stacks.parent[n] !== 0) n = stacks.parent[n];
    return n !== 0 && stacks.entity[n] === entity;
  };

  const explore = (entity: number, members: number[], path: ReadonlySet<number>): void => {
    let rest = members;
    for (let total = sum(rest); total >= least; total = sum(rest)) {
      const [own, called] = split(rest, (node) => node !== 0 ? stacks.entity[node] === entity : entity === 0);
      const shares = inclusive(rest, path).sort((a, b) => a[1] - b[1]);
      const ownLost = sum(own);
      if (ownLost >= total / 2 || shares.length === 0) {
        found.push({ entity, members: shares.length === 0 ? rest : own, self: true });
        if (shares.length === 0) return;
        rest = called;
        continue;
      }
      const concentrated = shares.find(([, lost]) => lost >= total / 2);
      shares.reverse();
      if (!concentrated && isPhase(entity, rest, shares)) {
        found.push({ entity, members: rest, self: false });
        return;
      }
      const next = concentrated ?? (shares[0]![1] >= least ? shares[0] : undefined);
      if (!next) {
        found.push({ entity, members: rest, self: false });
        return;
      }
      const [inside, outside] = split(rest, (node) => has(node, next[0]));
      explore(next[0], inside, new Set([...path, next[0]]));
      rest = outside;
    }
  };
  explore(0, all, new Set());
  return found;
}

/** Cosine of two ways in which processor time is divided among threads. */
function similarity(a: Map<number, { time: number }>, b: Map<number, { time: number }>): number {
  let dot = 0, aa = 0, bb = 0;
  for (const [thread, row] of a) {
    dot += row.time * (b.get(thread)?.time ?? 0);
    aa += row.time ** 2;
  }
  for (const row of b.values()) bb += row.time ** 2;
  return aa > 0 && bb > 0 ? dot / Math.sqrt(aa * bb) : 0;
}
