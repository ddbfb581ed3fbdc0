/** Notices about conditions at which threads are woken needlessly. Pure. */
import { waitsAgain } from '../evidence/locks/waits-again.js';
import type { WaitsAgainNotice } from '../result/notices.js';
import type { Model } from '../result/types.js';

/** Except for conditions that a finding already reports. */
export function conditionsWaitedAtAgain(model: Model, reported: ReadonlySet<number>): WaitsAgainNotice[] {
  return model.entities.flatMap((condition) => {
    const count = reported.has(condition.id) ? 0 : waitsAgain(model, condition);
    const waits = condition.object?.contended ?? 0;
    return count > 0 ? [{ form: 'waits-again', condition: condition.id, count, waits }] : [];
  });
}
