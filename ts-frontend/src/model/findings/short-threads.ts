/** Findings about kernel threads with hardly any work (docs/reference/findings.md, "Short threads"). Pure functions. */
import { Purpose } from '../profile/abi.js';
import { f64, item, u16, u32, u8 } from '../profile/columns.js';
import { mainThread } from '../evidence/threads/critical-threads.js';
import { withoutWaiting } from '../evidence/waits/own-work.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, processorUseOfRun } from '../evidence/context.js';
import { isFor } from '../evidence/purposes.js';
import { isUsers, makingNs, ranOf, shortOf, sum, type Short } from '../evidence/threads/short-lived.js';
import { isBusy } from '../metrics/sums.js';
import { KernelWork } from '../profile/raw-profile.js';
import type { Finding } from '../result/types.js';

/** The assumed improvement: ten times fewer threads leave a tenth of that time. */
const coarser = 10;

/** If threads sleep for more than this share of the elapsed time, they do not only start and end. */
const mostAsleep = 0.1;

/** Whether the tuple is in a procedure that creates threads, or waits for their end. */
const makesThreads = ({ model, tables }: FindingContext, k: number): boolean =>
  isFor(item(model.entities, u32(tables.stacks.procedure, u32(model.raw.tuples.stack, k))), Purpose.threadMaking);

/** Elapsed time that would be saved without these threads, provided that only their creators wait. */
interface Without {
  inlineNs: number; // lower bound, if their creators did their work themselves
  idealNs: number; // if a few threads on all processors did their work
}

/**
 * Done by one thread, all that these threads and the main thread ran takes at most the sum of their times, while no
 * other thread lives. CPU time that other programs took is not saved.
 */
function without(context: FindingContext, short: Short, ranNs: number): Without {
  const { model } = context;
  const { elapsedNs, cpuWait } = model;
  const main = mainThread(model);
  const threads = [...short.threads, ...(main && !short.threads.includes(main) ? [main] : [])];
  const blocked = threads.map(({ states }) => states.blocked.ns).sort((a, b) => b - a);
  const asleepNs = sum(threads, ({ states }) => states.io.ns) + sum(blocked.slice(1), (ns) => ns);
  if (asleepNs > mostAsleep * elapsedNs) return { inlineNs: 0, idealNs: 0 };
  // Only work that neither creates threads nor waits for them remains.
  const those = new Set(threads.map(({ id }) => id));
  const { tuples } = model.raw;
  const goes = (k: number): boolean => !those.has(u32(tuples.thread, k)) || makesThreads(context, k);
  const own = withoutWaiting(context, goes);
  const shareOf = sum(threads, ({ processorTimeNs }) => processorTimeNs) / Math.max(1, model.root.processorTimeNs);
  const workNs = Math.min(1, shareOf) * ranNs,
    livedNs = elapsedNs - short.othersNs - cpuWait.othersNs,
    simplyNs = livedNs - workNs;
  return {
    inlineNs: simplyNs > 0 ? Math.max(simplyNs, own.aloneNs - short.othersNs) : 0,
    idealNs: Math.max(livedNs - workNs / model.processors, own.idealNs - short.othersNs - cpuWait.othersNs),
  };
}

/** NPT of the kernel's work for these threads. */
interface Kernels {
  makingNs: number; // creating and ending them, and their stacks, as far as samples show it
  making: number[]; // those tuples
  /**
   * What the kernel counted but samples of threads that live so shortly do not show: creating and ending them, page
   * faults of their stacks, and their own system calls.
   */
  unseenNs: number;
}

function kernelOf(context: FindingContext, short: Short): Kernels {
  const { model, tables } = context;
  const { tuples } = model.raw;
  const making: number[] = [];
  let npt = 0;
  for (let k = 0; k < tables.weights.length; k++) {
    if (!isBusy(u8(tuples.state, k)) || isUsers(u8(tuples.kernel, k))) continue;
    if (tuples.kernel[k] !== KernelWork.thread && !makesThreads(context, k)) continue;
    making.push(k);
    npt += f64(tables.weights, k) / Math.max(1, u16(tuples.busy, k));
  }
  return { makingNs: npt, making, unseenNs: context.unseen.ns * short.nptPart };
}

/**
 * Kernel threads with hardly any work. What each costs beyond the minimum (a stack, cold caches, the delay until it
 * gets a CPU) is not known, but how much shorter the run would be without them has a bound.
 */
export function shortThreadFindings(context: FindingContext): Finding[] {
  const { model, least } = context;
  const short = shortOf(model, context.roles);
  if (!short) return [];
  const ranNs = ranOf(model);
  const { spawns, workNs } = short;
  const kernel = kernelOf(context, short),
    kernelNs = Math.min(model.elapsedNs, kernel.makingNs + kernel.unseenNs);
  const making = Math.max(Math.min(1, (spawns * makingNs) / workNs) * short.nptNs, kernel.makingNs);
  const { inlineNs, idealNs } = without(context, short, ranNs),
    isInline = inlineNs > making;
  const savesNs = isInline ? inlineNs : making * (1 - 1 / coarser),
    mostNs = Math.max(savesNs, idealNs, kernelNs * (1 - 1 / coarser));
  const cost = isInline ? mostNs : Math.max(making, mostNs, kernelNs);
  if (cost < least) return [];
  for (const k of kernel.making) context.covered[k] = 1;
  return [
    findingOf(model, {
      entity: short.id,
      kind: 'overhead',
      change: 'coarsen',
      advice: { pieces: 'larger', threads: 'fewer' },
      costNs: cost,
      savingNs: (savesNs + mostNs) / 2,
      processorUse: processorUseOfRun(model),
      facts: {
        form: 'short-threads',
        spawns,
        workNs: workNs / spawns,
        leastNs: makingNs,
        savesNs,
        mostNs,
        coarser,
        kernelNs: kernelNs >= least ? kernelNs : null,
        locks: [],
        inlineNs: isInline ? Math.max(0, model.elapsedNs - inlineNs) : null,
      },
    }),
  ];
}
