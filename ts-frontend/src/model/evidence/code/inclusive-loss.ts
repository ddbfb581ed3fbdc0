/** The inclusive loss of entities in a set of stacks. Pure functions. */
import { addAt, countAt, f64, u32 } from '../../profile/columns.js';
import type { Stacks } from '../../profile/stack-tree.js';
import type { Own } from '../code-origin.js';

/** From this many stacks on, one pass over all nodes takes less time than their paths. */
export const manyStacks = 4096;

/**
 * The inclusive loss of each entity in a set of stacks: summed from the tops of the stacks down, over the nodes on
 * their paths.
 */
export class Inclusive {
  readonly #below: Float64Array; // by node; all 0 between calls
  readonly #totals: Float64Array; // by entity; all 0 between calls
  readonly #marked: Uint8Array; // by node: on a path and not visited yet; all 0 between calls
  readonly #above: Uint32Array; // by node: number of marked children; all 0 between calls
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
   * The two entities with the largest loss (of equal ones the outermost), and the one with the smallest loss of at
   * least `enough` (of equal ones the innermost); 0 if none. Skips entities on `path` and run-time libraries. Sums that
   * differ only by rounding are considered equal.
   */
  of(
    members: readonly number[],
    path: ReadonlySet<number>,
    enough: number,
  ): { first: number; second: number; half: number; most: number } {
    const entered = members.length < manyStacks ? this.#addPaths(members) : this.#addAll(members);
    const totals = this.#totals;
    let first = 0,
      second = 0,
      half = 0;
    const exceeds = (a: number, b: number): boolean => a > b * (1 + 1e-12);
    for (const e of entered) {
      if (path.has(e)) continue;
      const lost = f64(totals, e);
      if (!exceeds(f64(totals, first), lost)) {
        second = first;
        first = e;
      } else if (!exceeds(f64(totals, second), lost)) second = e;
      if (!exceeds(enough, lost) && (half === 0 || exceeds(f64(totals, half), lost))) half = e;
    }
    const most = f64(totals, first);
    for (const e of entered) totals[e] = 0;
    return { first, second, half, most };
  }

  /** Charges an entity with the loss below a node where it is first on its path; adds it to `entered` if it is new. */
  #charge(n: number, lost: number, entered: number[]): void {
    const { entity, first: isFirst } = this.stacks;
    if (lost === 0 || isFirst[n] !== 1 || this.own.hidden[n] !== 0) return;
    const e = u32(entity, n);
    if (this.#totals[e] === 0) entered.push(e);
    addAt(this.#totals, e, lost);
  }

  /** The same as #addPaths, by one pass over all nodes, each of which comes after its parent. */
  #addAll(members: readonly number[]): number[] {
    const { parent, count } = this.stacks;
    const below = this.#below,
      entered: number[] = [];
    for (const node of members) below[node] = f64(this.lostSelf, node);
    for (let n = count - 1; n > 0; n--) {
      const lost = f64(below, n);
      if (lost === 0) continue;
      below[n] = 0;
      this.#charge(n, lost, entered);
      addAt(below, u32(parent, n), lost);
    }
    below[0] = 0;
    return entered;
  }

  /** Adds what the members lost to the totals of entities on their paths; these, innermost first on each path. */
  #addPaths(members: readonly number[]): number[] {
    const { parent } = this.stacks;
    const below = this.#below,
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
    const entered: number[] = [];
    for (const node of members) {
      for (let n = node; n !== 0 && marked[n] === 1 && above[n] === 0;) {
        // all children have been added
        const lost = f64(below, n);
        below[n] = marked[n] = 0;
        this.#charge(n, lost, entered);
        n = u32(parent, n);
        addAt(below, n, lost);
        countAt(above, n, -1);
      }
    }
    below[0] = 0;
    return entered;
  }
}
