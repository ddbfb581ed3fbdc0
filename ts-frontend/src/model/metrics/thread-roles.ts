/**
 * Which threads do the same: known by the code that they run and by what they wait for, not by their names (equal
 * workers may be numbered, and stages may all have the program's name). docs/reference/findings.md, "Roles". Pure.
 */
import { f64, u32, u8 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import type { RawProfile } from '../profile/raw-profile.js';
import { State, Waiting } from '../profile/raw-profile.js';

/** Cosine of two threads' times from which on they are alike. */
const alike = 0.8;
/** What a thread does for less than this part of the run says nothing about it. */
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
      if (!waits && state === State.useful) addTo(this.#workNs, thread, f64(tuples.ns, k));
    }
  }

  /** Processor time, as it was recorded. */
  workNs(thread: number): number {
    return this.#workNs.get(thread) ?? 0;
  }

  /** One that hardly ran is like every other one. */
  runTheSame(one: number, other: number): boolean {
    return this.#areAlike(this.#work, one, other);
  }

  /**
   * They run the same code, and wait for the same objects, or (each may have one of its own) at the same places; one
   * that hardly did either is like every other one.
   */
  areSame(one: number, other: number): boolean {
    return (
      this.runTheSame(one, other) &&
      (this.#areAlike(this.#waits, one, other) || this.#areAlike(this.#waitPlaces, one, other))
    );
  }

  /** Threads by role, in the order of the first of each. */
  divide(threads: Iterable<number>): number[][] {
    const roles: number[][] = [];
    for (const thread of threads) {
      const role = roles.find(([first]) => first !== undefined && this.areSame(first, thread));
      if (role) role.push(thread);
      else roles.push([thread]);
    }
    return roles;
  }

  #areAlike(of: ReadonlyMap<number, Times>, one: number, other: number): boolean {
    const a = of.get(one) ?? none,
      b = of.get(other) ?? none;
    return !this.#isKnown(a) || !this.#isKnown(b) || cosine(a, b) >= alike;
  }

  #isKnown(times: Times): boolean {
    let sum = 0;
    for (const time of times.values()) sum += time;
    return sum >= this.#leastNs;
  }
}
