/**
 * Where in the tree of stacks elapsed time is lost: the busy tuples, sorted by stack, each with what it
 * lost (time that more parallelism would have saved). A context is a set of nodes: "what ran in f, called, however
 * deep, from g". Pure.
 */
import { addAt, countAt, f64, item, u16, u32, u8 } from '../profile/columns.js';
import type { RawProfile } from '../profile/raw-profile.js';
import type { Tables } from '../metrics/tables.js';
import type { Own } from './code-origin.js';
import type { RowsBy } from '../profile/row-index.js';
import type { Stacks } from '../profile/stack-tree.js';
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

/**
 * Goes down to where the loss concentrates: into the entity that has half of it or more on its stacks, wherever it was
 * called from; what that leaves is looked at in the same way. Where no entity has half, a context is reported as it is
 * if it is one piece of the program (a serial phase, or code that one set of threads runs together), else piecemeal.
 */
export function concentrate(
  raw: RawProfile,
  { stacks, weights }: Tables,
  contexts: Contexts,
  least: number,
): Context[] {
  const found: Context[] = [];
  const { lostSelf, atWork } = contexts;
  const sum = (members: readonly number[]): number => members.reduce((total, n) => total + f64(lostSelf, n), 0);
  const all: number[] = [];
  for (let n = 0; n < stacks.count; n++) if (atWork[n] === 1) all.push(n);
  const whole = sum(all);
  const inclusive = new Inclusive(stacks, contexts.own, lostSelf, raw.entities.length);

  const isInside = new Uint8Array(stacks.count); // in the split numbered so in `splitOf`
  const splitOf = new Uint32Array(stacks.count);
  let splits = 0;
  /**
   * Those of the members that have the entity on their path, and the others. Only nodes on paths of members are looked
   * at.
   */
  const split = (members: readonly number[], entity: number): [number[], number[]] => {
    const { parent, entity: entityOf } = stacks;
    const yes: number[] = [],
      no: number[] = [];
    splits++;
    for (const node of members) {
      let known = node;
      while (known !== 0 && splitOf[known] !== splits && entityOf[known] !== entity) known = u32(parent, known);
      const answer = known === 0 ? 0 : splitOf[known] === splits ? u8(isInside, known) : 1;
      for (let n = node; n !== 0 && splitOf[n] !== splits; n = u32(parent, n)) {
        splitOf[n] = splits;
        isInside[n] = answer;
        if (n === known) break;
      }
      (answer === 1 ? yes : no).push(node);
    }
    return [yes, no];
  };
  const isPhase = (entity: number, members: readonly number[], first: number, second: number): boolean => {
    if (entity === 0 || members.some((node) => isBottom(node, entity))) return false;
    const stats = statsOf(raw, contexts, weights, members);
    let most = 0;
    for (const cost of stats.threads.cost) most = Math.max(most, cost);
    if (most >= 0.9 * stats.cost) return sum(members) < whole / 2 && stats.cost >= 0.75 * stats.npt;
    if (first === 0 || second === 0) return true;
    const threadsOf = (e: number): ContextStats['threads'] =>
      statsOf(raw, contexts, weights, split(members, e)[0]).threads;
    return similarity(threadsOf(first), threadsOf(second)) > 0.5;
  };
  /** Is the entity where the stack begins? Then it is the program, or a thread, rather than a piece of it. */
  const isBottom = (node: number, entity: number): boolean => {
    let n = node;
    while (n !== 0 && stacks.parent[n] !== 0) n = u32(stacks.parent, n);
    return n !== 0 && stacks.entity[n] === entity;
  };

  /**
   * Of a procedure that serves several pieces of the program, run by other threads each: what calls it in that with
   * most of the loss; 0: it is one piece, or a small one has the rest.
   */
  const callerApart = (members: readonly number[], entity: number): number => {
    const { parent, entity: entityOf } = stacks;
    const byCaller = new Map<number, number[]>();
    for (const node of members) {
      let at = 0;
      for (let n = node; n !== 0; n = u32(parent, n)) if (entityOf[n] === entity) at = n;
      let n = at === 0 ? 0 : u32(parent, at);
      while (n !== 0 && (contexts.own.hidden[n] === 1 || item(raw.entities, u32(entityOf, n)).kind !== 'procedure'))
        n = u32(parent, n);
      if (n === 0 || isBottom(n, u32(entityOf, n))) continue;
      const known = byCaller.get(u32(entityOf, n));
      if (known) known.push(node);
      else byCaller.set(u32(entityOf, n), [node]);
    }
    const [most, ...others] = [...byCaller]
      .map(([caller, nodes]) => ({ caller, nodes, lost: sum(nodes) }))
      .filter(({ lost }) => lost >= least)
      .sort((a, b) => b.lost - a.lost);
    if (!most) return 0;
    const threadsOf = (nodes: number[]): ThreadTimes => statsOf(raw, contexts, weights, nodes).threads;
    const mine = threadsOf(most.nodes);
    return others.some(({ nodes }) => similarity(mine, threadsOf(nodes)) <= 0.5) ? most.caller : 0;
  };

  const explore = (entity: number, members: number[], path: ReadonlySet<number>, within: number): void => {
    let rest = members;
    for (let total = sum(rest); total >= least; total = sum(rest)) {
      const own: number[] = [],
        called: number[] = [];
      for (const node of rest) (contexts.own.owner[node] === entity ? own : called).push(node);
      const ownLost = sum(own);
      const { first, second, half, most } = inclusive.of(rest, path, total / 2);
      if (ownLost >= total / 2 || first === 0) {
        found.push({ entity, members: first === 0 ? rest : own, self: true, within });
        if (first === 0) return;
        rest = called;
        continue;
      }
      if (half === 0 && isPhase(entity, rest, first, second)) {
        found.push({ entity, members: rest, self: false, within });
        return;
      }
      const next = half !== 0 ? half : most >= least ? first : 0;
      if (next === 0) {
        found.push({ entity, members: rest, self: false, within });
        return;
      }
      const caller = callerApart(rest, next);
      const into = caller !== 0 && caller !== entity && !path.has(caller) ? caller : next;
      const [inside, outside] = split(rest, into);
      explore(into, inside, new Set([...path, into]), into === next ? within : into);
      rest = outside;
    }
  };
  explore(0, all, new Set(), 0);
  return found;
}

/**
 * What each entity loses inclusively, in a set of stacks: summed from the tops of the stacks down, over the nodes on
 * their paths.
 */
class Inclusive {
  readonly #below: Float64Array; // by node; all 0 between calls
  readonly #totals: Float64Array; // by entity; all 0 between calls
  readonly #marked: Uint8Array; // by node: on a path, and yet to come; all 0 between calls
  readonly #above: Uint32Array; // by node: how many marked nodes stand right above it; all 0 between calls
  constructor(
    private readonly stacks: Stacks,
    private readonly own: Own,
    private readonly lostSelf: Float64Array,
    entities: number,
  ) {
    this.#below = new Float64Array(stacks.count);
    this.#totals = new Float64Array(entities);
    this.#marked = new Uint8Array(stacks.count);
    this.#above = new Uint32Array(stacks.count);
  }

  /**
   * Leaving out the entities on `path`, and run-time libraries: the two with most (of equal ones the outermost), and
   * the one with least that has `enough` (of equal ones the innermost); 0 = none. Sums of the same numbers in another
   * order count as equal.
   */
  of(
    members: readonly number[],
    path: ReadonlySet<number>,
    enough: number,
  ): { first: number; second: number; half: number; most: number } {
    const { parent, entity, first: isFirst } = this.stacks;
    const below = this.#below,
      totals = this.#totals,
      marked = this.#marked,
      above = this.#above;
    for (const node of members) {
      below[node] = f64(this.lostSelf, node);
      for (let n = node; n !== 0 && marked[n] === 0;) {
        marked[n] = 1;
        n = u32(parent, n);
        countAt(above, n);
      }
    }
    const met: number[] = []; // on each path innermost first
    for (const node of members) {
      for (let n = node; n !== 0 && marked[n] === 1 && above[n] === 0;) {
        // all that is above it has been added to it
        const lost = f64(below, n);
        below[n] = marked[n] = 0;
        if (lost !== 0 && isFirst[n] === 1 && this.own.hidden[n] === 0) {
          const e = u32(entity, n);
          if (totals[e] === 0) met.push(e);
          addAt(totals, e, lost);
        }
        n = u32(parent, n);
        addAt(below, n, lost);
        countAt(above, n, -1);
      }
    }
    below[0] = 0;
    let first = 0,
      second = 0,
      half = 0;
    const exceeds = (a: number, b: number): boolean => a > b * (1 + 1e-12);
    for (const e of met) {
      if (path.has(e)) continue;
      const lost = f64(totals, e);
      if (!exceeds(f64(totals, first), lost)) {
        second = first;
        first = e;
      } else if (!exceeds(f64(totals, second), lost)) second = e;
      if (!exceeds(enough, lost) && (half === 0 || exceeds(f64(totals, half), lost))) half = e;
    }
    const most = f64(totals, first);
    for (const e of met) totals[e] = 0;
    return { first, second, half, most };
  }
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
