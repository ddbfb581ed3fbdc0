/** Locates lost time in the program, by descending the tree of stacks entity by entity. Pure functions. */
import { f64, item, u32, u8 } from '../profile/columns.js';
import type { RawProfile } from '../profile/raw-profile.js';
import type { Tables } from '../metrics/tables.js';
import type { Stacks } from '../profile/stack-tree.js';
import { Inclusive } from './inclusive-loss.js';
import { similarity, statsOf, type Context, type Contexts, type ThreadTimes } from './loss-contexts.js';

/**
 * Descends to where the loss concentrates: into the entity whose stacks contain at least half of it, wherever it was
 * called from; the rest is examined in the same way. If no entity contains half, the context is reported as a whole if
 * it is one piece of the program (a serial phase, or code that one set of threads runs together), otherwise in pieces.
 * `least`: contexts that lose less are skipped (ns).
 */
export function concentrate(raw: RawProfile, tables: Tables, contexts: Contexts, least: number): Context[] {
  const all: number[] = [];
  for (let n = 0; n < tables.stacks.count; n++) if (contexts.atWork[n] === 1) all.push(n);
  const concentration = new Concentration(raw, tables, contexts, least, all);
  concentration.explore(0, all, new Set(), 0);
  return concentration.found;
}

/** Sets of nodes, divided by whether their path contains an entity. Visits only nodes on the paths of members. */
class Division {
  readonly #isInside: Uint8Array; // valid in the split that `#splitOf` numbers
  readonly #splitOf: Uint32Array;
  #splits = 0;
  constructor(private readonly stacks: Stacks) {
    this.#isInside = new Uint8Array(stacks.count);
    this.#splitOf = new Uint32Array(stacks.count);
  }

  /** The members whose path contains the entity, and the others. */
  of(members: readonly number[], entity: number): [number[], number[]] {
    const { parent, entity: entityOf } = this.stacks;
    const splitOf = this.#splitOf,
      isInside = this.#isInside,
      split = ++this.#splits;
    const yes: number[] = [],
      no: number[] = [];
    for (const node of members) {
      let known = node;
      while (known !== 0 && splitOf[known] !== split && entityOf[known] !== entity) known = u32(parent, known);
      const answer = known === 0 ? 0 : splitOf[known] === split ? u8(isInside, known) : 1;
      for (let n = node; n !== 0 && splitOf[n] !== split; n = u32(parent, n)) {
        splitOf[n] = split;
        isInside[n] = answer;
        if (n === known) break;
      }
      (answer === 1 ? yes : no).push(node);
    }
    return [yes, no];
  }
}

/** The outermost nodes on paths: of all, and of an entity. Visits a node once for each entity. */
class Outermost {
  /** By node: where its stack begins; 0 for the empty stack. */
  readonly bottom: Uint32Array;
  readonly #found: Uint32Array; // valid in the search that `#searchOf` numbers
  readonly #searchOf: Uint32Array;
  #searches = 0;
  constructor(private readonly stacks: Stacks) {
    const { count, parent } = stacks;
    this.bottom = new Uint32Array(count);
    for (let n = 1; n < count; n++) this.bottom[n] = u32(this.bottom, u32(parent, n)) || n; // parents come first
    this.#found = new Uint32Array(count);
    this.#searchOf = new Uint32Array(count);
  }

  /** For a node, the outermost one of the entity on its path, or 0; valid until the next call. */
  of(entity: number): (node: number) => number {
    const { parent, entity: entityOf } = this.stacks;
    const found = this.#found,
      searchOf = this.#searchOf,
      search = ++this.#searches;
    const way: number[] = [];
    return (node) => {
      let n = node;
      for (; n !== 0 && searchOf[n] !== search; n = u32(parent, n)) way.push(n);
      let outermost = n === 0 ? 0 : u32(found, n);
      for (let one = way.pop(); one !== undefined; one = way.pop()) {
        if (outermost === 0 && entityOf[one] === entity) outermost = one;
        found[one] = outermost;
        searchOf[one] = search;
      }
      return outermost;
    };
  }
}

class Concentration {
  readonly found: Context[] = [];
  readonly #whole: number;
  readonly #inclusive: Inclusive;
  readonly #division: Division;
  readonly #outermost: Outermost;
  constructor(
    private readonly raw: RawProfile,
    private readonly tables: Tables,
    private readonly contexts: Contexts,
    private readonly least: number,
    all: readonly number[],
  ) {
    this.#whole = this.#sum(all);
    this.#inclusive = new Inclusive(tables.stacks, contexts.own, contexts.lostSelf, raw.entities.length);
    this.#division = new Division(tables.stacks);
    this.#outermost = new Outermost(tables.stacks);
  }

  /**
   * Examines an entity with these nodes. `path`: entities on the way to it; `within`: the entity that calls it, 0 for
   * any.
   */
  explore(entity: number, members: number[], path: ReadonlySet<number>, within: number): void {
    const { least, found } = this;
    const isOwn = (node: number): boolean => this.contexts.own.owner[node] === entity;
    let rest = members;
    for (let total = this.#sum(rest); total >= least; total = this.#sum(rest)) {
      const { first, second, half, most } = this.#inclusive.of(rest, path, total / 2);
      if (first === 0 || this.#sumOfOwn(rest, entity) >= total / 2) {
        found.push({ entity, members: first === 0 ? rest : rest.filter(isOwn), self: true, within });
        if (first === 0) return;
        rest = rest.filter((node) => !isOwn(node));
        continue;
      }
      const next = half !== 0 ? half : most >= least ? first : 0;
      if (next === 0 || (half === 0 && this.#isPhase(entity, rest, first, second))) {
        found.push({ entity, members: rest, self: false, within });
        return;
      }
      const caller = this.#callerApart(rest, next);
      const into = caller !== 0 && caller !== entity && !path.has(caller) ? caller : next;
      const [inside, outside] = this.#division.of(rest, into);
      this.explore(into, inside, new Set([...path, into]), into === next ? within : into);
      rest = outside;
    }
  }

  #sum(members: readonly number[]): number {
    const { lostSelf } = this.contexts;
    let total = 0;
    for (const node of members) total += f64(lostSelf, node);
    return total;
  }

  #sumOfOwn(members: readonly number[], entity: number): number {
    const { lostSelf, own } = this.contexts;
    let total = 0;
    for (const node of members) if (own.owner[node] === entity) total += f64(lostSelf, node);
    return total;
  }

  #threadsOf(members: readonly number[]): ThreadTimes {
    return statsOf(this.raw, this.contexts, this.tables.weights, members).threads;
  }

  #isPhase(entity: number, members: readonly number[], first: number, second: number): boolean {
    if (entity === 0 || members.some((node) => this.#isBottom(node, entity))) return false;
    const stats = statsOf(this.raw, this.contexts, this.tables.weights, members);
    let most = 0;
    for (const cost of stats.threads.cost) most = Math.max(most, cost);
    if (most >= 0.9 * stats.cost) return this.#sum(members) < this.#whole / 2 && stats.cost >= 0.75 * stats.npt;
    if (first === 0 || second === 0) return true;
    const threadsBelow = (e: number): ThreadTimes => this.#threadsOf(this.#division.of(members, e)[0]);
    return similarity(threadsBelow(first), threadsBelow(second)) > 0.5;
  }

  /** Whether the stack begins with the entity, which is then the program or a thread, not a piece of it. */
  #isBottom(node: number, entity: number): boolean {
    const bottom = u32(this.#outermost.bottom, node);
    return bottom !== 0 && this.tables.stacks.entity[bottom] === entity;
  }

  /**
   * For a procedure that several pieces of the program call, run by different threads: the caller in the piece with
   * most of the loss; 0 if it is one piece, or the others are small.
   */
  #callerApart(members: readonly number[], entity: number): number {
    const outermostOf = this.#outermost.of(entity);
    const byCaller = new Map<number, number[]>();
    for (const node of members) {
      const caller = this.#callerAbove(outermostOf(node));
      if (caller === 0) continue;
      const known = byCaller.get(caller);
      if (known) known.push(node);
      else byCaller.set(caller, [node]);
    }
    const [most, ...others] = [...byCaller]
      .map(([caller, nodes]) => ({ caller, nodes, lost: this.#sum(nodes) }))
      .filter(({ lost }) => lost >= this.least)
      .sort((a, b) => b.lost - a.lost);
    if (!most || others.length === 0) return 0;
    const mine = this.#threadsOf(most.nodes);
    return others.some(({ nodes }) => similarity(mine, this.#threadsOf(nodes)) <= 0.5) ? most.caller : 0;
  }

  /** The procedure that called a node's; 0 if only the beginning of the stack did. */
  #callerAbove(node: number): number {
    const { parent, entity: entityOf } = this.tables.stacks;
    const isProcedure = (n: number): boolean =>
      this.contexts.own.hidden[n] !== 1 && item(this.raw.entities, u32(entityOf, n)).kind === 'procedure';
    let n = node === 0 ? 0 : u32(parent, node);
    while (n !== 0 && !isProcedure(n)) n = u32(parent, n);
    return n === 0 || this.#isBottom(n, u32(entityOf, n)) ? 0 : u32(entityOf, n);
  }
}
