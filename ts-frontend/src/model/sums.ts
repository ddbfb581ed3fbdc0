/**
 * The sums over tuples that every metric is made of: for each entity (root, entities of the profile, groups) the
 * processor time by b, inclusive and self, and the time in each state. One pass over the tuples. Pure.
 */
import type { RawProfile } from './raw.js';
import { State } from './raw.js';
import type { Stacks } from './stacks.js';
import type { Bucket, StateTime } from './types.js';
import { runnableRange } from './buckets.js';

export const stateCount = 6; // useful, overhead, spinning, ready, blocked, io: State - 1

export class Sums {
  readonly byBusy: (Float64Array | undefined)[];     // T_i, index i - 1
  readonly byBusySelf: (Float64Array | undefined)[];
  readonly idleness: Float64Array;
  readonly spinBlame: Float64Array;
  readonly stateNs: Float64Array;                    // entity * stateCount + state - 1
  readonly stateRunnableNs: Float64Array;
  /** Row of each entity and state in `rows`, plus 1; 0: none. One block for all: thousands of small arrays would cost more than the sums. */
  readonly stateRow: Uint32Array;
  rows = new Float64Array(0);
  private rowCount = 0;
  readonly rawNpt: Float64Array;                     // before compensation, for intervals
  readonly waiting: Map<number, Map<number, number>>;// object -> (stack * entities + thread) -> ns
  readonly waitingNs: Float64Array;                  // object: sum of the above
  readonly runnableValues: number[] = [];            // lower bounds of the buckets that occur

  constructor(readonly entities: number, readonly processors: number) {
    this.byBusy = new Array<Float64Array | undefined>(entities);
    this.byBusySelf = new Array<Float64Array | undefined>(entities);
    this.idleness = new Float64Array(entities);
    this.spinBlame = new Float64Array(entities);
    this.stateNs = new Float64Array(entities * stateCount);
    this.stateRunnableNs = new Float64Array(entities * stateCount);
    this.stateRow = new Uint32Array(entities * stateCount);
    this.rawNpt = new Float64Array(entities);
    this.waiting = new Map();
    this.waitingNs = new Float64Array(entities);
  }

  stateTime(entity: number, state: number): StateTime {
    const at = entity * stateCount + state - 1;
    const ns = this.stateNs[at]!;
    return new SummedState(this, at, ns, ns > 0 ? this.stateRunnableNs[at]! / ns : 0);
  }

  addRunnable(at: number, bucket: number, ns: number): void {
    const width = this.runnableValues.length;
    if (this.stateRow[at] === 0) {
      this.stateRow[at] = ++this.rowCount;
      if (this.rowCount * width > this.rows.length) {
        const grown = new Float64Array(Math.max(1024, 2 * this.rowCount * width));
        grown.set(this.rows);
        this.rows = grown;
      }
    }
    this.rows[(this.stateRow[at]! - 1) * width + bucket]! += ns;
  }

  runnableOf(at: number): Bucket[] {
    const runnable: Bucket[] = [];
    const width = this.runnableValues.length, row = this.stateRow[at]! - 1;
    for (let k = 0; row >= 0 && k < width; k++) {
      const ns = this.rows[row * width + k]!;
      if (ns > 0) runnable.push({ ...runnableRange(this.runnableValues[k]!), ns });
    }
    return runnable.sort((a, b) => a.from - b.from);
  }
}

/** The distribution of r is made when somebody asks: few entities are looked at, and each has one for every state. */
class SummedState implements StateTime {
  constructor(private readonly sums: Sums, private readonly at: number, readonly ns: number, readonly meanRunnable: number) {}
  get runnable(): Bucket[] {
    return this.sums.runnableOf(this.at);
  }
}

function indexRunnable(values: Uint32Array, known: number[]): Uint16Array {
  const small = new Int32Array(4096).fill(-1);
  const large = new Map<number, number>();
  const out = new Uint16Array(values.length);
  for (let k = 0; k < values.length; k++) {
    const value = values[k]!;
    let at = value < 4096 ? small[value]! : large.get(value) ?? -1;
    if (at < 0) {
      at = known.push(value) - 1;
      if (value < 4096) small[value] = at;
      else large.set(value, at);
    }
    out[k] = at;
  }
  return out;
}

/** `weights`: ns of each tuple, compensated or not. `groupOf`: by entity of the profile, 0 = none. */
export function sumTuples(raw: RawProfile, stacks: Stacks, groupOf: Uint32Array, weights: Float64Array, entities: number): Sums {
  const { tuples, head } = raw;
  const P = head.processors;
  const sums = new Sums(entities, P);
  const runnable = indexRunnable(tuples.runnable, sums.runnableValues);
  const { byBusy, idleness, spinBlame, stateNs, stateRunnableNs, rawNpt } = sums;

  // Tuples of one stack often stand together: who is charged for it is worked out once for each run of them.
  let charged: number[] = [];
  let lastStack = -1;

  for (let k = 0; k < weights.length; k++) {
    const stack = tuples.stack[k]!;
    if (stack !== lastStack) {
      lastStack = stack;
      charged = [0];
      for (let n = stack; n !== 0; n = stacks.parent[n]!) {
        if (stacks.first[n]!) charged.push(stacks.entity[n]!);
        if (stacks.firstOfGroup[n]!) charged.push(groupOf[stacks.entity[n]!]!);
      }
    }
    const thread = tuples.thread[k]!;
    const length = charged.length;
    if (thread !== 0) {
      charged.push(thread);
      if (groupOf[thread]! !== 0) charged.push(groupOf[thread]!);
    }

    const ns = weights[k]!;
    const state = tuples.state[k]!;
    if (state < 1 || state > stateCount) { charged.length = length; continue; }
    const runnableNs = tuples.ns[k]! > 0 ? (tuples.runnableNs[k]! * ns) / tuples.ns[k]! : 0;
    const bucket = runnable[k]!;
    if (state === State.useful || state === State.overhead) {
      const b = Math.min(P, Math.max(1, tuples.busy[k]!));
      const spinning = (ns * tuples.spinning[k]!) / b;
      const idle = (ns * Math.max(0, P - b - tuples.spinning[k]!)) / b;
      const rawShare = tuples.ns[k]! / b;
      for (let c = 0; c < charged.length; c++) {
        const e = charged[c]!;
        (byBusy[e] ??= new Float64Array(P))[b - 1]! += ns;
        idleness[e]! += idle;
        spinBlame[e]! += spinning;
        rawNpt[e]! += rawShare;
      }
      const self = stack === 0 ? 0 : stacks.entity[stack]!;
      addSelf(sums, self, groupOf, b, ns);
      if (thread !== 0) addSelf(sums, thread, groupOf, b, ns);
    }
    for (let c = 0; c < charged.length; c++) {
      const at = charged[c]! * stateCount + state - 1;
      stateNs[at]! += ns;
      stateRunnableNs[at]! += runnableNs;
      sums.addRunnable(at, bucket, ns);
    }
    charged.length = length;

    if (tuples.waiting[k]! === 1 && stack !== 0 && (state === State.blocked || state === State.spinning || state === State.ready)) {
      const object = stacks.entity[stack]!;
      let paths = sums.waiting.get(object);
      if (!paths) sums.waiting.set(object, (paths = new Map<number, number>()));
      const key = stack * raw.entities.length + thread;
      paths.set(key, (paths.get(key) ?? 0) + ns);
      sums.waitingNs[object]! += ns;
      if (groupOf[object]! !== 0) sums.waitingNs[groupOf[object]!]! += ns;
    }
  }
  return sums;
}

function addSelf(sums: Sums, entity: number, groupOf: Uint32Array, b: number, ns: number): void {
  (sums.byBusySelf[entity] ??= new Float64Array(sums.processors))[b - 1]! += ns;
  const group = entity === 0 ? 0 : groupOf[entity]!;
  if (group !== 0) (sums.byBusySelf[group] ??= new Float64Array(sums.processors))[b - 1]! += ns;
}
