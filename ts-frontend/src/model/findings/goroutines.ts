/**
 * Code that runs while threads of Go's run-time library rest (docs/reference/findings.md, "Go"): whether goroutines
 * wait for a lock meanwhile. Pure functions.
 */
import { f64, item, u32 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, noAdvice } from '../evidence/context.js';
import { goroutineWaits, isRestOfGo } from '../evidence/threads/goroutines.js';
import { pathsThrough } from '../evidence/code/paths-through.js';
import { rowsOfKey } from '../profile/row-index.js';
import type { Finding } from '../result/types.js';
import { processorUse, waitingAt, type Candidate } from './candidate.js';

/**
 * What is known of goroutines while the candidate runs: `lock` the procedure that takes the lock for which they wait;
 * `unknown` if nothing decides between a lock and unequal work; `channels` if they mostly wait at channels, or what
 * runs does not belong to the lock; null if this is another kind of wait.
 */
type Reason = { lock: number } | 'unknown' | 'channels' | null;

/** The least share of the code beside which threads rest that runs where the lock is taken. */
const mostly = 0.5;

export function restOf(context: FindingContext, { waited, members }: Candidate): Reason {
  if (!waited || !isRestOfGo(context, item(context.model.entities, waited.object))) return null;
  const { lockNs, channelNs, taker } = goroutineWaits(context);
  if (lockNs === 0 && channelNs === 0) return 'unknown';
  if (taker === null || lockNs <= channelNs) return 'channels';
  // Who has the lock works in the procedure that takes it.
  const inside = pathsThrough(context, new Set([taker]));
  const shares = new Map<boolean, number>();
  for (const node of members)
    for (const k of rowsOfKey(context.tables.byStack, node))
      addTo(shares, inside[u32(context.model.raw.tuples.stack, k)] === 1, f64(context.tables.weights, k));
  const its = shares.get(true) ?? 0;
  return its > 0 && its >= mostly * (its + (shares.get(false) ?? 0)) ? { lock: taker } : 'channels';
}

/** The finding about the lock for which goroutines wait while the candidate runs, if that is so. */
export function goroutineLock(
  context: FindingContext,
  candidate: Candidate,
  rest = restOf(context, candidate),
): Finding | null {
  if (rest === null || typeof rest === 'string') return null;
  const { model } = context;
  const { id, stats, waited, parts } = candidate;
  return findingOf(model, {
    entity: rest.lock,
    kind: 'lock-contention',
    change: 'wait-less',
    advice: noAdvice,
    costNs: stats.cost,
    savingNs: stats.lost,
    processorUse: processorUse(model, stats),
    facts: { form: 'goroutine-lock', code: id, parts, waiting: waitingAt(waited), handingNs: null },
    related: [id, ...parts, ...(waited ? [waited.object] : [])],
  });
}

/**
 * What it costs that goroutines hand the lock on, and that threads go to rest and are woken for it, is one cause: the
 * finding about the library's locks becomes part of that about this lock, and threads that are woken from rest are none
 * of their own.
 */
export function joinGoroutines(context: FindingContext, findings: readonly Finding[]): Finding[] {
  const lock = findings.find(({ facts }) => facts.form === 'goroutine-lock');
  if (lock?.facts.form !== 'goroutine-lock') return [...findings];
  const churn = findings.find(({ facts }) => facts.form === 'lock-churn' && facts.objects.length === 0);
  if (churn) {
    lock.facts.handingNs = churn.costNs;
    lock.costNs = Math.min(context.model.elapsedNs, lock.costNs + churn.costNs);
    lock.savingNs = Math.min(lock.costNs, lock.savingNs + churn.savingNs);
  }
  return findings.filter((one) => one !== churn && !wakesFromRest(context, one, lock));
}

function wakesFromRest(context: FindingContext, { facts }: Finding, lock: Finding): boolean {
  if (facts.form !== 'wake-ups' || facts.objects.length === 0 || facts.leastNs > lock.savingNs) return false;
  return facts.objects.every((id) => isRestOfGo(context, item(context.model.entities, id)));
}
