/**
 * What work and span consist of: entities, the places where threads are created, and locks, whose holding times cannot
 * overlap. Pure.
 */
import { addAt, f64, item, u32, u8 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import { independentOnSpan, shareInterval } from '../metrics/confidence.js';
import { State, Waiting, type RawObject, type RawProfile } from '../profile/raw-profile.js';
import type { Interval, Model } from '../result/types.js';

export interface SpanEntity {
  entity: number;
  onSpanNs: number; // inclusive: on the stack of the span's thread, or that thread itself
  onSpanSelfNs: number; // while innermost
  ci95: Interval; // of onSpanNs
  workNs: number; // inclusive work of the whole run
}
/** All threads that were spawned or created at one place and have ended. */
export interface SpanSite {
  site: number; // return address of the call; 0: all places beyond the first 63
  caller: number; // entity of the procedure that the place is in, 0: not known
  line: number; // line of the call, in the caller's file; 0: not known
  start: number; // entity of the start routine
  count: number;
  workNs: number; // sums over all of them
  spanNs: number;
  topCount: number; // threads that do not descend from another thread spawned there
  topWorkNs: number;
  topSpanNs: number;
  parallelism: number; // topWorkNs / topSpanNs
  onSpanNs: number | null; // time of the start routine on the span; null: it is spawned at several places
  onSpanSelfNs: number | null;
}
export interface LockHold {
  entity: number;
  holdNs: number; // holding time in all; no number of processors makes the run shorter than that
}

/** All entities of a row, each once: those on its stack, its thread, and their groups. */
function entitiesOfRow(model: Model, raw: RawProfile, node: number, thread: number): Set<number> {
  const seen = new Set([thread]);
  for (let n = node; n !== 0; n = u32(raw.stacks.parent, n)) seen.add(u32(raw.stacks.entity, n));
  for (const id of [...seen]) seen.add(item(model.entities, id).group);
  seen.delete(0);
  return seen;
}

export function entitiesOf(model: Model): { entities: SpanEntity[]; unseenNs: number } {
  const { raw } = model;
  const { onSpan } = raw;
  const inclusive = new Float64Array(model.entities.length);
  const self = new Float64Array(model.entities.length);
  let unseenNs = 0;
  let seenOften = 0;
  onSpan.ns.forEach((ns, k) => {
    const node = u32(onSpan.stack, k);
    const thread = u32(onSpan.thread, k);
    if (node === 0 && thread === 0) unseenNs += ns;
    else seenOften += f64(onSpan.count, k);
    for (const id of entitiesOfRow(model, raw, node, thread)) addAt(inclusive, id, ns);
    const top = node === 0 ? 0 : u32(raw.stacks.entity, node);
    if (top === 0) return;
    addAt(self, top, ns);
    const { group } = item(model.entities, top);
    if (group !== 0) addAt(self, group, ns);
  });
  const { spanNs } = raw.head;
  const independent = independentOnSpan(raw.head, seenOften);
  const held = measuredHolds(model);
  const workOf = worksOf(model);
  const entities: SpanEntity[] = [];
  inclusive.forEach((seenNs, entity) => {
    if (seenNs <= 0) return;
    const { low, high } = shareInterval(seenNs / spanNs, independent);
    const atMost = (ns: number): number => Math.min(ns, held.get(entity) ?? Infinity);
    entities.push({
      entity,
      onSpanNs: atMost(seenNs),
      onSpanSelfNs: atMost(f64(self, entity)),
      ci95: { lowNs: atMost(low * spanNs), highNs: atMost(high * spanNs) },
      workNs: workOf(entity),
    });
  });
  entities.sort((a, b) => b.onSpanNs - a.onSpanNs || b.onSpanSelfNs - a.onSpanSelfNs || a.entity - b.entity);
  return { entities, unseenNs };
}

/** A procedure that called another one on the span, and its part of that one's own time there. */
export interface SpanCaller {
  entity: number;
  share: number;
}
const callsMuch = 0.2; // least share of a caller that is named

/** The callers of a procedure on the span, each with its copies (inlined ones) as one; those with the most first. */
export function callersOnSpan(model: Model, code: number): SpanCaller[] {
  const { stacks, onSpan } = model.raw;
  const whole = (id: number): number => item(model.entities, id).group || id;
  const times = new Map<number, number>();
  let allNs = 0;
  onSpan.ns.forEach((ns, k) => {
    let node = u32(onSpan.stack, k);
    if (node === 0 || whole(u32(stacks.entity, node)) !== code) return;
    allNs += ns;
    while (node !== 0 && whole(u32(stacks.entity, node)) === code) node = u32(stacks.parent, node);
    const caller = node === 0 ? 0 : whole(u32(stacks.entity, node));
    if (caller !== 0 && item(model.entities, caller).kind === 'procedure') addTo(times, caller, ns);
  });
  return [...times]
    .map(([entity, ns]) => ({ entity, share: ns / allNs }))
    .filter(({ share }) => share >= callsMuch)
    .sort((a, b) => b.share - a.share || a.entity - b.entity);
}

export function sitesOf(model: Model, entities: readonly SpanEntity[]): SpanSite[] {
  const { sites, calls } = model.raw;
  const callers = new Map<number, number>();
  calls.site.forEach((site, k) => callers.set(site, u32(calls.caller, k)));
  const onSpan = new Map(entities.map((row) => [row.entity, row]));
  const places = new Map<number, number>(); // number of places at which each start routine is spawned
  sites.start.forEach((start) => places.set(start, (places.get(start) ?? 0) + 1));
  const rows = Array.from(sites.site, (site, k): SpanSite => {
    const start = u32(sites.start, k);
    const alone = start !== 0 && places.get(start) === 1;
    return {
      site,
      caller: callers.get(site) ?? u32(sites.caller, k),
      line: u32(sites.line, k),
      start,
      count: f64(sites.count, k),
      workNs: f64(sites.workNs, k),
      spanNs: f64(sites.spanNs, k),
      topCount: f64(sites.topCount, k),
      topWorkNs: f64(sites.topWorkNs, k),
      topSpanNs: f64(sites.topSpanNs, k),
      parallelism: f64(sites.topSpanNs, k) > 0 ? f64(sites.topWorkNs, k) / f64(sites.topSpanNs, k) : 0,
      onSpanNs: alone ? (onSpan.get(start)?.onSpanNs ?? 0) : null,
      onSpanSelfNs: alone ? (onSpan.get(start)?.onSpanSelfNs ?? 0) : null,
    };
  });
  return rows
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.topWorkNs - a.topWorkNs || b.workNs - a.workNs || a.site - b.site);
}

/**
 * The factor from observed processor time to work: observations include waits for CPUs and the time for recording, work
 * does not.
 */
function workScale(model: Model): number {
  if (model.raw.head.publisher === 'pthread') return 1; // here, processor time is counted by the kernel
  const seen = model.root.processorTimeNs;
  return seen > 0 ? Math.min(1, model.raw.head.workNs / seen) : 1;
}

/** Returns a function that computes an entity's part of the work, on the span or not. */
export function worksOf(model: Model): (entity: number) => number {
  const scale = workScale(model);
  const held = measuredHolds(model);
  return (entity) => Math.min(item(model.entities, entity).processorTimeNs * scale, held.get(entity) ?? Infinity);
}

/**
 * Time of a lock's holders, from observations: asleep or in input and output, ready (waiting for a processor or CPU),
 * and the rest. A thread that requests the lock has it as its innermost entity, and waits.
 */
function observedHold({ raw }: Model, lock: number): { asleepNs: number; readyNs: number; restNs: number } {
  const { stacks, tuples } = raw;
  const holds = new Uint8Array(stacks.entity.length); // by node; parents come before their children
  for (let n = 1; n < holds.length; n++) {
    const parent = u32(stacks.parent, n);
    if (parent !== 0 && (holds[parent] === 1 || u32(stacks.entity, parent) === lock)) holds[n] = 1;
  }
  const sums = { asleepNs: 0, readyNs: 0, restNs: 0 };
  for (let k = 0; k < tuples.ns.length; k++) {
    const node = u32(tuples.stack, k);
    const isInnermost = u32(stacks.entity, node) === lock;
    if (isInnermost ? u8(tuples.waiting, k) !== Waiting.none : holds[node] !== 1) continue;
    const state = u8(tuples.state, k);
    if (state === State.ready) sums.readyNs += f64(tuples.ns, k);
    else if (state === State.blocked || state === State.io) sums.asleepNs += f64(tuples.ns, k);
    else sums.restNs += f64(tuples.ns, k);
  }
  return sums;
}

/**
 * Shorter mean holding times are sampled instead: measuring a hold adds some 50 ns to it, in addition to what is
 * subtracted.
 */
const leastMeasuredNs = 150;

/** The processor time of a lock's holders that the program measured; 0: it did not, or holds are very short. */
function measuredHold({ raw }: Model, row: RawObject | undefined): number {
  const cpuNs = raw.head.exactHold || row === undefined ? 0 : row.holdNs;
  return row !== undefined && cpuNs >= leastMeasuredNs * row.acquisitions ? cpuNs : 0;
}

const known = new WeakMap<RawProfile, ReadonlyMap<number, number>>();
/**
 * For locks of plain pthread programs, by entity, the measured holding time. Observations may show more: a thread that
 * loses its CPU while it holds a lock is seen there, with what it executed before.
 */
function measuredHolds(model: Model): ReadonlyMap<number, number> {
  const { raw } = model;
  const before = known.get(raw);
  if (before !== undefined) return before;
  const measured = raw.head.publisher === 'pthread' ? raw.objects.filter((row) => measuredHold(model, row) > 0) : [];
  const holds = new Map(
    measured.map((row) => [row.entity, measuredHold(model, row) + observedHold(model, row.entity).asleepNs]),
  );
  known.set(raw, holds);
  return holds;
}

/**
 * How long a lock of a plain pthread program was held, excluding its holders' waits for CPUs: the processor time that
 * the program measured, plus the time for which holders were observed asleep. If nothing was measured (an older
 * recording, or the lock had no record of its own), or if holds are very short, the elapsed holding time, reduced by
 * the share of observations in which holders waited for a CPU.
 */
function pthreadHold(model: Model, lock: number, wallNs: number): number {
  const { elapsedNs } = model;
  const measuredNs = measuredHolds(model).get(lock);
  if (measuredNs !== undefined) return Math.min(measuredNs, elapsedNs);
  const { asleepNs, readyNs, restNs } = observedHold(model, lock);
  const allNs = asleepNs + readyNs + restNs;
  return Math.min(wallNs, elapsedNs) * (allNs > 0 ? 1 - readyNs / allNs : 1);
}

/**
 * How long a lock of the thread package was held: the work of its holders, and the time for which they were asleep. A
 * holder may be ready for long, because the lock was handed over to it while the processors run other threads.
 */
function packageHold(model: Model, lock: number): number {
  const { asleepNs, restNs } = observedHold(model, lock);
  return Math.min(restNs * workScale(model) + asleepNs, model.elapsedNs);
}

/** Locks that only one thread at a time can hold, longest holding time first. */
export function locksOf(model: Model): LockHold[] {
  const { publisher } = model.raw.head;
  const holdOf = (lock: number, wallNs: number): number =>
    publisher === 'pthread' ? pthreadHold(model, lock, wallNs) : packageHold(model, lock);
  return model.entities
    .filter(({ rawKind, members }) => (rawKind === 'mutex' || rawKind === 'spinlock') && members.length === 0)
    .filter(({ object, instances }) => instances === 1 && object !== undefined)
    .map(({ id, object }) => ({ entity: id, holdNs: holdOf(id, object?.holdNs ?? 0) }))
    .filter(({ holdNs }) => holdNs > 0)
    .sort((a, b) => b.holdNs - a.holdNs || a.entity - b.entity);
}
