/**
 * The cost of waiting for locks, by the numbers of busy and of spinning processors at the time
 * (docs/reference/findings.md, "Locks"). Pure functions.
 */
import { item } from '../../profile/columns.js';
import type { Entity } from '../../result/types.js';
import type { Levels, Waits } from '../activity-levels.js';
import { busyOf, noWaits, savedByRunning, spinningOf, waitAt } from '../activity-levels.js';
import { addTo } from '../../profile/maps.js';
import type { FindingContext } from '../context.js';
import { isLock } from '../wait-kinds.js';

export interface LockLoss {
  entity: number;
  cost: number; // elapsed time with waiters while b < P
  blockedSaving: number;
  spinSaving: number;
  spinCost: number;
  busy: number;
  spinning: number;
  waiters: number;
  woken: number;
  trying: number; // means, weighted by cost
  savingAt: Map<number, number>;
  timeAt: Map<number, number>;
}

function meanQueue(entity: Entity): number {
  const stats = entity.object;
  if (!stats) return 1;
  const empty = stats.queueLength.find((bucket) => bucket.from === 0)?.ns ?? 0;
  const nonEmpty = stats.queueObservedNs - empty;
  return nonEmpty > 0 ? (stats.queueLengthMean * stats.queueObservedNs) / nonEmpty : 1;
}

const nothingLost = (entity: number): LockLoss => ({
  entity,
  cost: 0,
  blockedSaving: 0,
  spinSaving: 0,
  spinCost: 0,
  busy: 0,
  spinning: 0,
  waiters: 0,
  woken: 0,
  trying: 0,
  savingAt: new Map(),
  timeAt: new Map(),
});

/**
 * `tries`: by level, thread time of threads that count as busy but have only been woken for a lock. They begin to work
 * when they hold it.
 */
export function lossOf(
  levels: Levels,
  entity: Entity,
  waits: Waits,
  tries: ReadonlyMap<number, number> = new Map(),
  // a group has several queues, not one
  queue = entity.members.length > 0 ? 1 : meanQueue(entity),
): LockLoss {
  const { P } = levels;
  const loss = nothingLost(entity.id);
  for (const level of new Set([
    ...waits.blocked.keys(),
    ...waits.spinning.keys(),
    ...(tries.size > 0 ? waits.woken.keys() : []),
  ])) {
    const elapsed = levels.elapsed.get(level) ?? 0;
    const s = spinningOf(levels, level);
    const b = Math.max(0, busyOf(levels, level) - (elapsed > 0 ? (tries.get(level) ?? 0) / elapsed : 0));
    const wokenNs = tries.size > 0 ? (waits.woken.get(level) ?? 0) : 0;
    const blockedNs = (waits.blocked.get(level) ?? 0) + wokenNs;
    const spinNs = waits.spinning.get(level) ?? 0;
    const blocked = waitAt(blockedNs, elapsed, queue);
    const spinTime = Math.min(elapsed, spinNs / Math.max(1, s));
    const fromBlocked = savedByRunning(blocked, b, P - b - s);
    const fromSpin = spinTime * (s / Math.max(1, b + s));
    const saving = Math.min(elapsed * (1 - b / P), fromBlocked + fromSpin);
    const both = fromBlocked + fromSpin > 0 ? saving / (fromBlocked + fromSpin) : 0;
    loss.blockedSaving += fromBlocked * both;
    loss.spinSaving += fromSpin * both;
    const time = b < P ? Math.min(elapsed, Math.max(blocked.time, spinTime)) : 0;
    loss.cost += time;
    loss.spinCost += b < P ? spinTime : 0;
    loss.busy += time * b;
    loss.spinning += time * s;
    loss.waiters += b < P ? blockedNs + spinNs : 0;
    loss.woken += b < P ? wokenNs : 0;
    loss.trying += time * (busyOf(levels, level) - b);
    loss.savingAt.set(level, saving);
    loss.timeAt.set(level, time);
  }
  if (loss.cost > 0) {
    loss.busy /= loss.cost;
    loss.spinning /= loss.cost;
    loss.waiters /= loss.cost;
    loss.woken /= loss.cost;
    loss.trying /= loss.cost;
  }
  return loss;
}

/** By level: thread time of threads that count as busy but have only been woken for a lock. */
function triesOf({ model, levels }: FindingContext): Map<number, number> {
  const tries = new Map<number, number>();
  for (const [id, { wokenBusy }] of levels.waits)
    if (isLock(item(model.entities, id)) && item(model.entities, id).members.length === 0)
      for (const [level, ns] of wokenBusy) addTo(tries, level, ns);
  return tries;
}

/**
 * The loss by waiting at several objects that are one lock: `waiters` threads at most wait at the same time. Of their
 * common time nothing more is known, so that the waits are assumed to coincide as far as that allows.
 */
export function jointLoss(context: FindingContext, objects: readonly Entity[], waiters: number): LockLoss {
  const { levels } = context;
  const all = noWaits();
  for (const { id } of objects) {
    const waits = levels.waits.get(id);
    for (const kind of ['blocked', 'spinning', 'woken', 'wokenBusy'] as const)
      for (const [level, ns] of waits?.[kind] ?? []) addTo(all[kind], level, ns);
    all.spinningReady += waits?.spinningReady ?? 0;
  }
  return lossOf(levels, item(objects, 0), all, triesOf(context), waiters);
}

/** Losses by lock; members of groups in addition to their groups. */
export function lockLosses(context: FindingContext): LockLoss[] {
  const { model, levels } = context;
  const losses: LockLoss[] = [];
  const tries = triesOf(context);
  for (const [id, waits] of levels.waits)
    if (isLock(item(model.entities, id))) losses.push(lossOf(levels, item(model.entities, id), waits, tries));
  return losses;
}

export const savingOf = (loss: LockLoss): number => loss.blockedSaving + loss.spinSaving;
