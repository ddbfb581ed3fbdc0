/**
 * Limits by processes that are started and ended, rather than by what they do (docs/reference/findings.md,
 * "Starting processes"). Pure.
 */
import { Purpose } from '../profile/abi.js';
import { item } from '../profile/columns.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, processorUseOf } from '../evidence/context.js';
import { isFor } from '../evidence/purposes.js';
import { cover, mostOf, workBelow, type WorkBelow } from '../evidence/work-below.js';
import type { Finding, Model } from '../result/types.js';

/** Making processes does what it is for below this part of the elapsed time. */
const leastPart = 0.05;
/** So many times fewer processes leave the rest of that. */
const fewer = 10;
/**
 * A process with less processor time than this, and so many times what it took to make it, does little but begin and
 * end: memory that was copied is also given back.
 */
const shortNs = 5e6;
const shortMaking = 1.5;
/** Fewer of them may have been seen by chance, or each be a stage of the work. */
const leastStarted = 10;

/** Processor time of each child, its beginning and end included; null: how many there were is not known. */
const eachOf = ({ head }: Model): number | null =>
  head.processesStarted > 0 && head.childrenRunNs > 0 ? head.childrenRunNs / head.processesStarted : null;

function areShort(model: Model, ownNs: number): boolean {
  const { processesStarted: started } = model.head;
  const each = eachOf(model);
  return each !== null && started >= leastStarted && each <= shortNs + (shortMaking * ownNs) / started;
}

/** Processes are made by copying this one: with the tables of all of its memory. */
function copies({ entities }: Model, { byEntry, cost }: WorkBelow): boolean {
  let ns = 0;
  for (const [id, npt] of byEntry)
    if (isFor(item(entities, id), Purpose.processMaking) && !isFor(item(entities, id), Purpose.children)) ns += npt;
  return ns > 0 && ns >= cost / 2;
}

/** `ofIo`: waits for input, output and children; those for children that hardly do anything are part of this. */
export function processStarts(
  context: FindingContext,
  ofIo: readonly Finding[],
): { starts: Finding[]; ofIo: readonly Finding[] } {
  const { model, least } = context;
  const work = workBelow(context, Purpose.processMaking | Purpose.children);
  const isShort = areShort(model, work.busy);
  const waits = ofIo.find(({ facts }) => isShort && facts.form === 'io' && facts.waits === 'children');
  const waitedNs = waits?.costNs ?? 0;
  const costNs = Math.min(model.elapsedNs, work.cost + waitedNs);
  if (costNs < Math.max(least, leastPart * model.elapsedNs)) return { starts: [], ofIo };
  cover(context, work);
  const saved = (ns: number): number => ns * (1 - 1 / fewer);
  // Named after what makes them, where that is seen, rather than after what waits for them.
  const making = workBelow(context, Purpose.processMaking);
  const { byEntry, byCaller } = making.cost > 0 ? making : work;
  const called = mostOf(byEntry)?.[0] ?? null;
  const caller = mostOf(byCaller)?.[0] ?? waits?.entity ?? 0;
  const average = (ofWork: number, ofWaits: number): number =>
    (work.cost * ofWork + waitedNs * ofWaits) / (work.cost + waitedNs);
  const starts = findingOf(model, {
    entity: caller,
    kind: 'overhead',
    change: 'coarsen',
    costNs,
    savingNs: saved(costNs),
    processorUse: processorUseOf(
      model.processors,
      average(work.cost > 0 ? work.busy / work.cost : 0, waits?.processorUse.busy ?? 0),
      average(work.cost > 0 ? work.spinning / work.cost : 0, waits?.processorUse.spinning ?? 0),
    ),
    facts: {
      form: 'process-starts',
      called,
      started: model.head.processesStarted > 0 ? model.head.processesStarted : null,
      eachNs: eachOf(model),
      ownNs: work.cost,
      waitedNs,
      copies: copies(model, making),
      residentBytes: model.kernelUsage?.residentBytes ?? 0,
      fewer,
      leastNs: saved(work.cost),
      savesNs: saved(costNs),
    },
    related: called === null ? [] : [called],
  });
  return { starts: [starts], ofIo: ofIo.filter((one) => one !== waits) };
}
