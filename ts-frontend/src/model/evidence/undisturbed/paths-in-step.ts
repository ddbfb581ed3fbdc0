/**
 * Corrects the alignment of paths and snapshots, for findings only. Paths of running threads lag some milliseconds
 * behind the snapshots (docs/reference/pthread-layer.md, "Call paths without hooks"), whereas each snapshot shows
 * exactly who is busy. In programs that fork and join within a few milliseconds, some serial code therefore appears to
 * run beside others, and as much parallel code appears to run alone. Formulas: docs/reference/findings.md, "Short
 * phases". Pure functions.
 */
import { addAt, f64, item, u16, u32, u8 } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import type { RawEntity, RawProfile } from '../../profile/raw-profile.js';
import { isBusy } from '../../metrics/sums.js';
import { isOwn } from '../code-origin.js';
import { costsBesideIdle } from '../wait-overlap.js';

/** Code with this share of its time in one thread is that thread's. Threads that do the same work differ by more. */
const nearlyAll = 0.95;
/** A thread is left as it is if its time alone, or beside others, is less than this share of the elapsed time. */
const leastPart = 0.02;
/** The maximum share of serial code seen beside others, relative to that of the thread's other code. */
const mostBeside = 0.85;
/** The maximum share of it that may remain beside others. */
const mostLeft = 0.1;

/** The code that only one thread runs, and the code that it runs like others, as observed. */
interface Sides {
  alone: number[]; // rows of code that only this thread runs
  shared: number[];
}

export function withPathsInStep(raw: RawProfile): RawProfile {
  const { tuples, head } = raw;
  if (head.publisher !== 'pthread' || head.processors < 2) return raw;
  const candidates = threadsOfPhases(raw);
  if (candidates.size === 0) return raw;
  const ofOne = codeOfOne(raw);
  const region = insideRegions(raw);
  const sides = new Map<number, Sides>();
  for (let k = 0; k < tuples.ns.length; k++) {
    const thread = u32(tuples.thread, k);
    if (!candidates.has(thread) || !isRun(raw, k)) continue;
    let its = sides.get(thread);
    if (!its) sides.set(thread, (its = { alone: [], shared: [] }));
    (ofOne(u32(tuples.stack, k)) ? its.alone : its.shared).push(k);
  }
  const moved: Moved[] = [];
  for (const [thread, its] of sides) {
    const one = movedOf(raw, its, isForkJoin(raw, region, thread, its));
    if (one) moved.push(one);
  }
  return moved.length > 0 ? exchanged(raw, moved) : raw;
}

const isRun = ({ tuples }: RawProfile, k: number): boolean =>
  isBusy(u8(tuples.state, k)) && u16(tuples.busy, k) > 0 && f64(tuples.ns, k) > 0;

const elapsedOf = ({ balance }: RawProfile): number => balance.ns.reduce((sum, ns) => sum + ns, 0);

/** Threads, each of one kernel thread, that work both alone and beside others for a substantial part of the time. */
function threadsOfPhases(raw: RawProfile): Set<number> {
  const { tuples, threads } = raw;
  const alone = new Map<number, number>(),
    beside = new Map<number, number>(),
    instances = new Map<number, number>();
  for (const { entity } of threads) addTo(instances, entity, 1);
  for (let k = 0; k < tuples.ns.length; k++)
    if (isRun(raw, k)) addTo(u16(tuples.busy, k) > 1 ? beside : alone, u32(tuples.thread, k), f64(tuples.ns, k));
  const least = leastPart * elapsedOf(raw);
  const isMuch = (ns: number | undefined): boolean => ns !== undefined && ns >= least;
  return new Set(
    [...alone.keys()].filter(
      (thread) => isMuch(alone.get(thread)) && isMuch(beside.get(thread)) && (instances.get(thread) ?? 1) <= 1,
    ),
  );
}

/** By entity: the thread with nearly all of its time; 0 if there are several, or too little time to tell. */
function threadOf(times: ReadonlyMap<number, number>, least: number): number {
  let all = 0,
    most = 0,
    thread = 0;
  for (const [id, ns] of times) {
    all += ns;
    if (ns > most) {
      most = ns;
      thread = id;
    }
  }
  return all >= least && most >= nearlyAll * all ? thread : 0;
}

/**
 * By stack: whether only one thread runs that code. Threads reach shared code on paths of their own, so procedures that
 * only one of them runs are removed from paths before they are compared.
 */
function codeOfOne(raw: RawProfile): (stack: number) => boolean {
  const { tuples, stacks, entities, head } = raw;
  const count = Math.max(1, stacks.parent.length);
  const isCode = entities.map((one) => one.kind === 'procedure' && isOwn(one));
  const least = (10 / Math.max(1, head.snapshots)) * elapsedOf(raw);
  const times = new Map<number, Map<number, number>>(); // by stack, thread
  for (let k = 0; k < tuples.ns.length; k++)
    if (isRun(raw, k)) addTo(inner(times, u32(tuples.stack, k)), u32(tuples.thread, k), f64(tuples.ns, k));
  const byProcedure = new Map<number, Map<number, number>>();
  for (const [stack, its] of times) {
    const seen = new Set<number>();
    for (let n = stack; n !== 0; n = u32(stacks.parent, n))
      if (isCode[u32(stacks.entity, n)]) seen.add(u32(stacks.entity, n));
    for (const id of seen) for (const [thread, ns] of its) addTo(inner(byProcedure, id), thread, ns);
  }
  const place = new Uint32Array(count); // by stack: the node in the tree of shortened paths
  const isOfOne = new Uint8Array(count); // a procedure of one thread is on it, and no library called the rest
  const parents = [0];
  const children = new Map<string, number>();
  for (let n = 1; n < count; n++) {
    const up = u32(place, u32(stacks.parent, n)),
      id = u32(stacks.entity, n);
    place[n] = up;
    isOfOne[n] = isPool(item(entities, id)) ? 0 : u8(isOfOne, u32(stacks.parent, n));
    if (!isCode[id]) continue;
    if (threadOf(inner(byProcedure, id), 0) !== 0) {
      isOfOne[n] = 1;
      continue;
    }
    const key = `${up} ${id}`;
    let at = children.get(key);
    if (at === undefined) children.set(key, (at = parents.push(up) - 1));
    place[n] = at;
  }
  const exact = parents.map(() => new Map<number, number>()),
    below = parents.map(() => new Map<number, number>());
  for (const [stack, its] of times) for (const [thread, ns] of its) addTo(item(exact, u32(place, stack)), thread, ns);
  for (let at = parents.length - 1; at >= 0; at--) {
    for (const [thread, ns] of item(exact, at)) addTo(item(below, at), thread, ns);
    if (at > 0) for (const [thread, ns] of item(below, at)) addTo(item(below, item(parents, at)), thread, ns);
  }
  const isOne = new Uint8Array(parents.length);
  for (let at = 1; at < parents.length; at++)
    isOne[at] = isOne[item(parents, at)] === 1 || threadOf(item(below, at), least) !== 0 ? 1 : 0;
  return (stack) => {
    const at = u32(place, stack);
    return at === 0 || isOfOne[stack] === 1 || isOne[at] === 1 || threadOf(item(exact, at), least) !== 0;
  };
}

/** Whether it belongs to a library through which threads call shared code. */
const isPool = ({ origin }: RawEntity): boolean => origin === 'openmp' || origin === 'installed';

function inner(maps: Map<number, Map<number, number>>, key: number): Map<number, number> {
  let found = maps.get(key);
  if (!found) maps.set(key, (found = new Map<number, number>()));
  return found;
}

/** By stack: 1 if OpenMP's library is on the path. */
function insideRegions({ stacks, entities }: RawProfile): Uint8Array {
  const inside = new Uint8Array(Math.max(1, stacks.parent.length));
  for (let n = 1; n < inside.length; n++)
    inside[n] =
      u8(inside, u32(stacks.parent, n)) === 1 || item(entities, u32(stacks.entity, n)).origin === 'openmp' ? 1 : 0;
  return inside;
}

/**
 * Whether all that others run is within parallel regions, so that a thread outside of a region runs beside no other.
 */
function isForkJoin(raw: RawProfile, region: Uint8Array, thread: number, { alone, shared }: Sides): boolean {
  const { tuples } = raw;
  const isInside = (k: number): boolean => u8(region, u32(tuples.stack, k)) === 1;
  const insideOf = (rows: readonly number[]): number =>
    rows.reduce((ns, k) => ns + (isInside(k) ? f64(tuples.ns, k) : 0), 0);
  const all = (rows: readonly number[]): number => rows.reduce((ns, k) => ns + f64(tuples.ns, k), 0);
  if (insideOf(alone) > (1 - nearlyAll) * all(alone) || insideOf(shared) < nearlyAll * all(shared)) return false;
  let others = 0,
    inside = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    if (!isRun(raw, k) || tuples.thread[k] === thread) continue;
    others += f64(tuples.ns, k);
    if (isInside(k)) inside += f64(tuples.ns, k);
  }
  return inside >= nearlyAll * others;
}

/** The shares of rows to be exchanged between those seen beside others and those seen alone. */
interface Moved {
  sides: Sides;
  beside: number[]; // shares of `sides.alone`
  alone: number[]; // shares of `sides.shared`
  ns: number;
}

function movedOf({ tuples }: RawProfile, sides: Sides, isCertain: boolean): Moved | null {
  const sum = (rows: readonly number[]): number => rows.reduce((ns, k) => ns + f64(tuples.ns, k), 0);
  const isBeside = (k: number): boolean => u16(tuples.busy, k) > 1;
  const beside = sides.alone.filter(isBeside),
    alone = sides.shared.filter((k) => !isBeside(k));
  const [besideNs, aloneNs, ownNs, sharedNs] = [sum(beside), sum(alone), sum(sides.alone), sum(sides.shared)];
  const ns = Math.min(besideNs, aloneNs);
  if (ns <= 0 || besideNs - ns > mostLeft * ownNs) return null;
  const seen = besideNs / ownNs,
    expected = 1 - aloneNs / sharedNs;
  return isCertain || seen <= mostBeside * expected ? { sides, beside, alone, ns } : null;
}

/** A row with the stack and other fields of one row, at the b, s and r of another one. */
interface Row {
  from: number;
  at: number;
  ns: number;
}

function exchanged(raw: RawProfile, moved: readonly Moved[]): RawProfile {
  const { tuples } = raw;
  const left = Float64Array.from(tuples.ns);
  const rows: Row[] = [];
  for (const { beside, alone, ns } of moved) {
    move(raw, rows, left, beside, alone, ns);
    move(raw, rows, left, alone, beside, ns);
  }
  const kept = Array.from(left.keys()).filter((k) => f64(left, k) > 0 || f64(tuples.ns, k) === 0);
  const all = [...kept.map((k) => ({ from: k, at: k, ns: f64(left, k) })), ...rows];
  const columns = Object.entries(tuples as unknown as Record<string, Float64Array>).map(([name, column]) => {
    const made = new (column.constructor as new (length: number) => Float64Array)(all.length);
    all.forEach(({ from, at, ns }, n) => {
      const part = f64(tuples.ns, from) > 0 ? ns / f64(tuples.ns, from) : 1;
      if (name === 'busy' || name === 'spinning' || name === 'runnable') made[n] = f64(column, at);
      else if (name === 'ns') made[n] = ns;
      else if (name === 'runnableNs') made[n] = ns * u32(tuples.runnable, at);
      else made[n] = name === 'count' ? f64(column, from) * part : f64(column, from);
    });
    return [name, made] as const;
  });
  const changed = { ...raw, tuples: Object.fromEntries(columns) as unknown as RawProfile['tuples'] };
  return { ...changed, waitOverlap: waitOverlapOf(raw, changed, moved) };
}

/** Adds the moved share of `from` to `rows`, distributed over the levels of `to`. */
function move(
  { tuples }: RawProfile,
  rows: Row[],
  left: Float64Array,
  from: readonly number[],
  to: readonly number[],
  ns: number,
): void {
  const levels = new Map<string, { at: number; ns: number }>();
  let whole = 0,
    all = 0;
  for (const k of to) {
    const key = `${tuples.busy[k]} ${tuples.spinning[k]} ${tuples.runnable[k]}`;
    const known = levels.get(key);
    if (known) known.ns += f64(tuples.ns, k);
    else levels.set(key, { at: k, ns: f64(tuples.ns, k) });
    whole += f64(tuples.ns, k);
  }
  for (const k of from) all += f64(tuples.ns, k);
  for (const k of from) {
    const its = (f64(tuples.ns, k) * ns) / all;
    addAt(left, k, -its);
    for (const level of levels.values()) rows.push({ from: k, at: level.at, ns: (its * level.ns) / whole });
  }
}

/** Others wait for the serial code, so the share of its time with waiters is kept when its time alone changes. */
function waitOverlapOf(raw: RawProfile, changed: RawProfile, moved: readonly Moved[]): RawProfile['waitOverlap'] {
  const { waitOverlap, tuples } = raw;
  const before = costsBesideIdle(raw),
    after = costsBesideIdle(changed);
  const parts = new Float64Array(before.length).fill(1);
  for (const { sides } of moved)
    for (const rows of [sides.alone, sides.shared]) {
      const its = [...new Set(rows.map((k) => u32(tuples.stack, k)))];
      const sum = (costs: Float64Array): number => its.reduce((ns, stack) => ns + f64(costs, stack), 0);
      const part = sum(before) > 0 ? sum(after) / sum(before) : 1;
      for (const stack of its) parts[stack] = part;
    }
  const scaled = (times: Float64Array): Float64Array =>
    times.map((ns, k) => ns * f64(parts, u32(waitOverlap.stack, k)));
  return { ...waitOverlap, ns: scaled(waitOverlap.ns), waitersNs: scaled(waitOverlap.waitersNs) };
}
