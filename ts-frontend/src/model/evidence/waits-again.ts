/**
 * Threads that are woken for nothing: they find that what they wait for is not theirs yet, and wait again with the lock
 * still in hand. Each such section takes the lock once, however often it waits. So of a condition's waits no more than
 * its lock was taken can be first ones; that lock is one of those that are counted, at most the one that was taken most
 * (docs/reference/findings.md, "Overhead"). Pure.
 */
import type { Entity, Model } from '../result/types.js';
import { leastShare } from './context.js';

/** About what a wake-up takes. */
const wakeNs = 10_000;
/** Reported from this share of a condition's waits on. */
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
