/**
 * Threads of which several are woken where one can continue, at conditions whose waits are futexes (of Rust, or a
 * program's own): the lock that belongs to such a condition is not counted, so that what follows a wake-up is not known
 * from counts. But many threads at a time have been woken there and have no CPU yet, and hardly any of them does
 * anything then (docs/reference/findings.md, "Overhead"). Pure functions.
 */
import { f64, u16, u32, u8 } from '../../profile/columns.js';
import { addTo, total } from '../../profile/maps.js';
import { State, Waiting } from '../../profile/raw-profile.js';
import type { WaitsAgainFacts } from '../../result/facts.js';
import type { Entity } from '../../result/types.js';
import { shownId, type FindingContext } from '../context.js';
import { isHandingOn } from './hand-overs.js';
import { isBarrier } from '../wait-kinds.js';
import { waitsAgainFacts } from './waits-again.js';

/** The least mean number of woken threads without a CPU; and not fewer than there are CPUs. */
const leastWoken = 2;
/** The work after a wake-up below which the thread found nothing to do. */
const noWorkNs = 1000;
/** Who waits there for less than this share of the longest waiting passes through (main, at a lock nearby). */
const leastWaiting = 0.05;
/** Fewer waits than this say nothing about what follows them. */
const leastWaits = 1000;

/** The threads that wait there, woken or not. */
function waitersAt({ model, tables }: FindingContext, { id }: Entity): Set<number> {
  const { tuples } = model.raw;
  const waited = new Map<number, number>();
  for (let k = 0; k < tuples.ns.length; k++)
    if (tuples.waiting[k] !== Waiting.none && shownId(model, u32(tables.stacks.entity, u32(tuples.stack, k))) === id)
      addTo(waited, u32(tuples.thread, k), f64(tuples.ns, k));
  const longest = Math.max(0, ...waited.values());
  return new Set(
    [...waited].filter(([thread, ns]) => thread !== 0 && ns >= leastWaiting * longest).map(([one]) => one),
  );
}

/** Work of these threads themselves: no calls that wait or wake, nor a run-time library's code. */
function workOf({ model, tables, own }: FindingContext, threads: ReadonlySet<number>): number {
  const { tuples } = model.raw;
  let sum = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    if (u8(tuples.state, k) !== State.useful || !threads.has(u32(tuples.thread, k))) continue;
    if (tuples.waiting[k] !== Waiting.none || isHandingOn(model.raw, k)) continue;
    if (u8(own.hidden, u32(tuples.stack, k)) === 0 && u16(tuples.busy, k) > 0) sum += f64(tables.weights, k);
  }
  return sum;
}

/** null: not so, or not known. */
function wokenTogether(context: FindingContext, entity: Entity): WaitsAgainFacts | null {
  const { model, levels } = context;
  const { object, rawKind } = entity;
  if (model.head.publisher !== 'pthread' || rawKind !== 'futex' || !object?.waitsCounted || isBarrier(entity))
    return null;
  if (object.contended < leastWaits) return null;
  const mean = total(levels.waits.get(entity.id)?.woken ?? new Map<number, number>()) / model.elapsedNs;
  if (mean < Math.max(leastWoken, model.processors)) return null;
  const workNs = workOf(context, waitersAt(context, entity)) / object.contended;
  if (workNs > noWorkNs) return null;
  return { condition: entity.id, count: null, waits: object.contended, together: { mean, workNs } };
}

/** Futile wake-ups there, by counts or by what woken threads do; null: nothing of that kind is known. */
export const futileWakeUps = (context: FindingContext, entity: Entity): WaitsAgainFacts | null =>
  waitsAgainFacts(context.model, entity) ?? wokenTogether(context, entity);
