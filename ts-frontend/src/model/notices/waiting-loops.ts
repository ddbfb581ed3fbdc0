/** Loops that nobody marked and that were found to do nothing but wait. Pure. */
import { leastShare } from '../evidence/context.js';
import { isLock } from '../evidence/wait-kinds.js';
import type { WaitingLoopNotice } from '../result/notices.js';
import type { Model } from '../result/types.js';

export function waitingLoops({ entities, elapsedNs }: Model): WaitingLoopNotice[] {
  const notices: WaitingLoopNotice[] = [];
  for (const entity of entities) {
    if (entity.rawKind !== 'loop' || entity.group !== 0) continue; // of the others nothing is worked out
    const { id, states, object } = entity;
    const ns = states.spinning.ns + states.ready.ns;
    if (object?.counted !== false || ns < leastShare * elapsedNs) continue;
    notices.push({ form: 'waiting-loop', entity: id, ns, lock: isLock(entity) });
  }
  return notices;
}
