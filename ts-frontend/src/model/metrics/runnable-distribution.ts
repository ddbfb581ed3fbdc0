/**
 * How many threads were runnable while an entity's threads were in a state: the distribution of r. Computed on demand,
 * because few entities are displayed and each has a distribution per state. Pure.
 */
import { addAt, defined, f64, item, u32, u8 } from '../profile/columns.js';
import { runnableRange } from '../profile/buckets.js';
import type { RawProfile } from '../profile/raw-profile.js';
import type { Stacks } from '../profile/stack-tree.js';
import { stateCount } from './sums.js';
import type { Bucket } from '../result/types.js';

/** Time by bucket of r, in one row for each entity and state that occurs. */
export class Runnable {
  readonly #values: number[] = []; // lower bounds of the buckets that occur
  readonly #rowOf: Uint32Array; // entity * stateCount + state - 1 -> row, 0 = none
  #rows = new Float64Array(0);
  #count = 0;

  constructor(raw: RawProfile, stacks: Stacks, groupOf: Uint32Array, weights: Float64Array, entities: number) {
    this.#rowOf = new Uint32Array(entities * stateCount);
    const { tuples } = raw;
    const places = new Map<number, number>();
    for (const value of tuples.runnable) if (!places.has(value)) places.set(value, this.#values.push(value) - 1);
    // Consecutive tuples often have the same stack; the entities to charge are determined once for each such sequence.
    let charged: number[] = [];
    let last = -1;
    for (let k = 0; k < weights.length; k++) {
      const stack = u32(tuples.stack, k),
        thread = u32(tuples.thread, k),
        state = u8(tuples.state, k);
      if (state < 1 || state > stateCount) continue;
      if (stack !== last) {
        last = stack;
        charged = [0];
        for (let n = stack; n !== 0; n = u32(stacks.parent, n)) {
          if (u8(stacks.first, n)) charged.push(u32(stacks.entity, n));
          if (u8(stacks.firstOfGroup, n)) charged.push(u32(groupOf, u32(stacks.entity, n)));
        }
      }
      const bucket = defined(places.get(u32(tuples.runnable, k)));
      for (const e of charged) this.#add(e * stateCount + state - 1, bucket, f64(weights, k));
      if (thread !== 0) this.#add(thread * stateCount + state - 1, bucket, f64(weights, k));
      if (thread !== 0 && u32(groupOf, thread) !== 0)
        this.#add(u32(groupOf, thread) * stateCount + state - 1, bucket, f64(weights, k));
    }
  }

  #add(at: number, bucket: number, ns: number): void {
    const width = this.#values.length;
    if (this.#rowOf[at] === 0) {
      this.#rowOf[at] = ++this.#count;
      if (this.#count * width > this.#rows.length) {
        const grown = new Float64Array(Math.max(1024, 2 * this.#count * width));
        grown.set(this.#rows);
        this.#rows = grown;
      }
    }
    addAt(this.#rows, (u32(this.#rowOf, at) - 1) * width + bucket, ns);
  }

  /** Only buckets with time, lowest first. */
  of(entity: number, state: number): Bucket[] {
    const width = this.#values.length,
      row = u32(this.#rowOf, entity * stateCount + state - 1) - 1;
    const out: Bucket[] = [];
    for (let k = 0; row >= 0 && k < width; k++) {
      const ns = f64(this.#rows, row * width + k);
      if (ns > 0) out.push({ ...runnableRange(item(this.#values, k)), ns });
    }
    return out.sort((a, b) => a.from - b.from);
  }
}
