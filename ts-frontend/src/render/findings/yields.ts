/** Sentences for threads that wait for each other in a loop with sched_yield. */
import type { Finding, YieldFacts } from '../../model/index.js';
import { count } from '../format/units.js';
import type { Phrases, Sentences } from '../wording/phrases.js';

export function yields(
  finding: Finding,
  { share: part, workShare: work, threads, aloneNs }: YieldFacts,
  { title, costs, processorUse, time, share }: Phrases,
): Sentences {
  return {
    text:
      `${count(threads)} threads wait for each other by sched_yield, called mostly in ${title(finding.entity)}: ` +
      `the call takes ${share(part)} of the processor time; everything that is not waiting takes ${share(work)}. ` +
      `That costs ${costs(finding.costNs)}; on average ${processorUse(finding.processorUse)}.`,
    remedy:
      'Use fewer threads there (for a library often by an environment variable, such as OPENBLAS_NUM_THREADS=1 or ' +
      'OMP_NUM_THREADS=1), or give them larger pieces of work. One thread that does it all would save up to ' +
      `${time(aloneNs)}: quartz run --try measures it.`,
  };
}
