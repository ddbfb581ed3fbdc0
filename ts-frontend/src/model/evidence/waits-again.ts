/**
 * Threads that are woken in vain: what they wait for is not available yet, and they wait again while they still hold
 * the lock. Each such section acquires the lock once, however often it waits. So the number of first waits at a
 * condition is at most the number of acquisitions of its lock, which is one of the counted locks, at most the most
 * often acquired one (docs/reference/findings.md, "Overhead"). Pure functions.
 */
import type { Entity, Model } from '../result/types.js';
import { leastShare } from './context.js';

/** The approximate cost of a wake-up. */
const wakeNs = 10_000;
/** The least share of a condition's waits that is reported. */
const leastAgain = 0.25;

/**
 * A lower bound on how often threads waited at the condition again before they released the lock; 0 if it is not known
 * to be more than a few times.
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
