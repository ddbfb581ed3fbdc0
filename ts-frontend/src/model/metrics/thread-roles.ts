/**
 * Groups threads by role: by the code that they run and the objects that they wait for, not by name (equal workers may
 * be numbered, and stages may all have the program's name). docs/reference/findings.md, "Roles". Pure.
 */
import { f64, u32, u8 } from '../profile/columns.js';
import { addTo, total } from '../profile/maps.js';
import type { RawProfile } from '../profile/raw-profile.js';
import { State, Waiting } from '../profile/raw-profile.js';

/** The cosine similarity of two threads' times from which they count as alike. */
const alike = 0.8;
/** The least share of the work of one thread that another one does as well, if both take it from one queue. */
const leastBoth = 0.5;
/** The least share of the run that a thread's activity must take to be significant. */
const leastKnown = 0.01;

type Times = ReadonlyMap<number, number>;
const none: Times = new Map();

function cosine(a: Times, b: Times): number {
  let dot = 0,
    aa = 0,
    bb = 0;
  for (const [key, time] of a) {
    dot += time * (b.get(key) ?? 0);
    aa += time ** 2;
  }
  for (const time of b.values()) bb += time ** 2;
  return aa > 0 && bb > 0 ? dot / Math.sqrt(aa * bb) : 0;
}

export class ThreadRoles {
  readonly #work = new Map<number, Map<number, number>>(); // thread -> innermost entity -> time
  readonly #waits = new Map<number, Map<number, number>>(); // thread -> object, or its group -> time
  readonly #waitPlaces = new Map<number, Map<number, number>>(); // thread -> stack that waits -> time
  readonly #waitCallers = new Map<number, Map<number, number>>(); // thread -> innermost procedure that waits -> time
  readonly #objects = new Map<number, Map<number, number>>(); // thread -> object itself -> time
  readonly #workNs = new Map<number, number>();
  readonly #leastNs: number;

  constructor(raw: RawProfile, groupOf: Uint32Array) {
    const { tuples, stacks } = raw;
    this.#leastNs = leastKnown * raw.head.elapsedNs;
    for (let k = 0; k < tuples.ns.length; k++) {
      const thread = u32(tuples.thread, k),
        state = u8(tuples.state, k),
        waits = tuples.waiting[k] !== Waiting.none;
      if (thread === 0 || (!waits && state !== State.useful && state !== State.ready)) continue;
      const node = u32(tuples.stack, k),
        entity = u32(stacks.entity, node);
      const shown = u32(groupOf, entity) !== 0 ? u32(groupOf, entity) : entity;
      const add = (to: Map<number, Map<number, number>>, key: number): void => {
        let row = to.get(thread);
        if (!row) to.set(thread, (row = new Map<number, number>()));
        addTo(row, key, f64(tuples.ns, k));
      };
      add(waits ? this.#waits : this.#work, shown);
      if (waits) add(this.#waitPlaces, u32(stacks.parent, node));
      if (waits) add(this.#waitCallers, u32(stacks.entity, u32(stacks.parent, node)));
      if (waits) add(this.#objects, entity);
      if (!waits && state === State.useful) addTo(this.#workNs, thread, f64(tuples.ns, k));
    }
  }

  /** Processor time as recorded, in ns. */
  workNs(thread: number): number {
    return this.#workNs.get(thread) ?? 0;
  }

  /** Its share of the processor time of all threads but those, as recorded. */
  workShare(thread: number, without: ReadonlySet<number> = new Set()): number {
    let all = 0;
    for (const [id, ns] of this.#workNs) if (!without.has(id)) all += ns;
    return all > 0 ? this.workNs(thread) / all : 0;
  }

  /** Whether two threads run the same code; a thread that hardly ran matches every other one. */
  runTheSame(one: number, other: number): boolean {
    return this.#areAlike(this.#work, one, other);
  }

  /**
   * Whether two threads run the same code, and wait for the same objects, or (because each may have one of its own) at
   * the same places; a thread that hardly ran or waited matches every other one.
   */
  areSame(one: number, other: number): boolean {
    return this.runTheSame(one, other) && this.waitTheSame(one, other);
  }

  /**
   * Whether two threads wait for the same objects, or at the same places. If what they wait for only has one name
   * (objects that one line creates), it must be the same procedures that wait: stages of equal code, of which one waits
   * for room after it and another one for results before it, are different roles.
   */
  waitTheSame(one: number, other: number): boolean {
    if (this.#areAlike(this.#objects, one, other) || this.#areAlike(this.#waitPlaces, one, other)) return true;
    return this.#areAlike(this.#waits, one, other) && this.#areAlike(this.#waitCallers, one, other);
  }

  /**
   * Whether two threads may take work from one queue: half of what the one that works less runs, the other one runs as
   * well, and they wait for the same objects (not only for objects of one group), or one of them never waits.
   */
  mayTakeTheSame(one: number, other: number): boolean {
    if (!this.#areAlike(this.#objects, one, other)) return false;
    const a = this.#work.get(one) ?? none,
      b = this.#work.get(other) ?? none;
    let both = 0;
    for (const [key, time] of a) both += Math.min(time, b.get(key) ?? 0);
    return this.#isKnown(a) && this.#isKnown(b) && both >= leastBoth * Math.min(total(a), total(b));
  }

  /** Divides threads by role, in the order of each role's first thread. */
  divide(threads: Iterable<number>): number[][] {
    return this.#divide(threads, (one, other) => this.areSame(one, other));
  }

  /** The same by what they wait for alone, whatever they run. */
  divideByWaits(threads: Iterable<number>): number[][] {
    return this.#divide(threads, (one, other) => this.waitTheSame(one, other));
  }

  #divide(threads: Iterable<number>, areSame: (one: number, other: number) => boolean): number[][] {
    const roles: number[][] = [];
    const late: number[] = [];
    for (const thread of threads) {
      if (this.#neverWaits(thread)) late.push(thread);
      else this.#assign(roles, thread, areSame);
    }
    const all = late.filter((thread) => roles.filter(([first]) => areSame(first ?? 0, thread)).length >= 2);
    for (const thread of late) if (!all.includes(thread)) this.#assign(roles, thread, areSame);
    // the stage of equal code that limits the others waits for none of them
    const own: number[][] = [];
    for (const thread of all) this.#assign(own, thread, areSame);
    return [...roles, ...own];
  }

  #assign(roles: number[][], thread: number, areSame: (one: number, other: number) => boolean): void {
    const role = roles.find(([first]) => first !== undefined && areSame(first, thread));
    if (role) role.push(thread);
    else roles.push([thread]);
  }

  /** A thread that works, but hardly waits, so that its waits cannot tell it from others. */
  #neverWaits(thread: number): boolean {
    return this.#isKnown(this.#work.get(thread) ?? none) && !this.#isKnown(this.#waits.get(thread) ?? none);
  }

  #areAlike(of: ReadonlyMap<number, Times>, one: number, other: number): boolean {
    const a = of.get(one) ?? none,
      b = of.get(other) ?? none;
    return !this.#isKnown(a) || !this.#isKnown(b) || cosine(a, b) >= alike;
  }

  #isKnown(times: Times): boolean {
    return total(times) >= this.#leastNs;
  }
}
