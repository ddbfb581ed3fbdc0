/** Locks that are taken very often, although hardly anybody waits for them. */
import { lineMoves } from '../../model/index.js';
import type { Finding, LockChurnFacts } from '../../model/index.js';
import { count } from '../format/units.js';
import { counted, type Phrases, type Sentences } from '../wording/phrases.js';

export function lockChurn(finding: Finding, facts: LockChurnFacts, say: Phrases): Sentences {
  const { title, costs, processorUse, time, share } = say;
  const { objects, by, share: part, leastNs, mostNs, rarer } = facts;
  if (facts.passing) return passing(finding, facts, say);
  const what = objects.length > 0 ? objects.map(title).join(', ') : 'locks';
  const least = time(leastNs),
    most = time(mostNs);
  return {
    text:
      `Taking and releasing ${what} costs ${costs(finding.costNs)}, ${share(part)} of the processor time` +
      `${by === null ? '' : `, mostly in ${title(by)}`}: ${often(facts, say)}. At that time ` +
      `${processorUse(finding.processorUse)}.`,
    remedy:
      'Take it less often, for more work at once; give each thread data of its own, joined at the end; what is only ' +
      'read needs no lock; if it polls, let it wait (a condition, a semaphore). ' +
      `Taken ${rarer} times less often, that would save ${least === most ? least : `${least} to ${most}`}` +
      `${lineMoves(facts) ? ', and more where the code inside waits for data of other CPUs' : ''}.`,
  };
}

/** Not locks: values go from one to the next, one by one. */
function passing(finding: Finding, { by, share: part, mostNs, rarer }: LockChurnFacts, say: Phrases): Sentences {
  const { title, costs, processorUse, time, share } = say;
  return {
    text:
      `Passing on values one by one costs ${costs(finding.costNs)}, ${share(part)} of the processor time` +
      `${by === null ? '' : `, mostly for ${title(by)}`}: the run-time library's channels, and waking, switching and ` +
      `looking for what can go on. At that time ${processorUse(finding.processorUse)}.`,
    remedy:
      'Pass on more at a time (pieces of many values, a channel with room for them), or use values where they are ' +
      `made; ${rarer} times less often, that would save ${time(mostNs)}, and more where the work itself waits for ` +
      'data of other CPUs.',
  };
}

function often({ counts }: LockChurnFacts, { time }: Phrases): string {
  if (counts === null)
    return 'the run-time library makes these locks itself, and nobody counts them; it retries, spins and wakes there';
  const { times, waits, eachNs, freeNs } = counts;
  const moves = lineMoves({ counts })
    ? `, where one that a single CPU uses takes ${time(freeNs)}: with it a cache line goes from CPU to CPU`
    : '';
  const waited = waits === 0 ? 'nobody had to wait' : `${counted(count(waits), 'time')} somebody had to wait`;
  return (
    `locks were taken ${counted(count(times), 'time')} with little work in between, ${time(eachNs)} of processor ` +
    `time each${moves}; ${waited}`
  );
}
