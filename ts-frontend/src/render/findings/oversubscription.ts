/** More threads that can run than CPUs. */
import type { Finding, OversubscriptionFacts } from '../../model/index.js';
import { count, mean } from '../format/units.js';
import { counted, type Phrases, type Sentences } from '../wording/phrases.js';

export function oversubscription(
  finding: Finding,
  facts: OversubscriptionFacts,
  { model, title, costs, meanwhile, time }: Phrases,
): Sentences {
  const { spinners, woken, cpuWait, fewer, blocking } = facts;
  const one = spinners !== null && mean(spinners.threads) === '1';
  const head = `More threads can run than there are CPUs, during ${costs(facts.crowdedNs)}: ${mean(facts.runnable)} of them on average, on ${counted(count(model.processors), 'CPU')}`;
  const effect = spinners
    ? `${mean(spinners.threads)} of these only ${one ? 'spins' : 'spin'}, for ${title(spinners.object)}, and ${one ? 'takes' : 'take'} the CPUs from those that have work.`
    : `By itself that costs no elapsed time, for ${meanwhile(finding.meanwhile)}.`;
  const wokenText = woken
    ? ` ${mean(woken.threads)} of these ${mean(woken.threads) === '1' ? 'has' : 'have'} been woken and ${mean(woken.threads) === '1' ? 'waits' : 'wait'} for a CPU, most often at ${title(woken.object)}.`
    : '';
  const further = fewer.mostNs === null ? '' : `; with all the waiting that goes with it up to ${time(fewer.mostNs)}`;
  const savings =
    blocking === null
      ? `, or let waiters block; what the others lose to the spinning is ${time(fewer.savesNs)}${further}`
      : `: what the others lose to the spinning, and to waiting and waking behind it, is ${time(fewer.savesNs)}${further}. Waiters that block at once would still save ${time(blocking)}`;
  return {
    text: `${head}. ${effect}${wokenText}${cpuWait ? ` Its threads waited ${time(cpuWait.waitNs)} for CPUs, at most ${time(cpuWait.ownNs)} of that for each other.` : ''}`,
    remedy: facts.harmful
      ? `Run no more threads than CPUs${savings}.`
      : 'No more threads than CPUs would do as much: the rest only costs switches and memory.',
  };
}
