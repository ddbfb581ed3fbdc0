/**
 * How long the run would take if no thread had to wait for or wake another: bounds from the program's own work
 * (docs/reference/findings.md, "Own work"). Pure functions.
 */
import { f64, u16, u32, u8 } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import { KernelWork, State } from '../../profile/raw-profile.js';
import { isBusy } from '../../metrics/sums.js';
import { busyOf } from '../activity-levels.js';
import type { FindingContext } from '../context.js';
import { isHandingOn } from '../locks/hand-overs.js';

/** Elapsed time that would be saved, and what the work takes. */
interface WithoutWaiting {
  workNs: number; // processor time of the work, and the rest
  aloneNs: number; // if one thread did all of the work
  idealNs: number; // if the work were spread over all processors, without shortening any thread's share
}

/** Calls that create threads or yield the CPU. */
const between: ReadonlySet<number> = new Set([KernelWork.thread, KernelWork.yield]);
/** A thread with less work than this share of the elapsed time does not delay the others when it sleeps. */
const leastWork = 0.01;

interface Work {
  userNs: number;
  systemNs: number;
  byThread: Map<number, number>;
  allNs: number; // including work that does not count
}

function workOf({ model, tables }: FindingContext, goes: (tuple: number) => boolean): Work {
  const { tuples } = model.raw;
  const work: Work = { userNs: 0, systemNs: 0, byThread: new Map(), allNs: 0 };
  for (let k = 0; k < tuples.ns.length; k++) {
    const ns = f64(tables.weights, k),
      kernel = u8(tuples.kernel, k);
    if (ns === 0 || !isBusy(u8(tuples.state, k))) continue;
    work.allNs += ns;
    if (u8(tuples.state, k) === State.overhead || isHandingOn(model.raw, k) || between.has(kernel) || goes(k)) continue;
    if (kernel === KernelWork.none) work.userNs += ns;
    else work.systemNs += ns;
    addTo(work.byThread, u32(tuples.thread, k), ns);
  }
  return work;
}

/**
 * Time in which nothing runs and threads with work sleep, or wait for input and output: it remains. `isWait`: tuples in
 * which they wait for other threads instead.
 */
function restOf({ model, levels }: FindingContext, { byThread }: Work, isWait: (tuple: number) => boolean): number {
  const { tuples } = model.raw;
  const resting = new Map<number, number>();
  for (let k = 0; k < tuples.ns.length; k++) {
    const b = u16(tuples.busy, k);
    if (b > 0 || tuples.state[k] !== State.io || isWait(k)) continue;
    if ((byThread.get(u32(tuples.thread, k)) ?? 0) < leastWork * model.elapsedNs) continue;
    addTo(resting, u16(tuples.spinning, k), f64(tuples.ns, k));
  }
  let rest = 0;
  for (const [level, ns] of levels.elapsed)
    if (busyOf(levels, level) === 0) rest += Math.min(ns, resting.get(level) ?? 0);
  return rest;
}

/**
 * `goes`: tuples of further work that disappears with the waiting. `rests`: whether the time remains in which threads
 * with work sleep while nothing runs, or the tuples of which it does not.
 */
export function withoutWaiting(
  context: FindingContext,
  goes: (tuple: number) => boolean = () => false,
  rests: boolean | ((tuple: number) => boolean) = true,
): WithoutWaiting {
  const { model } = context;
  const { elapsedNs, processors, kernelUsage } = model;
  const work = workOf(context, goes);
  const sampledNs = work.userNs + work.systemNs;
  // There may be too few samples of the kernel, so its own count of user time is a lower bound.
  const ranNs = kernelUsage === undefined ? 0 : kernelUsage.userNs + kernelUsage.systemNs;
  const countedNs =
    model.head.paths.kernel && kernelUsage !== undefined && ranNs > 0
      ? kernelUsage.userNs * Math.max(1, work.allNs / ranNs)
      : Infinity;
  const totalNs = Math.min(work.userNs, countedNs) + work.systemNs;
  const longestNs = (Math.max(0, ...work.byThread.values()) * totalNs) / Math.max(1, sampledNs);
  const rest = rests === false ? 0 : restOf(context, work, rests === true ? () => false : rests);
  const left = (ns: number): number => Math.max(0, elapsedNs - rest - ns);
  return {
    workNs: totalNs + rest,
    aloneNs: left(totalNs),
    idealNs: left(Math.max(longestNs, totalNs / Math.max(1, processors))),
  };
}
