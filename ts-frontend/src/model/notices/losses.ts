/** Notices about data that was lost or damaged, and snapshots that were skipped; each only if there is any. Pure. */
import type { LossNotice, Notice } from '../result/notices.js';
import type { Model } from '../result/types.js';

/** The least share of torn copies that matters: fewer are less than the width of the intervals. */
const leastTorn = 0.01;
/** The least share of due snapshots that were skipped. */
const leastSkipped = 0.05;

export function losses({ head, slowdown }: Model): Notice[] {
  const loss = (what: LossNotice['what'], count: number, of: number | null = null): LossNotice[] =>
    count > 0 ? [{ form: 'loss', what, count, of }] : [];
  const due = head.snapshots + head.skippedTicks;
  return [
    ...(head.tornAccepted >= leastTorn * head.visits ? loss('torn-copies', head.tornAccepted, head.visits) : []),
    ...loss('invalid-records', head.invalid),
    ...loss('deep-calls', head.stackOverflows, head.stackLimit),
    ...loss('calls', head.callsLost),
    ...loss('threads', head.threadsDropped),
    ...loss('shared-records', head.objectsMerged),
    ...loss('names', head.stringsDropped),
    ...loss('runnable-detail', head.tuplesMerged),
    ...loss('cut-stacks', head.stacksCut),
    ...loss('grouped-threads', head.entitiesMerged),
    ...(slowdown.unmeasured.length > 0 ? [{ form: 'unmeasured', what: slowdown.unmeasured } as const] : []),
    ...(head.skippedTicks > leastSkipped * due
      ? [{ form: 'skipped-snapshots', skipped: head.skippedTicks, due } as const]
      : []),
  ];
}
