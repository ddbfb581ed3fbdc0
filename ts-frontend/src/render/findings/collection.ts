/** A run-time's garbage collection. */
import type { CollectionFacts, Finding } from '../../model/index.js';
import type { Phrases, Sentences } from '../wording/phrases.js';

export function collection(
  finding: Finding,
  { share: part, fewer, savesNs, mostNs }: CollectionFacts,
  { title, costs, processorUse, time, share }: Phrases,
): Sentences {
  return {
    text:
      `Garbage collection takes ${share(part)} of the processor time, most of it in ${title(finding.entity)}. ` +
      `That costs ${costs(finding.costNs)}, while ${processorUse(finding.processorUse)}.`,
    remedy:
      'Give it a larger heap (java -Xmx, GOGC, node --max-old-space-size), so that it collects less often, or ' +
      `allocate less; ${fewer} times fewer collections would save ${time(savesNs)}` +
      `${time(savesNs) === time(mostNs) ? '' : ` to ${time(mostNs)}, the latter if nobody waited for them either`}.`,
  };
}
