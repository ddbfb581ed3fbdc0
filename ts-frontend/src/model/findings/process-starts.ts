/**
 * Findings about starting and ending processes, as opposed to what the processes do (docs/reference/findings.md,
 * "Starting processes"). Pure functions.
 */
import { Purpose } from '../profile/abi.js';
import { f64, item, u16, u32, u8 } from '../profile/columns.js';
import { pageBytes, shareFaultedAgain } from '../metrics/kernel-usage.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, processorUseOf, systemCall } from '../evidence/context.js';
import { withoutWaiting } from '../evidence/waits/own-work.js';
import { isFor } from '../evidence/purposes.js';
import { cover, mostOf, workBelow, type WorkBelow } from '../evidence/code/work-below.js';
import { KernelWork, State } from '../profile/raw-profile.js';
import type { Finding, Model } from '../result/types.js';

/** The least share of the elapsed time that is reported: below it, creating processes is worth its cost. */
const leastPart = 0.05;
/** The assumed improvement: this many times fewer processes leave the corresponding part of the cost. */
const fewer = 10;
/**
 * A process with less processor time than this plus `shortMaking` times the time for creating it does little but start
 * and end. (Ending it includes freeing the memory that was copied.)
 */
const shortNs = 5e6;
const shortMaking = 1.5;
/** Fewer processes may have been observed by chance, or each may be a stage of the work. */
const leastStarted = 10;

/** Processor time per child in ns, including its start and end; null if the number of children is not known. */
const eachOf = ({ head }: Model): number | null =>
  head.processesStarted > 0 && head.childrenRunNs > 0 ? head.childrenRunNs / head.processesStarted : null;

function areShort(model: Model, ownNs: number): boolean {
  const { processesStarted: started } = model.head;
  const each = eachOf(model);
  return each !== null && started >= leastStarted && each <= shortNs + (shortMaking * ownNs) / started;
}

/** Whether processes are created mostly by copying this one, including the page tables of all of its memory (fork). */
function copies({ entities }: Model, { byEntry, cost }: WorkBelow): boolean {
  let ns = 0;
  for (const [id, npt] of byEntry)
    if (isFor(item(entities, id), Purpose.processMaking) && !isFor(item(entities, id), Purpose.children)) ns += npt;
  return ns > 0 && ns >= cost / 2;
}

/** A thread sleeps in these while a process starts, until it ends, or for what it writes. */
const forProcesses = Purpose.processMaking | Purpose.children | Purpose.read | Purpose.requests;

/** What the kernel works for a thread that waits for what a process writes. */
const ofWaits: ReadonlySet<number> = new Set([KernelWork.read, KernelWork.poll]);

/**
 * What is saved at most if one process does the work of all, which do little but start and end: its own start and end
 * are left, and the program's other work.
 */
function savedByOne(context: FindingContext, costNs: number, isMaking: (tuple: number) => boolean): number {
  const { raw, head } = context.model;
  const { stack, kernel } = raw.tuples;
  const isWait = (k: number): boolean => {
    const call = systemCall(context, u32(stack, k));
    return call === null || isFor(call, forProcesses);
  };
  const goes = (k: number): boolean => isMaking(k) || ofWaits.has(u8(kernel, k));
  return Math.max(costNs, withoutWaiting(context, goes, isWait).idealNs) - costNs / head.processesStarted;
}

/**
 * Page faults are attributed to fork if at least this share of them is for memory that was used before, and if mapping
 * memory takes less than `hardlyMapped` of the faults' cost (otherwise the memory may have been mapped anew).
 */
const mostlyAgain = 0.5;
const hardlyMapped = 0.1;

/**
 * Processor time of page faults that are due to fork: after it, the first write to each page copies the page, once per
 * child.
 */
interface Faults {
  cost: number;
  busy: number;
  spinning: number;
  isOf: (tuple: number) => boolean;
}
const noFaults: Faults = { cost: 0, busy: 0, spinning: 0, isOf: () => false };

/**
 * Page faults that are due to fork. All faults are attributed to it if they are for memory that the program had used
 * before, if there are no more of them than pages times children, and if mapping and unmapping, which also cause faults
 * for memory used before, take hardly any time.
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

/**
 * `ofIo`: findings about waits for input, output and children. Waits for children that do hardly anything become part
 * of this finding and are removed from the returned list.
 */
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
  // The finding is named after the code that creates processes, if that is known, rather than after the code that waits
  // for them.
  const { byEntry, byCaller } = making.cost > 0 ? making : work;
  const called = mostOf(byEntry)?.[0] ?? null;
  const caller = mostOf(byCaller)?.[0] ?? waits?.entity ?? 0;
  const own = work.cost + faults.cost;
  const oneNs = isShort ? savedByOne(context, costNs, (k) => work.isOf(k) || faults.isOf(k)) : null;
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
      oneNs,
    },
    related: called === null ? [] : [called],
  });
  return { starts: [starts], ofIo: ofIo.filter((one) => one !== waits) };
}
