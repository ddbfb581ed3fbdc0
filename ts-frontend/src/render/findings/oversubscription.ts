/** Sentences for more runnable threads than CPUs. */
import type { Finding, OversubscriptionFacts } from '../../model/index.js';
import { count, mean } from '../format/units.js';
import { counted, type Phrases, type Sentences } from '../wording/phrases.js';

export function oversubscription(
  finding: Finding,
  facts: OversubscriptionFacts,
  { model, title, costs, processorUse, time }: Phrases,
): Sentences {
  const { spinners, woken, cpuWait, fewer, blocking } = facts;
  const one = spinners !== null && mean(spinners.threads) === '1';
  const head =
    `There are more runnable threads than CPUs for ${costs(facts.oversubscribedNs)}: ${mean(facts.runnable)} on ` +
    `average, on ${counted(count(model.processors), 'CPU')}`;
  const effect = spinners
    ? `${mean(spinners.threads)} of these only ${one ? 'spins' : 'spin'}, waiting for ${title(spinners.object)}, and ` +
      `${one ? 'takes' : 'take'} CPU time from threads that have work${
        facts.passing ? `: values are passed on one by one, in ${facts.passing.map(title).join(' and ')}` : ''
      }.`
    : `What it costs is not known: the CPUs are busy (${processorUse(finding.processorUse)}), but threads waited ` +
      `for each other ${counted(count(facts.handOvers ?? 0), 'time')}, and each wait may move data from CPU to CPU.`;
  const wokenText = woken
    ? ` ${mean(woken.threads)} of these ${mean(woken.threads) === '1' ? 'has' : 'have'} been woken, most often at ` +
      `${title(woken.object)}, and ${mean(woken.threads) === '1' ? 'waits' : 'wait'} for a CPU.`
    : '';
  const further = fewer.mostNs === null ? '' : `, or up to ${time(fewer.mostNs)} with the waiting that results from it`;
  const savings =
    blocking === null
      ? `, or let waiters block: the other threads lose ${time(fewer.savesNs)} to the spinning${further}`
      : `: the other threads lose ${time(fewer.savesNs)} to the spinning and to the calls that wait and wake before ` +
        `and after it${further}. Letting waiters block at once instead would save ${time(blocking)}`;
  return {
    text: `${head}. ${effect}${wokenText}${
      cpuWait
        ? ` The program's threads waited for CPUs for ${time(cpuWait.waitNs)}, at ` +
          `most ${time(cpuWait.ownNs)} of that because of each other.`
        : ''
    }`,
    remedy: facts.passing
      ? 'Pass several values at a time, or make more room in the queue, so that those who send and those who receive ' +
        `seldom wait for each other: the other threads lose ${time(fewer.savesNs)} to the spinning${further}, and ` +
        'what giving up the CPU takes comes on top. Fewer threads would still wait for each other.'
      : facts.harmful
        ? `Run no more threads than CPUs${savings}.`
        : 'Try as many threads as CPUs, and a single thread: quartz run --try measures what that saves.',
  };
}
