/** Locates lost time in the program, by descending the tree of stacks entity by entity. Pure functions. */
import { addAt, f64, u32, u8 } from '../../profile/columns.js';
import type { RawProfile } from '../../profile/raw-profile.js';
import type { Tables } from '../../metrics/tables.js';
import type { Stacks } from '../../profile/stack-tree.js';
import { Inclusive, manyStacks } from './inclusive-loss.js';
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

/** Sets of nodes, divided by whether their path contains an entity. */
class Division {
  readonly #isInside: Uint8Array; // of few members: valid in the split that `#splitOf` numbers
  readonly #splitOf: Uint32Array;
  #splits = 0;
  constructor(private readonly stacks: Stacks) {
    this.#isInside = new Uint8Array(stacks.count);
    this.#splitOf = new Uint32Array(stacks.count);
  }

  /** The members whose path contains the entity, and the others. */
  of(members: readonly number[], entity: number): [number[], number[]] {
    const yes: number[] = [],
      no: number[] = [];
    const isInside = members.length < manyStacks ? this.#ofPaths(members, entity) : this.#ofAll(entity);
    for (const node of members) (isInside[node] === 1 ? yes : no).push(node);
    return [yes, no];
  }

  #ofAll(entity: number): Uint8Array {
    const { count, parent, entity: entityOf } = this.stacks;
    const isInside = this.#isInside;
    this.#splitOf.fill(0);
    isInside[0] = 0;
    for (let n = 1; n < count; n++) isInside[n] = entityOf[n] === entity ? 1 : u8(isInside, u32(parent, n));
    return isInside;
  }

  /** Visits only nodes on the paths of members. */
  #ofPaths(members: readonly number[], entity: number): Uint8Array {
    const { parent, entity: entityOf } = this.stacks;
    const splitOf = this.#splitOf,
      isInside = this.#isInside,
      split = ++this.#splits;
    for (const node of members) {
      let known = node;
      while (known !== 0 && splitOf[known] !== split && entityOf[known] !== entity) known = u32(parent, known);
      const answer = known === 0 ? 0 : splitOf[known] === split ? u8(isInside, known) : 1;
      for (let n = node; n !== 0 && splitOf[n] !== split; n = u32(parent, n)) {
        splitOf[n] = split;
        isInside[n] = answer;
        if (n === known) break;
      }
    }
    return isInside;
  }
}

/** Callers by node; parents come before their children, so that one pass over all nodes finds them. */
class Callers {
  /** By node: where its stack begins; 0 for the empty stack. */
  readonly bottom: Uint32Array;
  /** By node: the procedure that called the node's; 0 if only the beginning of the stack did. */
  readonly #caller: Uint32Array;
  readonly #found: Uint32Array;
  constructor(
    private readonly stacks: Stacks,
    raw: RawProfile,
    own: Contexts['own'],
  ) {
    const { count, parent, entity } = stacks;
    const bottom = (this.bottom = new Uint32Array(count));
    const caller = (this.#caller = new Uint32Array(count));
    this.#found = new Uint32Array(count);
    const isProcedure = Uint8Array.from(raw.entities, ({ kind }) => (kind === 'procedure' ? 1 : 0));
    const nearest = new Uint32Array(count); // by node: the procedure's node above it
    for (let n = 1; n < count; n++) {
      const up = u32(parent, n);
      bottom[n] = u32(bottom, up) || n;
      const isOwn = up !== 0 && own.hidden[up] !== 1 && isProcedure[u32(entity, up)] === 1;
      const above = (nearest[n] = isOwn ? up : u32(nearest, up));
      const its = u32(entity, above);
      caller[n] = above === 0 || entity[u32(bottom, above)] === its ? 0 : its;
    }
  }

  /** By node: who called the outermost occurrence of the entity on its path; valid until the next call. */
  of(entity: number): Uint32Array {
    const { count, parent, entity: entityOf } = this.stacks;
    const found = this.#found,
      caller = this.#caller;
    // the caller of the outermost one + 1; 0: there is none
    for (let n = 1; n < count; n++)
      found[n] = u32(found, u32(parent, n)) || (entityOf[n] === entity ? u32(caller, n) + 1 : 0);
    return found;
  }
}

class Concentration {
  readonly found: Context[] = [];
  readonly #whole: number;
  readonly #inclusive: Inclusive;
  readonly #division: Division;
  readonly #callers: Callers;
  readonly #lostBy: Float64Array; // by entity; all 0 between calls
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
    this.#callers = new Callers(tables.stacks, raw, contexts.own);
    this.#lostBy = new Float64Array(raw.entities.length);
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
    const bottom = u32(this.#callers.bottom, node);
    return bottom !== 0 && this.tables.stacks.entity[bottom] === entity;
  }

  /**
   * For a procedure that several pieces of the program call, run by different threads: the caller in the piece with
   * most of the loss; 0 if it is one piece, or the others are small.
   */
  #callerApart(members: readonly number[], entity: number): number {
    const callers = this.#callers.of(entity);
    const [most, ...others] = this.#lostByCaller(members, callers)
      .filter(({ lost }) => lost >= this.least)
      .sort((a, b) => b.lost - a.lost);
    if (!most || others.length === 0) return 0;
    const threadsOf = (caller: number): ThreadTimes =>
      this.#threadsOf(members.filter((node) => callers[node] === caller + 1));
    const mine = threadsOf(most.caller);
    return others.some(({ caller }) => similarity(mine, threadsOf(caller)) <= 0.5) ? most.caller : 0;
  }

  #lostByCaller(members: readonly number[], callers: Uint32Array): { caller: number; lost: number }[] {
    const { lostSelf } = this.contexts;
    const lostBy = this.#lostBy;
    const seen: number[] = [];
    for (const node of members) {
      const caller = u32(callers, node) - 1,
        lost = f64(lostSelf, node);
      if (caller <= 0 || lost === 0) continue;
      if (lostBy[caller] === 0) seen.push(caller);
      addAt(lostBy, caller, lost);
    }
    return seen.map((caller) => {
      const lost = f64(lostBy, caller);
      lostBy[caller] = 0;
      return { caller, lost };
    });
  }
}
