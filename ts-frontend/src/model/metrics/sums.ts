/**
 * The sums over tuples that every metric is made of: for each entity (root, entities of the profile, groups) the
 * processor time by b, inclusive and self, and the time in each state.
 *
 * A tuple counts for every entity on its stack. Stacks share their beginnings, so what lies below a node is summed
 * once, from the tops down to the root, and each entity is charged with the sum below the nodes where it is first on
 * its path: a million tuples cost one visit each, not one for each procedure on their stacks. Pure.
 */
import type { RawProfile } from '../profile/raw-profile.js';
import { State, Waiting } from '../profile/raw-profile.js';
import type { RowsBy } from '../profile/row-index.js';
import type { Stacks } from '../profile/stack-tree.js';

export const stateCount = 6; // useful, overhead, spinning, ready, blocked, io: State - 1

export interface Sums {
  processors: number;
  /** Row of an entity in byBusy and byBusySelf; 0: it has no processor time (row 0 is zero). */
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
  // of an object: time that threads wait for it, or have waited and are about to run: they do not hold it
  waitingNs: Float64Array;
}

export const isBusy = (state: number): boolean => state === State.useful || state === State.overhead;
export const isWaiting = (state: number): boolean =>
  state === State.blocked || state === State.spinning || state === State.ready;

/** What lies below the nodes of one depth of the path looked at, a row each. Only what is not zero is looked at. */
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
  /** Adds the row of one depth to that of the one above, and clears it. */
  moveUp(depth: number): void {
    const { P, values, low, high, states, at } = this;
    const from = depth,
      to = depth - 1;
    if (states[to] === 0) {
      // nothing there yet: the two change places
      const row = at[to]!;
      at[to] = at[from]!;
      at[from] = row;
      low[to] = low[from]!;
      high[to] = high[from]!;
      states[to] = states[from]!;
      low[from] = P;
      high[from] = -1;
      states[from] = 0;
      return;
    }
    const a = at[from]!,
      b = at[to]!;
    if (high[from]! >= 0) {
      for (let k = low[from]!; k <= high[from]!; k++) {
        values[b + k]! += values[a + k]!;
        values[a + k] = 0;
      }
      for (let k = P; k < P + 3; k++) {
        values[b + k]! += values[a + k]!;
        values[a + k] = 0;
      }
      if (low[from]! < low[to]!) low[to] = low[from]!;
      if (high[from]! > high[to]!) high[to] = high[from]!;
      low[from] = P;
      high[from] = -1;
    }
    for (let mask = states[from]!, k = P + 3; mask !== 0; mask >>= 1, k += 2)
      if ((mask & 1) !== 0) {
        values[b + k]! += values[a + k]!;
        values[b + k + 1]! += values[a + k + 1]!;
        values[a + k] = values[a + k + 1] = 0;
      }
    states[to]! |= states[from]!;
    states[from] = 0;
  }
}

/** Which entities have processor time, and so a row. */
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
    if (!isBusy(tuples.state[k]!)) continue;
    atWork[tuples.stack[k]!] = 1;
    const thread = tuples.thread[k]!;
    if (thread === 0 || row[thread] !== 0) continue;
    give(thread);
    if (groupOf[thread]! !== 0) give(groupOf[thread]!);
  }
  for (let n = stacks.count - 1; n > 0; n--) {
    if (atWork[n] === 0) continue;
    atWork[stacks.parent[n]!] = 1;
    const e = stacks.entity[n]!;
    if (row[e] !== 0) continue;
    give(e);
    if (groupOf[e]! !== 0) give(groupOf[e]!);
  }
  return { row, rows };
}

/** `weights`: ns of each tuple, compensated or not. `groupOf`: by entity of the profile, 0 = none. */
export function sumTuples(
  raw: RawProfile,
  stacks: Stacks,
  byStack: RowsBy,
  groupOf: Uint32Array,
  weights: Float64Array,
  entities: number,
): Sums {
  const { tuples, head } = raw;
  const P = head.processors;
  const { row, rows } = assignRows(raw, stacks, groupOf, entities);
  const sums: Sums = {
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
  const { byBusy, byBusySelf, idleness, spinBlame, rawNpt, stateNs, stateRunnableNs } = sums;
  const below = new Below(P, stacks.deepest);
  const { values, at: rowAt, low, high, states } = below;

  const charge = (e: number, depth: number): void => {
    const from = rowAt[depth]!;
    if (high[depth]! >= 0) {
      const to = row[e]! * P;
      for (let k = low[depth]!; k <= high[depth]!; k++) byBusy[to + k]! += values[from + k]!;
      idleness[e]! += values[from + P]!;
      spinBlame[e]! += values[from + P + 1]!;
      rawNpt[e]! += values[from + P + 2]!;
    }
    for (let mask = states[depth]!, k = 0; mask !== 0; mask >>= 1, k++)
      if ((mask & 1) !== 0) {
        stateNs[e * stateCount + k]! += values[from + P + 3 + 2 * k]!;
        stateRunnableNs[e * stateCount + k]! += values[from + P + 4 + 2 * k]!;
      }
  };

  for (let at = stacks.order.length - 1; at >= 0; at--) {
    const n = stacks.order[at]!;
    const depth = stacks.depth[n]! + 1; // where what lies below this node has been summed
    const from = rowAt[depth]!;
    const top = n === 0 ? 0 : stacks.entity[n]!;
    const self = n === 0 ? 0 : stacks.owner[n]!; // the time of a loop is its procedure's own, and the loop's
    const selfGroup = self === 0 ? 0 : groupOf[self]!;
    const loop = top === self ? 0 : top;
    const loopGroup = loop === 0 ? 0 : groupOf[loop]!;
    for (let j = byStack.start[n]!; j < byStack.start[n + 1]!; j++) {
      const k = byStack.order[j]!;
      const state = tuples.state[k]!;
      if (state < 1 || state > stateCount) continue;
      const ns = weights[k]!;
      const runnableNs = tuples.ns[k]! > 0 ? (tuples.runnableNs[k]! * ns) / tuples.ns[k]! : 0;
      const thread = tuples.thread[k]!;
      const threadGroup = thread === 0 ? 0 : groupOf[thread]!;
      if (state === State.useful || state === State.overhead) {
        const b = Math.min(P, Math.max(1, tuples.busy[k]!));
        const spinning = (ns * tuples.spinning[k]!) / b;
        const idle = (ns * Math.max(0, P - b - tuples.spinning[k]!)) / b;
        const rawShare = tuples.ns[k]! / b;
        values[from + b - 1]! += ns;
        values[from + P]! += idle;
        values[from + P + 1]! += spinning;
        values[from + P + 2]! += rawShare;
        if (b <= low[depth]!) low[depth] = b - 1;
        if (b > high[depth]!) high[depth] = b - 1;
        byBusySelf[row[self]! * P + b - 1]! += ns;
        if (selfGroup !== 0) byBusySelf[row[selfGroup]! * P + b - 1]! += ns;
        if (loop !== 0) byBusySelf[row[loop]! * P + b - 1]! += ns;
        if (loopGroup !== 0) byBusySelf[row[loopGroup]! * P + b - 1]! += ns;
        for (let e = thread; e !== 0; e = e === thread ? threadGroup : 0) {
          byBusy[row[e]! * P + b - 1]! += ns;
          byBusySelf[row[e]! * P + b - 1]! += ns;
          idleness[e]! += idle;
          spinBlame[e]! += spinning;
          rawNpt[e]! += rawShare;
        }
      }
      values[from + P + 1 + 2 * state]! += ns;
      values[from + P + 2 + 2 * state]! += runnableNs;
      states[depth]! |= 1 << (state - 1);
      for (let e = thread; e !== 0; e = e === thread ? threadGroup : 0) {
        stateNs[e * stateCount + state - 1]! += ns;
        stateRunnableNs[e * stateCount + state - 1]! += runnableNs;
      }
      if (
        self !== 0 &&
        (tuples.waiting[k] === Waiting.woken || (tuples.waiting[k] === Waiting.object && isWaiting(state)))
      ) {
        sums.waitingNs[self]! += ns;
        if (selfGroup !== 0) sums.waitingNs[selfGroup]! += ns;
      }
    }
    if (states[depth] === 0) continue;
    if (n === 0) charge(0, depth);
    else {
      if (stacks.first[n]!) charge(top, depth);
      if (stacks.firstOfGroup[n]!) charge(groupOf[top]!, depth);
      below.moveUp(depth);
    }
  }

  for (let e = 0; e < entities; e++)
    for (let k = 0, from = row[e]! * P; k < P && from > 0; k++) {
      sums.time[e]! += byBusy[from + k]!;
      sums.npt[e]! += byBusy[from + k]! / (k + 1);
      sums.nptSelf[e]! += byBusySelf[from + k]! / (k + 1);
    }
  return sums;
}
