/**
 * Limits by data that is turned into bytes for other processes, or for threads with heaps of their own, and back
 * (docs/reference/findings.md, "Serialization"). Pure.
 */
import { Purpose } from '../profile/abi.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, processorUseOf } from '../evidence/context.js';
import { cover, mostOf, workBelow } from '../evidence/work-below.js';
import type { Finding, Model } from '../result/types.js';

/** It does what it is for below this part of the elapsed time. */
const leastPart = 0.1;

/** There are other processes of this program that the bytes may be for. */
const hasOthers = ({ head }: Model): boolean =>
  head.processesStarted > 0 || head.childrenRunNs > 0 || head.relatedMilli > 0;

export function serializationFindings(context: FindingContext): Finding[] {
  const { model, least } = context;
  const work = workBelow(context, hasOthers(model) ? Purpose.serialization : Purpose.cloning);
  const [entity] = mostOf(work.byEntry) ?? [0];
  if (work.cost < Math.max(least, leastPart * model.elapsedNs)) return [];
  cover(context, work);
  const caller = mostOf(work.byCaller)?.[0] ?? 0;
  return [
    findingOf(model, {
      entity,
      kind: 'overhead',
      change: 'coarsen',
      costNs: work.cost,
      savingNs: work.cost,
      processorUse: processorUseOf(model.processors, work.busy / work.cost, work.spinning / work.cost),
      facts: {
        form: 'serialization',
        share: work.busy / Math.max(1, model.root.processorTimeNs),
        between: hasOthers(model) ? 'processes' : 'threads',
        caller: caller === 0 ? null : caller,
        savesNs: work.cost,
      },
      related: caller === 0 ? [] : [caller],
    }),
  ];
}
