/**
 * What a run would take if no thread had to wait for, or wake, another: bounds by the program's own work
 * (docs/reference/findings.md, "Own work"). Pure.
 */
import { f64, u16, u32, u8 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import { KernelWork, State } from '../profile/raw-profile.js';
import { isBusy } from '../metrics/sums.js';
import { busyOf } from './activity-levels.js';
import type { FindingContext } from './context.js';
import { isHandingOn } from './hand-overs.js';

/** Elapsed time that goes. */
export interface WithoutWaiting {
  aloneNs: number; // if one thread did all of the work
  idealNs: number; // if it were spread over all processors, no thread with less than it has now
}

/** Calls that make threads, and give a CPU away. */
const between: ReadonlySet<number> = new Set([KernelWork.thread, KernelWork.yield]);
/** A thread with less work than this part of the elapsed time does not hold the others up when it sleeps. */
const leastWork = 0.01;

interface Work {
  userNs: number;
  systemNs: number;
  byThread: Map<number, number>;
  allNs: number; // what does not count included
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

/** Nothing runs, and threads that have work sleep, or wait for input and output: that stays. */
function restOf({ model, levels }: FindingContext, { byThread }: Work): number {
  const { tuples } = model.raw;
  const resting = new Map<number, number>();
  for (let k = 0; k < tuples.ns.length; k++) {
    const b = u16(tuples.busy, k);
    if (b > 0 || tuples.state[k] !== State.io) continue;
    if ((byThread.get(u32(tuples.thread, k)) ?? 0) < leastWork * model.elapsedNs) continue;
    addTo(resting, u16(tuples.spinning, k), f64(tuples.ns, k));
  }
  let rest = 0;
  for (const [level, ns] of levels.elapsed)
    if (busyOf(levels, level) === 0) rest += Math.min(ns, resting.get(level) ?? 0);
  return rest;
}

/** `goes`: tuples of further work that goes with the waiting. */
export function withoutWaiting(
  context: FindingContext,
  goes: (tuple: number) => boolean = () => false,
): WithoutWaiting {
  const { model } = context;
  const { elapsedNs, processors, kernelUsage } = model;
  const work = workOf(context, goes);
  const sampledNs = work.userNs + work.systemNs;
  // Samples of the kernel itself may be too few: what it counts as the program's own code is no less than what is here.
  const ranNs = kernelUsage === undefined ? 0 : kernelUsage.userNs + kernelUsage.systemNs;
  const countedNs =
    model.head.paths.kernel && kernelUsage !== undefined && ranNs > 0
      ? kernelUsage.userNs * Math.max(1, work.allNs / ranNs)
      : Infinity;
  const totalNs = Math.min(work.userNs, countedNs) + work.systemNs;
  const longestNs = (Math.max(0, ...work.byThread.values()) * totalNs) / Math.max(1, sampledNs);
  const rest = restOf(context, work);
  const left = (ns: number): number => Math.max(0, elapsedNs - rest - ns);
  return { aloneNs: left(totalNs), idealNs: left(Math.max(longestNs, totalNs / Math.max(1, processors))) };
}
