/** Locks that are taken very often, although hardly anybody waits for them. */
import { lineMoves } from '../../model/index.js';
import type { Finding, LockChurnFacts } from '../../model/index.js';
import { count } from '../format/units.js';
import { counted, type Phrases, type Sentences } from '../wording/phrases.js';

export function lockChurn(finding: Finding, facts: LockChurnFacts, say: Phrases): Sentences {
  const { title, name, costs, processorUse, time, share } = say;
  const { objects, by, times, waits, eachNs, freeNs, leastNs, mostNs, rarer } = facts;
  const each = lineMoves(facts)
    ? `${time(eachNs)} of processor time each, where one that a single CPU uses takes ${time(freeNs)}: with it a cache ` +
      'line goes from CPU to CPU'
    : `${time(eachNs)} of processor time each`;
  const waited = waits === 0 ? 'nobody had to wait' : `${counted(count(waits), 'time')} somebody had to wait`;
  const least = time(leastNs),
    most = time(mostNs);
  return {
    text:
      `Taking and releasing ${objects.map(title).join(', ')} costs ${costs(finding.costNs)}, ` +
      `${share(facts.share)} of the processor time${by === null ? '' : `, mostly in ${name(by)}`}: ` +
      `locks were taken ${counted(count(times), 'time')} with little work in between, ${each}; ${waited}. At that ` +
      `time ${processorUse(finding.processorUse)}.`,
    remedy:
      'Take it less often, for more work at once; give each thread data of its own, joined at the end; what is only ' +
      'read needs no lock; if it polls, let it wait (a condition, a semaphore). ' +
      `Taken ${rarer} times less often, that would save ${least === most ? least : `${least} to ${most}`}.`,
  };
}
