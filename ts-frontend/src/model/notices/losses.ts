/** What was lost, damaged or came late while it was recorded, each only where there is some. Pure. */
import type { LossNotice, Notice } from '../result/notices.js';
import type { Model } from '../result/types.js';

/** Fewer torn copies are of no weight: an innermost entry in a hundred, against intervals wider than that. */
const leastTorn = 0.01;
/** Snapshots skipped, of those due. */
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
