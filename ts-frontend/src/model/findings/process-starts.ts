/**
 * Limits by processes that are started and ended, rather than by what they do (docs/reference/findings.md,
 * "Starting processes"). Pure.
 */
import { Purpose } from '../profile/abi.js';
import { f64, item, u16, u8 } from '../profile/columns.js';
import { pageBytes, shareFaultedAgain } from '../metrics/kernel-usage.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, processorUseOf } from '../evidence/context.js';
import { isFor } from '../evidence/purposes.js';
import { cover, mostOf, workBelow, type WorkBelow } from '../evidence/work-below.js';
import { KernelWork, State } from '../profile/raw-profile.js';
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

/** Page faults are for memory that was used before where so many are; it is not mapped anew where that takes less. */
const mostlyAgain = 0.5;
const hardlyMapped = 0.1;

/** Work of page faults by the copies that fork makes: each page that is written after that is copied, once a child. */
interface Faults {
  cost: number;
  busy: number;
  spinning: number;
  isOf: (tuple: number) => boolean;
}
const noFaults: Faults = { cost: 0, busy: 0, spinning: 0, isOf: () => false };

/**
 * After a fork the first write to each page is a fault. All faults are such where they are for memory that the program
 * had used, no more of them than it has pages for each child, and mapping and unmapping, which would also give memory
 * that was used before, take hardly anything.
 */
function faultsOfCopies({ model, tables }: FindingContext, isWork: (tuple: number) => boolean): Faults {
  const { tuples } = model.raw;
  const usage = model.kernelUsage,
    again = shareFaultedAgain(usage);
  const pages = (usage?.residentBytes ?? 0) / pageBytes;
  const isEnough =
    usage !== undefined &&
    (again ?? 0) >= mostlyAgain &&
    usage.faults.minor * (again ?? 0) <= pages * model.head.processesStarted;
  if (!isEnough) return noFaults;
  const isOf = (k: number): boolean =>
    tuples.state[k] === State.useful && tuples.kernel[k] === KernelWork.fault && !isWork(k);
  const faults: Faults = { cost: 0, busy: 0, spinning: 0, isOf };
  let mapping = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    const npt = f64(tables.weights, k) / Math.max(1, u16(tuples.busy, k));
    if (tuples.state[k] === State.useful && u8(tuples.kernel, k) === KernelWork.memory) mapping += npt;
    if (!isOf(k)) continue;
    faults.cost += npt;
    faults.busy += f64(tables.weights, k);
    faults.spinning += npt * u16(tuples.spinning, k);
  }
  return mapping <= hardlyMapped * faults.cost ? faults : noFaults;
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
  const making = workBelow(context, Purpose.processMaking);
  const faults = copies(model, making) ? faultsOfCopies(context, work.isOf) : noFaults;
  const costNs = Math.min(model.elapsedNs, work.cost + faults.cost + waitedNs);
  if (costNs < Math.max(least, leastPart * model.elapsedNs)) return { starts: [], ofIo };
  cover(context, work);
  cover(context, faults);
  const saved = (ns: number): number => ns * (1 - 1 / fewer);
  // Named after what makes them, where that is seen, rather than after what waits for them.
  const { byEntry, byCaller } = making.cost > 0 ? making : work;
  const called = mostOf(byEntry)?.[0] ?? null;
  const caller = mostOf(byCaller)?.[0] ?? waits?.entity ?? 0;
  const own = work.cost + faults.cost;
  const average = (ofWork: number, ofWaits: number): number => (ofWork + waitedNs * ofWaits) / (own + waitedNs);
  const starts = findingOf(model, {
    entity: caller,
    kind: 'overhead',
    change: 'coarsen',
    costNs,
    savingNs: saved(costNs),
    processorUse: processorUseOf(
      model.processors,
      average(work.busy + faults.busy, waits?.processorUse.busy ?? 0),
      average(work.spinning + faults.spinning, waits?.processorUse.spinning ?? 0),
    ),
    facts: {
      form: 'process-starts',
      called,
      started: model.head.processesStarted > 0 ? model.head.processesStarted : null,
      eachNs: eachOf(model),
      ownNs: work.cost,
      faultNs: faults.cost,
      waitedNs,
      copies: copies(model, making),
      residentBytes: model.kernelUsage?.residentBytes ?? 0,
      fewer,
      leastNs: saved(own),
      savesNs: saved(costNs),
    },
    related: called === null ? [] : [called],
  });
  return { starts: [starts], ofIo: ofIo.filter((one) => one !== waits) };
}
