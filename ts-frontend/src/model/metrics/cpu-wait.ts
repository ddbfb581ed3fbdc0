/**
 * Waiting for CPUs: how long the program's kernel threads were runnable without a CPU, and the part of it that other
 * programs must have caused. Formulas: docs/reference/metrics.md, section 6. Pure.
 */
import { f64, u16, u32 } from '../profile/columns.js';
import { throttledWaitNs } from './cpu-limits.js';
import type { RawProfile } from '../profile/raw-profile.js';
import type { CpuLimits, CpuWait, Finding, Model } from '../result/types.js';

/**
 * Waiting below this share of the time in which threads were runnable, or below leastElapsed of the elapsed time,
 * changes no conclusion.
 */
const leastWait = 0.05;
const leastElapsed = 0.02;
/**
 * If other programs had the CPUs for this share of the time in which the program was runnable, elapsed times depend
 * mostly on them.
 */
const mostlyOthers = 0.25;
/** From this share on, too little was seen of what the program does when it has CPUs. */
const nearlyOthers = 0.75;
/** Not if the program slept for nearly all of the run: then their part of the elapsed time is less than this. */
const mostlyElapsed = 0.1;
/** A finding is marked if other programs may have caused at least this share of its cost. */
const leastPart = 0.5;

/**
 * The time that a thread may wait for a CPU that nobody else uses, in ns: an interrupt wakes the CPU, which then
 * switches to the thread. In virtual machines 3 to 10 us. A piece of work that takes less is not worth a wake-up.
 */
export const wakeNs = 10_000;

/**
 * The kernel's counts are of threads that were read before they ended. A thread gets a CPU each time that it was
 * created or woken; if the kernel counted less than this share of that, the others are missing. (The last reading may
 * be an eighth of the run before its end.)
 */
const mostlyRead = 0.85;
/**
 * The time for which a snapshot may see a thread wait for a CPU that nobody else uses, in ns: a timer of the sampler
 * wakes it up to 50 us too early, and a thread that was just created is moved to its CPU.
 */
const seenWakeNs = 100_000;

/**
 * Kinds of findings that other programs can cause: a delay of one thread makes all threads that wait for it look idle,
 * and the code that ran look serial.
 */
const shaken: ReadonlySet<Finding['kind']> = new Set([
  'serial',
  'imbalance',
  'pipeline',
  'dependency',
  'starvation',
  'lock-contention',
  'spinning',
  'overhead',
] as const);

/** The share of the time in which the program was runnable that other programs had the CPUs. */
export const othersPart = ({ othersNs, runNs, waitNs }: CpuWait): number =>
  runNs + waitNs > 0 ? othersNs / (runNs + waitNs) : 0;
/** Whether processors were idle mainly because of other programs; idleness then says nothing about this program. */
export const isMostlyOthers = (cpuWait: CpuWait, elapsedNs: number): boolean =>
  othersPart(cpuWait) >= mostlyOthers && cpuWait.othersNs >= mostlyElapsed * elapsedNs;

export const isNearlyOthers = (cpuWait: CpuWait): boolean => othersPart(cpuWait) >= nearlyOthers;

/** How many threads wait for a CPU in a row of the balance. */
const readyIn = ({ runnable, busy, spinning }: RawProfile['balance'], k: number): number =>
  Math.max(0, u32(runnable, k) - u16(busy, k) - u16(spinning, k));

/** How long threads waited for CPUs. Of threads that live so shortly that they are seldom read, snapshots show it. */
export function waitedOf({ head, balance }: RawProfile): number {
  const { cpuWaitNs, cpuDispatches, publisher, spawns, switchesKnown, voluntarySwitches } = head;
  const begun = spawns + voluntarySwitches;
  if (publisher !== 'pthread' || !switchesKnown || cpuDispatches >= mostlyRead * begun) return cpuWaitNs;
  let seenNs = 0;
  for (let k = 0; k < balance.ns.length; k++) seenNs += f64(balance.ns, k) * readyIn(balance, k);
  return Math.max(cpuWaitNs, seenNs - seenWakeNs * begun);
}

/**
 * The share of the time in which threads waited for a CPU while others of the program executed; 1 if no snapshot saw
 * one wait.
 */
function besideOthersOf({ balance }: RawProfile): number {
  let all = 0,
    beside = 0;
  for (let k = 0; k < balance.ns.length; k++) {
    const ns = f64(balance.ns, k) * readyIn(balance, k);
    all += ns;
    if (u16(balance.busy, k) + u16(balance.spinning, k) > 0) beside += ns;
  }
  return all > 0 ? beside / all : 1;
}

/** The mean number of runnable threads. */
function meanRunnableOf({ balance, head }: RawProfile): number {
  const sumNs = balance.ns.reduce((sum, ns, k) => sum + ns * u32(balance.runnable, k), 0);
  return head.elapsedNs > 0 ? sumNs / head.elapsedNs : 0;
}

/** `recorded`: the profile before its threads were given the CPUs that they waited for, if `raw` is derived from it. */
export function cpuWaitOf(raw: RawProfile, limits: CpuLimits | null, recorded = raw): CpuWait {
  const { head, balance, threads } = raw;
  const { switchesKnown, voluntarySwitches } = head;
  const { cpuRunNs: runNs, cpuDispatches, publisher, processors, cpus } = head;
  const waitNs = waitedOf(raw);
  const places = Math.max(1, publisher === 'pthread' ? processors : cpus);
  const excess: { more: number; ns: number }[] = [];
  for (let k = 0; k < balance.ns.length; k++) {
    const more =
      (publisher === 'pthread' ? u32(balance.runnable, k) : u16(balance.busy, k) + u16(balance.spinning, k)) - places;
    if (more > 0) excess.push({ more, ns: f64(balance.ns, k) });
  }
  // An upper bound of the time for which the program had all CPUs; in the worst case, this was when most of its threads
  // needed them.
  let left = runNs / places,
    mostNs = 0;
  for (const { more, ns } of excess.sort((a, b) => b.more - a.more)) {
    mostNs += more * Math.min(ns, left);
    left -= Math.min(ns, left);
  }
  // Only a thread that slept is woken; a thread that was preempted, or yielded, waits while another one has the CPU.
  const woken = switchesKnown ? Math.min(cpuDispatches, voluntarySwitches + threads.length) : cpuDispatches;
  const ownNs = Math.min(waitNs, mostNs + (limits?.confined?.waitNs ?? 0)),
    restNs = Math.max(0, waitNs - ownNs - wakeNs * woken),
    limitNs = limits === null ? 0 : Math.min(restNs, throttledWaitNs(limits, meanRunnableOf(raw))),
    othersNs = restNs - limitNs;
  const lateNs = othersNs * besideOthersOf(recorded);
  return { runNs, waitNs, ownNs, limitNs, othersNs, lateNs, share: runNs + waitNs > 0 ? waitNs / (runNs + waitNs) : 0 };
}

/**
 * The ratio of the model's processor time to that which the kernel counted: above 1 if the model describes what the
 * program would have done without other programs (evidence/undisturbed.ts). Counts (waits, switches, acquisitions) are
 * always those of the actual run.
 */
export function shownPerRun({ cpuWait, root, compensation, balance }: Model): number {
  const shown = root.processorTimeNs + compensation.processorTimeNs + balance.spinningNs;
  return cpuWait.runNs > 0 ? Math.max(1, shown / cpuWait.runNs) : 1;
}

/** Whether waiting for CPUs changes conclusions. */
export const cpuWaitMatters = ({ cpuWait, elapsedNs }: Model): boolean =>
  cpuWait.share >= leastWait &&
  cpuWait.ownNs + cpuWait.limitNs + cpuWait.othersNs >= Math.max(leastElapsed * elapsedNs, leastWait * cpuWait.runNs);

/** Marks the findings that other programs may have caused. */
export function caution(model: Model, findings: readonly Finding[]): void {
  const { othersNs } = model.cpuWait;
  if (!cpuWaitMatters(model)) return;
  for (const finding of findings) {
    if (!shaken.has(finding.kind) || othersNs < leastPart * finding.costNs) continue;
    finding.othersMayCause = true;
  }
}
