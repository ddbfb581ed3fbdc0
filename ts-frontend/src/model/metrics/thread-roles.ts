/**
 * Groups threads by role: by the code that they run and the objects that they wait for, not by name (equal workers may
 * be numbered, and stages may all have the program's name). docs/reference/findings.md, "Roles". Pure.
 */
import { addAt, f64, u32, u8 } from '../profile/columns.js';
import { addTo, total } from '../profile/maps.js';
import type { RawProfile } from '../profile/raw-profile.js';
import { rowsBy, rowsOfKey, type RowsBy } from '../profile/row-index.js';
import { State, Waiting } from '../profile/raw-profile.js';

/** The cosine similarity of two threads' times from which they count as alike. */
const alike = 0.8;
/** The least share of the work of one thread that another one does as well, if both take it from one queue. */
const leastBoth = 0.5;
/** The least share of the run that a thread's activity must take to be significant. */
const leastKnown = 0.01;

type Times = ReadonlyMap<number, number>;
/** What one thread did, in ns. */
interface Activity {
  work: Map<number, number>; // by innermost entity, or its group
  waits: Map<number, number>; // by object, or its group
  waitPlaces: Map<number, number>; // by stack that waits
  waitCallers: Map<number, number>; // by innermost procedure that waits
  objects: Map<number, number>; // by object itself
}
type Kind = keyof Activity;

const idle = (): Activity => ({
  work: new Map(),
  waits: new Map(),
  waitPlaces: new Map(),
  waitCallers: new Map(),
  objects: new Map(),
});

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
  readonly #known = new Map<number, Activity>(); // of the threads that were asked for
  readonly #workNs: Float64Array; // by thread
  readonly #byThread: RowsBy;
  readonly #leastNs: number;

  constructor(
    private readonly raw: RawProfile,
    private readonly groupOf: Uint32Array,
  ) {
    const { tuples, entities } = raw;
    this.#leastNs = leastKnown * raw.head.elapsedNs;
    this.#byThread = rowsBy(tuples.thread, entities.length);
    this.#workNs = new Float64Array(entities.length);
    for (let k = 0; k < tuples.ns.length; k++)
      if (tuples.waiting[k] === Waiting.none && tuples.state[k] === State.useful)
        addAt(this.#workNs, u32(tuples.thread, k), f64(tuples.ns, k));
    this.#workNs[0] = 0;
  }

  #of(thread: number): Activity {
    let its = this.#known.get(thread);
    if (!its) this.#known.set(thread, (its = thread === 0 ? idle() : this.#activityOf(thread)));
    return its;
  }

  #activityOf(thread: number): Activity {
    const { tuples, stacks } = this.raw;
    const its = idle();
    for (const k of rowsOfKey(this.#byThread, thread)) {
      const state = u8(tuples.state, k),
        waits = tuples.waiting[k] !== Waiting.none;
      if (!waits && state !== State.useful && state !== State.ready) continue;
      const node = u32(tuples.stack, k),
        entity = u32(stacks.entity, node),
        ns = f64(tuples.ns, k);
      addTo(waits ? its.waits : its.work, u32(this.groupOf, entity) || entity, ns);
      if (!waits) continue;
      addTo(its.waitPlaces, u32(stacks.parent, node), ns);
      addTo(its.waitCallers, u32(stacks.entity, u32(stacks.parent, node)), ns);
      addTo(its.objects, entity, ns);
    }
    return its;
  }

  /** Processor time as recorded, in ns. */
  workNs(thread: number): number {
    return f64(this.#workNs, thread);
  }

  /** Its share of the processor time of all threads but those, as recorded. */
  workShare(thread: number, without: ReadonlySet<number> = new Set()): number {
    let all = 0;
    this.#workNs.forEach((ns, id) => {
      if (!without.has(id)) all += ns;
    });
    return all > 0 ? this.workNs(thread) / all : 0;
  }

  /** Whether two threads run the same code; a thread that hardly ran matches every other one. */
  runTheSame(one: number, other: number): boolean {
    return this.#areAlike('work', one, other);
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
    if (this.#areAlike('objects', one, other) || this.#areAlike('waitPlaces', one, other)) return true;
    return this.#areAlike('waits', one, other) && this.#areAlike('waitCallers', one, other);
  }

  /**
   * Whether two threads may take work from one queue: half of what the one that works less runs, the other one runs as
   * well, and they wait for the same objects (not only for objects of one group), or one of them never waits.
   */
  mayTakeTheSame(one: number, other: number): boolean {
    if (!this.#areAlike('objects', one, other)) return false;
    const a = this.#of(one).work,
      b = this.#of(other).work;
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
    return this.#isKnown(this.#of(thread).work) && !this.#isKnown(this.#of(thread).waits);
  }

  #areAlike(kind: Kind, one: number, other: number): boolean {
    const a = this.#of(one)[kind],
      b = this.#of(other)[kind];
    return !this.#isKnown(a) || !this.#isKnown(b) || cosine(a, b) >= alike;
  }

  #isKnown(times: Times): boolean {
    return total(times) >= this.#leastNs;
  }
}
