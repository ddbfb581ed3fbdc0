/**
 * Threads that are woken needlessly: what they wait for is not available yet, and they wait again while they still hold
 * the lock. Each such section acquires the lock once, however often it waits. So the number of first waits at a
 * condition is at most the number of times that its lock was acquired for waiting. That lock is one of the counted
 * locks. If the procedures that wait at the condition acquire counted locks, an upper bound is the one that they
 * acquire most often; otherwise it is the one that is acquired most often at all (docs/reference/findings.md,
 * "Overhead"). Pure functions.
 */
import type { WaitsAgainFacts } from '../../result/facts.js';
import type { Entity, Model } from '../../result/types.js';
import { wakeNs } from '../../metrics/cpu-wait.js';
import { leastShare } from '../context.js';

/** The least share of a condition's waits that is reported. */
const leastAgain = 0.25;

/**
 * A lower bound on how often threads waited at the condition again before they released the lock; 0 if it is not known
 * to be more than a few times.
 */
export function waitsAgain(model: Model, { rawKind, object, members, callers }: Entity): number {
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
  const locks = model.entities.filter((one) => one.rawKind === 'mutex' && one.object && one.members.length === 0);
  const threads = model.entities.filter((one) => one.kind === 'thread' && one.members.length === 0);
  const waiters = threads.reduce((sum, { instances }) => sum + Math.max(1, instances), 0);
  const taken = takenToWait(callers, locks);
  // If all waiting threads are woken for each such acquisition, they wait at most this often; if they wait more often,
  // the condition's lock must be another one.
  const isIts = taken * waiters >= object.contended;
  const most = isIts ? taken : Math.max(0, ...locks.map((lock) => lock.object?.acquisitions ?? 0));
  if (most === 0) return 0; // a lock of a kind that is not counted
  const again = object.contended - most;
  return again >= leastAgain * object.contended && again * wakeNs >= leastShare * model.elapsedNs ? again : 0;
}

/** The same as facts of a finding about the condition; null: nothing of that kind is known. */
export function waitsAgainFacts(model: Model, entity: Entity): WaitsAgainFacts | null {
  const count = waitsAgain(model, entity);
  return count > 0 ? { condition: entity.id, count, waits: entity.object?.contended ?? count, together: null } : null;
}

/**
 * The number of acquisitions by the waiting procedures, each counted for the lock that it acquires most often; 0 if one
 * of these procedures acquires no counted lock, because its callers may acquire it.
 */
function takenToWait(waiters: Entity['callers'], locks: readonly Entity[]): number {
  const taken = waiters.map(({ entity }) =>
    Math.max(
      0,
      ...locks.map(({ callers }) =>
        callers.filter((one) => one.entity === entity).reduce((sum, one) => sum + one.count, 0),
      ),
    ),
  );
  return taken.some((count) => count === 0) ? 0 : taken.reduce((sum, count) => sum + count, 0);
}
