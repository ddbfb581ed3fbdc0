/**
 * Notice about locks that are acquired and released repeatedly with hardly any work in between: either polling that
 * looks like work, or a lock around too little work. Which of the two it is cannot be observed, so both are mentioned
 * (docs/reference/findings.md, "Notices"). Pure.
 */
import { Purpose } from '../profile/abi.js';
import { addAt, f64, item } from '../profile/columns.js';
import { shownId } from '../evidence/context.js';
import { isFor } from '../evidence/purposes.js';
import { isLock } from '../evidence/wait-kinds.js';
import type { LockChurnNotice } from '../result/notices.js';
import type { Entity, Finding, Model } from '../result/types.js';

/** The maximum processor time per acquisition, in ns: about what a lock, an unlock and reading a variable take. */
const leastEachNs = 250;
const leastTimes = 100_000;
/** The least share of the elapsed time that is reported. */
const leastCost = 0.05;

export function churnedLocks(model: Model, findings: readonly Finding[]): LockChurnNotice[] {
  const said = new Set(
    findings.flatMap(({ facts }) => (facts.form === 'lock-churn' || facts.form === 'hand-overs' ? facts.objects : [])),
  );
  const notices: LockChurnNotice[] = [];
  // filled in one pass: programs have thousands of locks, but hardly any that is acquired so often
  const times = new Float64Array(model.entities.length);
  for (const { entity, acquisitions } of model.raw.objects) addAt(times, shownId(model, entity), acquisitions);
  for (const lock of model.entities) {
    if (lock.group !== 0 || said.has(lock.id) || f64(times, lock.id) < leastTimes || !isLock(lock)) continue;
    const [caller] = lock.callers;
    const by = caller ? model.entities[caller.entity] : undefined;
    if (!caller || !by || by.kind !== 'procedure' || caller.count < leastTimes) continue;
    const spent = by.processorTimeSelfNs + lock.processorTimeSelfNs + lockingNs(model, by);
    if (spent / caller.count >= leastEachNs || spent < leastCost * model.elapsedNs) continue;
    notices.push({
      form: 'lock-churn',
      lock: lock.id,
      by: shownId(model, by.id),
      times: caller.count,
      eachNs: spent / caller.count,
      totalNs: spent,
    });
  }
  return notices;
}

/** Processor time in the C library's locking functions that it calls. */
function lockingNs(model: Model, by: Entity): number {
  let ns = 0;
  for (const { entity } of by.callees) {
    const callee = item(model.entities, entity);
    if (isFor(callee, Purpose.pthreadLock)) ns += callee.processorTimeSelfNs;
  }
  return ns;
}
