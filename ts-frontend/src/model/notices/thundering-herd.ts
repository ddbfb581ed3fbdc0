/**
 * Threads that are woken for nothing: they find that what they wait for is not theirs yet, and wait again with the lock
 * still in hand. Each such section takes the lock once, however often it waits. So of a condition's waits no more than
 * its lock was taken can be first ones; that lock is one of those that are counted, at most the one that was taken most
 * (docs/reference/findings.md, "Overhead"). Pure.
 */
import { count, percent } from '../wording/numbers.js';
import { leastShare, title } from '../evidence/context.js';
import type { Entity, Model, Notice } from '../result/types.js';

/** About what a wake-up takes. */
const wakeNs = 10_000;
/** Told from this share of a condition's waits on. */
const leastAgain = 0.25;

/**
 * How often, at least, threads that had waited at the condition waited again before they let the lock go; 0: not known
 * to be more than a few.
 */
export function waitsAgain(model: Model, { rawKind, object, members }: Entity): number {
  if (
    model.head.publisher !== 'pthread' ||
    model.head.callsLost > 0 ||
    rawKind !== 'condition' ||
    members.length > 0 ||
    !object?.counted ||
    object.instances > 1
  )
    return 0;
  if (object.contended * wakeNs < leastShare * model.elapsedNs) return 0; // before all locks are looked at
  let most = 0;
  for (const lock of model.entities)
    if (lock.rawKind === 'mutex' && lock.object && lock.members.length === 0)
      most = Math.max(most, lock.object.acquisitions);
  if (most === 0) return 0; // a lock of a kind that is not counted
  const again = object.contended - most;
  return again >= leastAgain * object.contended && again * wakeNs >= leastShare * model.elapsedNs ? again : 0;
}

function againText(model: Model, condition: Entity, again: number): string {
  const { contended } = condition.object!;
  return `at least ${count(again)} of ${count(contended)} waits at ${title(model, condition.id)} (${percent(again, contended)}) were of threads that had waited there, and waited again before they let its lock go: they were woken for nothing, or ran out of time`;
}
const againRemedy =
  'wake only who can go on: signal in place of broadcast, or a condition for each thing that is waited for';

/** But for those that a finding is about, which says it. */
export function herds(model: Model, told: ReadonlySet<number>): Notice[] {
  return model.entities.flatMap((condition) => {
    const again = told.has(condition.id) ? 0 : waitsAgain(model, condition);
    return again > 0 ? [{ reason: againText(model, condition, again), remedy: againRemedy }] : [];
  });
}
