/** Sentences for garbage collection by a language's run-time. */
import type { CollectionFacts, Finding } from '../../model/index.js';
import type { Phrases, Sentences } from '../wording/phrases.js';

export function collection(
  finding: Finding,
  { share: part, fewer, savesNs, mostNs, allocating }: CollectionFacts,
  { title, name, costs, processorUse, time, share }: Phrases,
): Sentences {
  const where = allocating === null ? '' : ` (do less in ${name(allocating.entity)}, or reuse what it makes)`;
  return {
    text:
      `Garbage collection takes ${share(part)} of the processor time, most of it in ${title(finding.entity)}. ` +
      `That costs ${costs(finding.costNs)}, while ${processorUse(finding.processorUse)}.` +
      (allocating === null
        ? ''
        : ` Allocating takes another ${share(allocating.share)}, ${share(allocating.part)} of it for ` +
          `${title(allocating.entity)}, with what it calls.`),
    remedy:
      'Give it a larger heap (java -Xmx, GOGC, node --max-old-space-size), so that it collects less often, or ' +
      `allocate less${where}; ${fewer} times fewer collections would save ${time(savesNs)}` +
      `${time(savesNs) === time(mostNs) ? '' : ` to ${time(mostNs)}, the latter if nobody waited for them either`}.`,
  };
}
