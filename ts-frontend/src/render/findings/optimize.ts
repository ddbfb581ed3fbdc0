/** Sentences for code that takes most of the time while all processors are busy. */
import { item } from '../../model/index.js';
import type { Finding, OptimizeFacts } from '../../model/index.js';
import { count } from '../format/units.js';
import { withoutLibrary } from '../wording/library-locks.js';
import { heldText, type Phrases, type Sentences } from '../wording/phrases.js';
import { remediesOfSharing, waysToCopyLess } from '../wording/remedies.js';

/** What holds for all such findings is said in the first. */
const isFirst = (finding: Finding, { findings }: Phrases['model']): boolean =>
  findings.find(({ facts }) => facts.form === 'optimize') === finding;

export function optimize(finding: Finding, facts: OptimizeFacts, say: Phrases): Sentences {
  const { model, title, name, costs, processorUse, time, share } = say;
  const { within, beside, mostNs, calledNs, restNs, even, together, handedOn, spread, unnamed } = facts;
  const { around, allocatorNs, copyingNs, guessed, waited, chainsNs, library, atomics, loop } = facts;
  const entity = item(model.entities, finding.entity);
  const extent = spread
    ? 'with everything that it calls'
    : unnamed
      ? 'with the unnamed procedures of its library that run for it'
      : 'itself';
  const subject = entity.kind === 'lock' ? heldText(title(entity.id)) : `${title(entity.id)} ${extent}`;
  const part = within ? `, ${time(within.ns)} of that in ${name(within.entity)},` : '';
  const help = finding.processorUse.idle < 0.05 ? 'cannot help' : 'helps little';
  const other = beside
    ? ` ${title(beside.entity)} takes more (${share(beside.ns / model.elapsedNs)}), but other threads run it, and ` +
      `${title(beside.main)}, which is at work ` +
      `${share(Math.min(1, item(model.entities, beside.main).processorTimeNs / model.elapsedNs))} of the time, ` +
      'waits for none of them.'
    : '';
  const inLoop = loop === null ? '' : `, mostly in the loop at ${loop},`;
  const flat = spread && within === null ? ' No procedure in it takes a tenth of the elapsed time by itself.' : '';
  const called = calledNs >= mostNs / 10 ? ` (${time(mostNs + calledNs)} with the procedures that it calls)` : '';
  const allNs = mostNs + calledNs + restNs;
  const rest =
    restNs >= mostNs / 10
      ? `, and ${time(allNs)} with the ${time(restNs)} that it takes while fewer processors are busy`
      : '';
  const caller =
    around === null
      ? ''
      : ` ${title(around.entity)}, which calls it, takes ${costs(around.ns)} with everything that it calls: if ` +
        'that is needed less often, or not at all, all of this goes.';
  const comparison = even
    ? ` To save as much as finding ${even.finding + 1}, it would have to take ${share(even.part)} less time.`
    : '';
  const doubt = handedOn
    ? ' Threads hand locks or data to each other all the time, so part of this may be waiting for data from other ' +
      'CPUs.'
    : together >= 2 && isFirst(finding, model)
      ? ` Whether the ${count(together)} threads that run it at the same time slow each other down (shared cache ` +
        'lines, memory bandwidth), quartz run --try with a single thread shows.'
      : '';
  const doubted = !guessed
    ? ''
    : waited
      ? ` (by estimate: other programs had CPUs, and threads waited for ${title(waited.lock)} for ` +
        `${time(waited.ns)} in all; if they would do so without these programs, that lock is what limits)`
      : ' (by estimate: other programs had CPUs, and some of the threads may have waited for a lock)';
  return {
    text:
      `${subject}${inLoop} takes ${costs(finding.costNs)}${part} while ` +
      `${processorUse(finding.processorUse)}${doubted}` +
      `${handedOn || guessed ? '' : `: more parallelism ${help} there`}.${flat}${other}`,
    remedy:
      (allocatorNs === null
        ? ''
        : `Allocate less: ${time(allocatorNs)} of it is in the allocator. Reuse memory, allocate larger blocks, or ` +
          'try another allocator (LD_PRELOAD); if MALLOC_ARENA_MAX is set, threads wait for each other there. ') +
      (library === null
        ? ''
        : `${withoutLibrary(library, say)}. What several threads lose by waiting for it and by ` +
          'moving it from CPU to CPU then goes as well. ') +
      (atomics === null
        ? ''
        : `${time(atomics.ns)} of it is at atomic operations on words that several threads change` +
          `${atomics.variable === '' ? '' : ` (most of it: ${atomics.variable})`}. ` +
          `${remediesOfSharing[atomics.how]}. `) +
      (copyingNs === null ? '' : `Copy less, for ${time(copyingNs)} of it copies memory: ${waysToCopyLess}. `) +
      (chainsNs === null
        ? ''
        : `Look at the hash table: ${time(chainsNs)} of it goes through the elements of its buckets. Samples cannot ` +
          'show whether these are many, because the hash function gives different keys one value, or whether few ' +
          'wait for memory: count the largest bucket (bucket_size), then mix all bits of the key in the hash ' +
          'function, or use a table without lists. ') +
      `Make it faster: every 10 % saves ${time(mostNs / 10)}, all of it ${time(mostNs)}${called}${rest}.` +
      caller +
      `${comparison}${doubt}`,
  };
}
