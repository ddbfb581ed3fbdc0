/** Sentences for threads that alternately write the same cache line. */
import { item } from '../../model/index.js';
import type { Finding, SharingFacts } from '../../model/index.js';
import { count } from '../format/units.js';
import type { Phrases, Sentences } from '../wording/phrases.js';
import { remediesOfSharing } from '../wording/remedies.js';

const done = (how: SharingFacts['how'], variable: string): string => {
  const of = variable === '' ? '' : ` of ${variable}`;
  switch (how) {
    case 'words-apart':
      return `write different words of the same cache line${variable === '' ? '' : `, in ${variable}`} (false sharing)`;
    case 'changed':
      return `change the same word${of} by atomic operations`;
    case 'exchanged':
      return `compare and exchange the same word${of}`;
  }
};

export function sharing(
  finding: Finding,
  { how, variable, lines, threads, share: part, savesNs, mostNs, lock }: SharingFacts,
  { model, title, costs, processorUse, time, share }: Phrases,
): Sentences {
  const more = lines > 1 ? `; they do the same with ${count(lines - 1)} more cache line${lines > 2 ? 's' : ''}` : '';
  return {
    text:
      `${count(threads)} threads in ${title(finding.entity)} ${done(how, variable)}: they take turns, so that the ` +
      `line moves from CPU to CPU all the time${more}. That code takes ${costs(finding.costNs)} while ` +
      `${processorUse(finding.processorUse)}; about ${share(part)} of this time is at such accesses.`,
    remedy:
      `${remediesOfSharing[how]}: that saves ` +
      (time(savesNs) === time(mostNs)
        ? `up to ${time(mostNs)}.`
        : `up to ${time(savesNs)} if only these accesses wait for the line, and up to ${time(mostNs)} if the ` +
          'instructions after them wait for it, too.') +
      ' Samples do not show how long they wait (on hyperthreads of one core hardly at all); ' +
      "quartz run --try 'taskset -c 0 PROGRAM', on one CPU, does." +
      (lock === null
        ? ''
        : ` The word may be that of ${title(item(model.findings, lock.finding).entity)} ` +
          `(finding ${lock.finding + 1}), which this code takes: then take it less often (several items each time, ` +
          'or data of its own for each thread, combined at the end), which saves both, up to ' +
          `${time(lock.bothNs)}.`),
  };
}
