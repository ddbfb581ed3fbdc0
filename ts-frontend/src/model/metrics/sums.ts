/**
 * The sums over tuples that every metric is made of: for each entity (root, entities of the profile, groups) the
 * processor time by b, inclusive and self, and the time in each state.
 *
 * A tuple counts for every entity on its stack. Stacks share their beginnings, so what lies below a node is summed
 * once, from the tops down to the root, and each entity is charged with the sum below the nodes where it is first on
 * its path: a million tuples cost one visit each, not one for each procedure on their stacks. Pure.
 */
import { addAt, f64, i32, u16, u32, u8 } from '../profile/columns.js';
import type { RawProfile } from '../profile/raw-profile.js';
import { State, Waiting } from '../profile/raw-profile.js';
import type { RowsBy } from '../profile/row-index.js';
import type { Stacks } from '../profile/stack-tree.js';

export const stateCount = 6; // useful, overhead, spinning, ready, blocked, io: State - 1

export interface Sums {
  processors: number;
  /** Row of an entity in byBusy and byBusySelf; 0: it has no processor time (row 0 contains zeros). */
  row: Uint32Array;
  byBusy: Float64Array; // T_i: row * P + i - 1
  byBusySelf: Float64Array;
  npt: Float64Array; // Σ T_i / i
  nptSelf: Float64Array;
  time: Float64Array; // Σ T_i
  idleness: Float64Array;
  spinBlame: Float64Array;
  rawNpt: Float64Array; // before compensation, for intervals
  stateNs: Float64Array; // entity * stateCount + state - 1
  stateRunnableNs: Float64Array; // Σ r * ns
  // for an object: time that threads wait for it, or have been woken and are about to run; they do not hold it
  waitingNs: Float64Array;
}

export const isBusy = (state: number): boolean => state === State.useful || state === State.overhead;
export const isWaiting = (state: number): boolean =>
  state === State.blocked || state === State.spinning || state === State.ready;

/** The sums below the current path, one row per depth. Only entries that may differ from zero are visited. */
class Below {
  readonly width: number;
  readonly values: Float64Array; // T_1 .. T_P, idleness, spin blame, raw NPT, then time and Σ r * ns of each state
  readonly at: Uint32Array; // where the row of a depth begins
  readonly low: Int32Array; // range of b that occurs
  readonly high: Int32Array;
  readonly states: Uint8Array; // bit k: state k + 1 occurs
  constructor(
    readonly P: number,
    deepest: number,
  ) {
    this.width = P + 3 + 2 * stateCount;
    this.values = new Float64Array((deepest + 2) * this.width);
    this.at = new Uint32Array(deepest + 2).map((_, depth) => depth * this.width);
    this.low = new Int32Array(deepest + 2).fill(P);
    this.high = new Int32Array(deepest + 2).fill(-1);
    this.states = new Uint8Array(deepest + 2);
  }
  /** Adds the row of one depth to that of the depth above, and clears it. */
  moveUp(depth: number): void {
    const { P, values, low, high, states, at } = this;
    const from = depth,
      to = depth - 1;
    if (states[to] === 0) {
      // the row above is empty: swap the rows instead of adding
      const row = u32(at, to);
      at[to] = u32(at, from);
      at[from] = row;
      low[to] = i32(low, from);
      high[to] = i32(high, from);
      states[to] = u8(states, from);
      low[from] = P;
      high[from] = -1;
      states[from] = 0;
      return;
    }
    const a = u32(at, from),
      b = u32(at, to);
    if (i32(high, from) >= 0) {
      for (let k = i32(low, from); k <= i32(high, from); k++) {
        addAt(values, b + k, f64(values, a + k));
        values[a + k] = 0;
      }
      for (let k = P; k < P + 3; k++) {
        addAt(values, b + k, f64(values, a + k));
        values[a + k] = 0;
      }
      if (i32(low, from) < i32(low, to)) low[to] = i32(low, from);
      if (i32(high, from) > i32(high, to)) high[to] = i32(high, from);
      low[from] = P;
      high[from] = -1;
    }
    for (let mask = u8(states, from), k = P + 3; mask !== 0; mask >>= 1, k += 2)
      if ((mask & 1) !== 0) {
        addAt(values, b + k, f64(values, a + k));
        addAt(values, b + k + 1, f64(values, a + k + 1));
        values[a + k] = values[a + k + 1] = 0;
      }
    states[to] = u8(states, to) | u8(states, from);
    states[from] = 0;
  }
}

/** Assigns rows to the entities that have processor time. */
function assignRows(
  raw: RawProfile,
  stacks: Stacks,
  groupOf: Uint32Array,
  entities: number,
): { row: Uint32Array; rows: number } {
  const { tuples } = raw;
  const atWork = new Uint8Array(stacks.count);
  const row = new Uint32Array(entities);
  let rows = 1;
  const give = (e: number): void => {
    if (row[e] === 0) row[e] = rows++;
  };
  give(0);
  for (let k = 0; k < tuples.ns.length; k++) {
    if (!isBusy(u8(tuples.state, k))) continue;
    atWork[u32(tuples.stack, k)] = 1;
    const thread = u32(tuples.thread, k);
    if (thread === 0 || row[thread] !== 0) continue;
    give(thread);
    if (u32(groupOf, thread) !== 0) give(u32(groupOf, thread));
  }
  for (let n = stacks.count - 1; n > 0; n--) {
    if (atWork[n] === 0) continue;
    atWork[u32(stacks.parent, n)] = 1;
    const e = u32(stacks.entity, n);
    if (row[e] !== 0) continue;
    give(e);
    if (u32(groupOf, e) !== 0) give(u32(groupOf, e));
  }
  return { row, rows };
}

/** The entities whose self time a node's tuples are, and their groups (0: none). */
interface Place {
  /** The innermost procedure, lock, ...; for a loop of code, the procedure that contains it. */
  self: number;
  selfGroup: number;
  /** The line and the loop of code at this node, and their groups: the time is their self time, too. */
  code: readonly number[];
}

const nowhere: Place = { self: 0, selfGroup: 0, code: [] };

/** Sums tuples by entity: node by node, each after all nodes below it. */
class TupleSums {
  readonly sums: Sums;
  readonly #P: number;
  readonly #below: Below;
  constructor(
    private readonly raw: RawProfile,
    private readonly stacks: Stacks,
    private readonly groupOf: Uint32Array,
    private readonly weights: Float64Array,
    entities: number,
  ) {
    const P = (this.#P = raw.head.processors);
    const { row, rows } = assignRows(raw, stacks, groupOf, entities);
    this.#below = new Below(P, stacks.deepest);
    this.sums = {
      processors: P,
      row,
      byBusy: new Float64Array(rows * P),
      byBusySelf: new Float64Array(rows * P),
      npt: new Float64Array(entities),
      nptSelf: new Float64Array(entities),
      time: new Float64Array(entities),
      idleness: new Float64Array(entities),
      spinBlame: new Float64Array(entities),
      rawNpt: new Float64Array(entities),
      stateNs: new Float64Array(entities * stateCount),
      stateRunnableNs: new Float64Array(entities * stateCount),
      waitingNs: new Float64Array(entities),
    };
  }

  /** The entities whose self time the node's time is. */
  place(n: number): Place {
    if (n === 0) return nowhere;
    const self = u32(this.stacks.owner, n);
    const top = u32(this.stacks.entity, n);
    return {
      self,
      selfGroup: u32(this.groupOf, self),
      code: top === self ? nowhere.code : this.#codeOf(top, u32(this.stacks.loop, n)),
    };
  }

  #codeOf(top: number, loop: number): number[] {
    const code: number[] = [];
    for (let e = top; e !== 0; e = e === top && loop !== top ? loop : 0) {
      code.push(e);
      if (u32(this.groupOf, e) !== 0) code.push(u32(this.groupOf, e));
    }
    return code;
  }

  /** Adds tuple `k` of a node with that depth and place. */
  tuple(k: number, depth: number, place: Place): void {
    const { tuples } = this.raw;
    const state = u8(tuples.state, k);
    if (state < 1 || state > stateCount) return;
    const weight = f64(this.weights, k);
    const thread = u32(tuples.thread, k);
    const threadGroup = thread === 0 ? 0 : u32(this.groupOf, thread);
    if (isBusy(state)) this.#atWork(k, weight, depth, thread, threadGroup, place);
    this.#inState(k, weight, depth, thread, threadGroup, state);
    if (place.self !== 0) this.#waiting(u8(tuples.waiting, k), state, weight, place);
  }

  #atWork(k: number, weight: number, depth: number, thread: number, threadGroup: number, place: Place): void {
    const { tuples } = this.raw,
      { byBusySelf, row } = this.sums,
      { values, low, high, at } = this.#below,
      P = this.#P;
    const b = Math.min(P, Math.max(1, u16(tuples.busy, k))),
      s = u16(tuples.spinning, k);
    const spinning = (weight * s) / b,
      idle = (weight * Math.max(0, P - b - s)) / b,
      rawShare = f64(tuples.ns, k) / b;
    const from = u32(at, depth);
    addAt(values, from + b - 1, weight);
    addAt(values, from + P, idle);
    addAt(values, from + P + 1, spinning);
    addAt(values, from + P + 2, rawShare);
    if (b <= i32(low, depth)) low[depth] = b - 1;
    if (b > i32(high, depth)) high[depth] = b - 1;
    addAt(byBusySelf, u32(row, place.self) * P + b - 1, weight);
    if (place.selfGroup !== 0) addAt(byBusySelf, u32(row, place.selfGroup) * P + b - 1, weight);
    for (const e of place.code) addAt(byBusySelf, u32(row, e) * P + b - 1, weight);
    if (thread !== 0) this.#byThread(thread, b, weight, idle, spinning, rawShare);
    if (threadGroup !== 0) this.#byThread(threadGroup, b, weight, idle, spinning, rawShare);
  }

  #byThread(e: number, b: number, weight: number, idle: number, spinning: number, rawShare: number): void {
    const { byBusy, byBusySelf, row, idleness, spinBlame, rawNpt } = this.sums;
    const at = u32(row, e) * this.#P + b - 1;
    addAt(byBusy, at, weight);
    addAt(byBusySelf, at, weight);
    addAt(idleness, e, idle);
    addAt(spinBlame, e, spinning);
    addAt(rawNpt, e, rawShare);
  }

  #inState(k: number, weight: number, depth: number, thread: number, threadGroup: number, state: number): void {
    const { tuples } = this.raw,
      { stateNs, stateRunnableNs } = this.sums,
      { values, states, at } = this.#below;
    const ns = f64(tuples.ns, k);
    const runnableNs = ns > 0 ? (f64(tuples.runnableNs, k) * weight) / ns : 0;
    const place = u32(at, depth) + this.#P + 1 + 2 * state;
    addAt(values, place, weight);
    addAt(values, place + 1, runnableNs);
    states[depth] = u8(states, depth) | (1 << (state - 1));
    for (let e = thread; e !== 0; e = e === thread ? threadGroup : 0) {
      addAt(stateNs, e * stateCount + state - 1, weight);
      addAt(stateRunnableNs, e * stateCount + state - 1, runnableNs);
    }
  }

  #waiting(waiting: number, state: number, weight: number, { self, selfGroup }: Place): void {
    if (waiting !== Waiting.woken && (waiting !== Waiting.object || !isWaiting(state))) return;
    addAt(this.sums.waitingNs, self, weight);
    if (selfGroup !== 0) addAt(this.sums.waitingNs, selfGroup, weight);
  }

  /** Charges the entity with the sums of that depth. */
  #charge(e: number, depth: number): void {
    const { byBusy, idleness, spinBlame, rawNpt, row, stateNs, stateRunnableNs } = this.sums,
      { values, low, high, states, at } = this.#below,
      P = this.#P;
    const from = u32(at, depth);
    const last = i32(high, depth);
    if (last >= 0) {
      const to = u32(row, e) * P;
      for (let k = i32(low, depth); k <= last; k++) addAt(byBusy, to + k, f64(values, from + k));
      addAt(idleness, e, f64(values, from + P));
      addAt(spinBlame, e, f64(values, from + P + 1));
      addAt(rawNpt, e, f64(values, from + P + 2));
    }
    for (let mask = u8(states, depth), k = 0; mask !== 0; mask >>= 1, k++)
      if ((mask & 1) !== 0) {
        addAt(stateNs, e * stateCount + k, f64(values, from + P + 3 + 2 * k));
        addAt(stateRunnableNs, e * stateCount + k, f64(values, from + P + 4 + 2 * k));
      }
  }

  /** Called when the tuples of the node and of all nodes below it have been added. */
  node(n: number, depth: number): void {
    if (u8(this.#below.states, depth) === 0) return;
    if (n === 0) {
      this.#charge(0, depth);
      return;
    }
    const top = u32(this.stacks.entity, n);
    if (u8(this.stacks.first, n) === 1) this.#charge(top, depth);
    if (u8(this.stacks.firstOfGroup, n) === 1) this.#charge(u32(this.groupOf, top), depth);
    this.#below.moveUp(depth);
  }

  /** Computes T and NPT from the times by b. */
  finish(): Sums {
    const { byBusy, byBusySelf, row, time, npt, nptSelf } = this.sums;
    for (let e = 0; e < npt.length; e++)
      for (let k = 0, from = u32(row, e) * this.#P; k < this.#P && from > 0; k++) {
        addAt(time, e, f64(byBusy, from + k));
        addAt(npt, e, f64(byBusy, from + k) / (k + 1));
        addAt(nptSelf, e, f64(byBusySelf, from + k) / (k + 1));
      }
    return this.sums;
  }
}

/** `weights`: ns of each tuple, compensated or not. `groupOf`: the group of each entity of the profile, 0 = none. */
export function sumTuples(
  raw: RawProfile,
  stacks: Stacks,
  byStack: RowsBy,
  groupOf: Uint32Array,
  weights: Float64Array,
  entities: number,
): Sums {
  const all = new TupleSums(raw, stacks, groupOf, weights, entities);
  for (let at = stacks.order.length - 1; at >= 0; at--) {
    const n = u32(stacks.order, at);
    const depth = u32(stacks.depth, n) + 1; // depth at which the sums below this node are
    const begin = u32(byStack.start, n),
      end = u32(byStack.start, n + 1);
    const place = begin === end ? nowhere : all.place(n);
    for (let j = begin; j < end; j++) all.tuple(u32(byStack.order, j), depth, place);
    all.node(n, depth);
  }
  return all.finish();
}
