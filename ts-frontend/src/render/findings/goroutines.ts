/** Sentences for locks for which goroutines wait, so that threads of Go's run-time library rest. */
import type { Finding, GoroutineLockFacts } from '../../model/index.js';
import type { Phrases, Sentences } from '../wording/phrases.js';

export function goroutineLock(finding: Finding, facts: GoroutineLockFacts, say: Phrases): Sentences {
  const { title, name, time } = say;
  const code = facts.code === finding.entity ? 'it' : name(facts.code);
  const handing = facts.handingNs === null ? '' : `; ${time(facts.handingNs)} of that is switching and waking for it`;
  return {
    text:
      `Goroutines wait for a lock of package sync that ${title(finding.entity)} takes: that costs ` +
      `${say.costs(finding.costNs)}${handing}. While ${code} ran, ${say.processorUse(finding.processorUse)}` +
      `${say.waitingAt(facts.waiting)}. The waits themselves are not recorded: this follows from what goroutines ` +
      'call before and after them, and from the code that ran meanwhile.',
    remedy:
      'Hold the lock for less time (do before or after it what needs no protection), split what it protects, or give ' +
      `each goroutine data of its own, combined at the end; that could save up to ${time(finding.savingNs)}.`,
  };
}
