/**
 * The cost of handing locks from thread to thread: the calls that wait and wake, code of locks that waits for a cache
 * line of another CPU, and CPUs that are idle while a thread is being woken (docs/reference/findings.md, "Hand-overs").
 * Pure functions.
 */
import { f64, item, u16, u32, u8 } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import { KernelWork, State, Waiting } from '../../profile/raw-profile.js';
import { shownPerRun } from '../../metrics/cpu-wait.js';
import { isBusy } from '../../metrics/sums.js';
import { busyOf } from '../activity-levels.js';
import type { FindingContext } from '../context.js';
import { isLock } from '../wait-kinds.js';

/** Thread time by level of activity, and total processor time. */
interface HandOvers {
  handing: Map<number, number>; // of busy threads: in calls that wait and wake, in code of locks, or just woken
  waiting: Map<number, number>; // of threads that wait for locks: blocked, spinning, or woken without a CPU
  ready: Map<number, number>; // of other threads without a CPU
  handingNs: number;
  kernelNs: number; // the kernel's part of it
  leastLeftNs: number; // the least part that would remain if every lock were free
  mostLeftNs: number;
}

/**
 * Without yields: threads that wait for a lock by yielding count as spinning, and other yields are not part of
 * hand-overs.
 */
const hands: ReadonlySet<number> = new Set([KernelWork.futex, KernelWork.lock]);

/** Whether a busy thread waits or wakes, in a call or in code of locks, or has just been woken. */
export const isHandingOn = ({ tuples }: FindingContext['model']['raw'], k: number): boolean =>
  u8(tuples.waiting, k) === Waiting.woken ||
  (u8(tuples.state, k) !== State.overhead && hands.has(u8(tuples.kernel, k)));

/** For the whole program, as recorded (not compensated), including the cost of recording its locks. */
export function handOversOf({ model, tables, levels }: FindingContext): HandOvers {
  const { tuples } = model.raw;
  const { stacks } = tables;
  const all: HandOvers = {
    handing: new Map<number, number>(),
    waiting: new Map<number, number>(),
    ready: new Map<number, number>(),
    handingNs: 0,
    kernelNs: 0,
    ...leftOf(model),
  };
  for (let k = 0; k < tuples.ns.length; k++) {
    const state = u8(tuples.state, k),
      waiting = u8(tuples.waiting, k),
      work = u8(tuples.kernel, k);
    const level = u16(tuples.busy, k) * (levels.P + 1) + u16(tuples.spinning, k);
    if (isBusy(state)) {
      if (!isHandingOn(model.raw, k)) continue;
      addTo(all.handing, level, f64(tuples.ns, k));
      all.handingNs += f64(tuples.ns, k);
      if (work !== KernelWork.lock) all.kernelNs += f64(tuples.ns, k);
    } else if (waiting === Waiting.none) {
      if (state === State.ready) addTo(all.ready, level, f64(tuples.ns, k));
    } else if (isLock(item(model.entities, u32(stacks.entity, u32(tuples.stack, k)))))
      addTo(all.waiting, level, f64(tuples.ns, k));
  }
  return all;
}

/** The cost of acquiring free locks, as measured on this machine, including what recording adds to each. */
function leftOf(model: FindingContext['model']): Pick<HandOvers, 'leastLeftNs' | 'mostLeftNs'> {
  const { entities, raw } = model;
  const { freeLockPs, lockLeastPs, lockMostPs } = raw.head;
  let acquisitions = 0;
  for (const { object, members, rawKind } of entities)
    if (object?.counted && members.length === 0 && rawKind !== 'join') acquisitions += object.acquisitions;
  const ns = (addedPs: number): number => (acquisitions * shownPerRun(model) * (freeLockPs + addedPs)) / 1000;
  return { leastLeftNs: ns(lockLeastPs), mostLeftNs: ns(lockMostPs) };
}

/** Lower and upper bound of the processor time for hand-overs in excess of what it would be without waiting. */
export function beyondFree({ model }: FindingContext, all: HandOvers): { leastNs: number; mostNs: number } {
  // The kernel's count of its own time reveals whether missed samples are spread evenly or concentrate on switches.
  const counted = (model.kernelUsage?.systemNs ?? Infinity) * shownPerRun(model);
  const inKernel = Math.min(all.kernelNs, counted);
  return {
    leastNs: Math.max(0, all.handingNs - all.kernelNs + inKernel - all.mostLeftNs),
    mostNs: Math.max(0, all.handingNs - all.leastLeftNs),
  };
}

/**
 * Elapsed time saved if no thread ever found a lock taken and `goesNs` of the processor time for hand-overs vanished:
 * at each level, the work of v CPUs is then done by as many as there are runnable threads, at most P.
 */
export function savedWithout({ levels }: FindingContext, all: HandOvers, goesNs: number): number {
  const part = all.handingNs > 0 ? goesNs / all.handingNs : 0;
  let saved = 0;
  for (const [level, t] of levels.elapsed) {
    const handing = (part * (all.handing.get(level) ?? 0)) / t,
      others = ((all.waiting.get(level) ?? 0) + (all.ready.get(level) ?? 0)) / t;
    const working = Math.max(0, busyOf(levels, level) - handing);
    const could = Math.min(levels.P, working + handing + others);
    if (t > 0 && could > working) saved += t * (1 - working / could);
  }
  return saved;
}

/**
 * Upper bound of the saving if threads neither waited for these objects nor woke each other: at each level of activity,
 * the time during which they do, minus its share of the work spread over all processors. Other phases of the program
 * keep their length. `hands`: returns whether a tuple is further work that is part of handing over.
 */
export function mostWithoutHandOvers(
  { model, tables, levels }: FindingContext,
  objects: Iterable<number>,
  hands: (tuple: number) => boolean,
): number {
  const { tuples } = model.raw;
  const { P } = levels;
  const waiting = new Map<number, number>(),
    handing = new Map<number, number>();
  for (const id of objects) {
    const its = levels.waits.get(id);
    for (const part of its ? [its.blocked, its.spinning, its.woken] : [])
      for (const [level, ns] of part) addTo(waiting, level, ns);
    for (const [level, ns] of its?.wokenBusy ?? []) addTo(waiting, level, -ns); // that is part of handing over
  }
  for (let k = 0; k < tuples.ns.length; k++)
    if (isBusy(u8(tuples.state, k)) && (isHandingOn(model.raw, k) || hands(k)))
      addTo(handing, u16(tuples.busy, k) * (P + 1) + u16(tuples.spinning, k), f64(tables.weights, k));
  let most = 0;
  for (const [level, ns] of levels.elapsed) {
    const of = handing.get(level) ?? 0;
    const time = Math.min(ns, (waiting.get(level) ?? 0) + of);
    most += Math.min(time, time * Math.max(0, 1 - busyOf(levels, level) / P) + of / P);
  }
  return most;
}
