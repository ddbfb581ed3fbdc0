/** Sentences for garbage collection by a language's run-time. */
import type { CollectionFacts, Finding } from '../../model/index.js';
import type { Phrases, Sentences } from '../wording/phrases.js';

export function collection(
  finding: Finding,
  { share: part, fewer, savesNs, mostNs, allocating }: CollectionFacts,
  { title, name, costs, processorUse, time, share }: Phrases,
): Sentences {
  const where = allocating === null ? '' : ` (create fewer objects in ${name(allocating.entity)}, or reuse them)`;
  return {
    text:
      `Garbage collection takes ${share(part)} of the processor time, most of it in ${title(finding.entity)}. ` +
      `That costs ${costs(finding.costNs)}, while ${processorUse(finding.processorUse)}.` +
      (allocating === null
        ? ''
        : ` Allocating takes another ${share(allocating.share)}, of which ${share(allocating.part)} is for ` +
          `${title(allocating.entity)} and the procedures that it calls.`),
    remedy:
      'Give it a larger heap (java -Xmx, GOGC, node --max-old-space-size), so that it collects less often, or ' +
      `allocate less${where}; ${fewer} times fewer collections would save ${time(savesNs)}` +
      `${time(savesNs) === time(mostNs) ? '' : ` to ${time(mostNs)}, the latter if no thread had to wait for them`}.`,
  };
}
