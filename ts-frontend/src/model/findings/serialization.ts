/**
 * Findings about serialization: converting data to bytes and back, for other processes or for threads with separate
 * heaps (docs/reference/findings.md, "Serialization"). Pure functions.
 */
import { Purpose } from '../profile/abi.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, processorUseOf } from '../evidence/context.js';
import { cover, mostOf, workBelow } from '../evidence/code/work-below.js';
import type { Finding, Model } from '../result/types.js';

/** The least share of the elapsed time that is reported: below it, serialization is worth its cost. */
const leastPart = 0.1;

/** Whether the program has other processes that the bytes may be for. */
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
