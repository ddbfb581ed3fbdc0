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
      `${count(threads)} threads wait for each other by calling sched_yield repeatedly, mostly in ` +
      `${title(finding.entity)}: these calls take ${share(part)} of the processor time, and all work other than ` +
      `waiting takes ${share(work)}. ` +
      `That costs ${costs(finding.costNs)}; on average ${processorUse(finding.processorUse)}.`,
    remedy:
      'Use fewer threads there (many libraries read an environment variable, such as OPENBLAS_NUM_THREADS=1 or ' +
      'OMP_NUM_THREADS=1), or give them larger pieces of work. Doing all the work in one thread would save up to ' +
      `${time(aloneNs)}; quartz run --try measures how much.`,
  };
}
