/** Sentences for threads that take turns by busy-waiting for each other. */
import type { Finding, SpinTurnFacts } from '../../model/index.js';
import { count } from '../format/units.js';
import type { Phrases, Sentences } from '../wording/phrases.js';

export function spinTurns(
  finding: Finding,
  { objects, threads, waitingNs, workNs, aloneNs }: SpinTurnFacts,
  { title, costs, processorUse, time }: Phrases,
): Sentences {
  return {
    text:
      `${count(threads)} threads busy-wait for each other so often that a single thread would finish all of the ` +
      `work sooner: they spend ${time(waitingNs)} of processor time at ${objects.map(title).join(' and ')}, while ` +
      `all of their work takes only ${time(workNs)}. That costs ${costs(finding.costNs)}; on average ` +
      `${processorUse(finding.processorUse)}.`,
    remedy:
      'Use fewer threads there, or give them more work between two waits. Doing all of it in one thread would save ' +
      `${time(aloneNs)}, and more if the data now moves from CPU to CPU; quartz run --try measures how much.`,
  };
}
