/** Sentences for locks that are acquired very often, although threads hardly wait for them. */
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
      `${by === null ? '' : `, mostly in ${title(by)}`}: ${often(facts, say)}. During this time, ` +
      `${processorUse(finding.processorUse)}.`,
    remedy:
      'Take it less often, and do more work each time; give each thread data of its own, and combine it at the end; ' +
      'data that is only read needs no lock; code that polls can wait instead (a condition, a semaphore). ' +
      `Taking it ${rarer} times less often would save ${least === most ? least : `${least} to ${most}`}` +
      `${lineMoves(facts) ? ', and more if the code inside waits for data from other CPUs' : ''}.`,
  };
}

/** For objects that are not locks: values are passed from thread to thread, one at a time. */
function passing(finding: Finding, facts: LockChurnFacts, say: Phrases): Sentences {
  const { by, oneSided, share: part, mostNs, rarer } = facts;
  const { title, costs, processorUse, time, share } = say;
  return {
    text:
      `${oneSided ? 'Using channels' : 'Passing values on one by one'} costs ${costs(finding.costNs)}, ` +
      `${share(part)} of the processor time` +
      `${by === null ? '' : `, mostly for ${title(by)}`}: in the run-time library's channels, and in waking, ` +
      'switching and choosing what runs next' +
      `${oneSided ? '. Hardly any of that is at the other ends of the channels' : ''}. ` +
      `During this time, ${processorUse(finding.processorUse)}.`,
    remedy:
      (oneSided
        ? 'If it polls for values (a select with default), let it wait for them instead. Otherwise pass on '
        : 'Pass on ') +
      'more values at a time (batches, a buffered channel), or use values where they are produced; ' +
      `passing them on ${rarer} times less often would save ${time(mostNs)}, and more if the work itself waits ` +
      'for data from other CPUs.',
  };
}

function often({ counts }: LockChurnFacts, { time }: Phrases): string {
  if (counts === null)
    return (
      "these are the run-time library's own locks, which are not counted; the time is for retrying, spinning and " +
      'waking'
    );
  const { times, waits, eachNs, freeNs } = counts;
  const moves = lineMoves({ counts })
    ? `, compared with ${time(freeNs)} for a lock that only one CPU uses: its cache line moves from CPU to CPU`
    : '';
  const waited = waits === 0 ? 'no thread had to wait' : `threads had to wait ${counted(count(waits), 'time')}`;
  return (
    `locks were taken ${counted(count(times), 'time')} with little work in between, at ${time(eachNs)} of ` +
    `processor time each${moves}; ${waited}`
  );
}
