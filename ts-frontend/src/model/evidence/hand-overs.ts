/**
 * What it takes that threads hand locks to each other: the calls that wait and wake, code of locks that waits for a
 * cache line of another CPU, and CPUs without work while somebody is woken (docs/reference/findings.md, "Hand-overs").
 * Pure.
 */
import { f64, item, u16, u32, u8 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import { KernelWork, State, Waiting } from '../profile/raw-profile.js';
import { shownPerRun } from '../metrics/cpu-wait.js';
import { isBusy } from '../metrics/sums.js';
import { busyOf } from './activity-levels.js';
import type { FindingContext } from './context.js';
import { isLock } from './wait-kinds.js';

/** Thread time by level of activity, and processor time in all. */
export interface HandOvers {
  handing: Map<number, number>; // of busy threads: in calls that wait and wake, in code of locks, just woken
  waiting: Map<number, number>; // for locks: blocked, spinning, or woken and without a CPU
  ready: Map<number, number>; // without a CPU otherwise
  handingNs: number;
  kernelNs: number; // the kernel's part of it
  leastLeftNs: number; // the part that would be left if each lock were free
  mostLeftNs: number;
}

/** Not yields: those that wait for a lock in a loop spin, others are what the program does anyway. */
const hands: ReadonlySet<number> = new Set([KernelWork.futex, KernelWork.lock]);

/** A busy thread that waits or wakes, in a call or in code of locks, or has just been woken. */
export const isHandingOn = ({ tuples }: FindingContext['model']['raw'], k: number): boolean =>
  u8(tuples.waiting, k) === Waiting.woken ||
  (u8(tuples.state, k) !== State.overhead && hands.has(u8(tuples.kernel, k)));

/** Of the whole program, as recorded (not compensated), with what all of its locks take while they are recorded. */
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

/** What free locks take, as measured on this machine, with what recording adds to each. */
function leftOf(model: FindingContext['model']): Pick<HandOvers, 'leastLeftNs' | 'mostLeftNs'> {
  const { entities, raw } = model;
  const { freeLockPs, lockLeastPs, lockMostPs } = raw.head;
  let acquisitions = 0;
  for (const { object, members, rawKind } of entities)
    if (object?.counted && members.length === 0 && rawKind !== 'join') acquisitions += object.acquisitions;
  const ns = (addedPs: number): number => (acquisitions * shownPerRun(model) * (freeLockPs + addedPs)) / 1000;
  return { leastLeftNs: ns(lockLeastPs), mostLeftNs: ns(lockMostPs) };
}

/** Processor time in which threads hand locks on, beyond what it would take if nobody waited: least and most. */
export function beyondFree({ model }: FindingContext, all: HandOvers): { leastNs: number; mostNs: number } {
  // What the kernel counts as its own knows samples that were missed everywhere alike from those of switches.
  const counted = (model.kernelUsage?.systemNs ?? Infinity) * shownPerRun(model);
  const inKernel = Math.min(all.kernelNs, counted);
  return {
    leastNs: Math.max(0, all.handingNs - all.kernelNs + inKernel - all.mostLeftNs),
    mostNs: Math.max(0, all.handingNs - all.leastLeftNs),
  };
}

/**
 * Elapsed time that goes if no thread ever finds a lock taken, and so much of the processor time for handing on goes:
 * at each level the work of v CPUs is then done by as many as the threads that can run, P at most.
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
