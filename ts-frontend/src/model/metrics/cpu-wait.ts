/**
 * Waiting for CPUs: how long the program's kernel threads could have run and had none, and how much of that other
 * programs must have caused. Formulas: docs/reference/metrics.md, section 6. Pure.
 */
import { f64, u16, u32 } from '../profile/columns.js';
import type { RawProfile } from '../profile/raw-profile.js';
import type { CpuWait, Finding, Model } from '../result/types.js';

/** Waiting below this share of the time in which threads could run, or of the elapsed time, changes no conclusion. */
const leastWait = 0.05;
const leastElapsed = 0.02;
/** Where others had the CPUs for so much of the time in which the program could run, elapsed times are theirs, too. */
const mostlyOthers = 0.25;
/** A finding is cautioned where others may have caused at least this part of its cost. */
const leastPart = 0.5;

/**
 * So long a thread may wait for a CPU that nobody else uses: an interrupt wakes that CPU, which then switches to it. In
 * virtual machines 3 to 10 us.
 */
const wakeNs = 10_000;

/** What other programs do to one thread makes all that wait for it look idle, and the code that ran serial. */
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

/** Others' part of the time in which the program could run. */
export const othersPart = ({ othersNs, runNs, waitNs }: CpuWait): number =>
  runNs + waitNs > 0 ? othersNs / (runNs + waitNs) : 0;
/** Whether processors were idle for other programs: then idleness says nothing of this one. */
export const isMostlyOthers = (cpuWait: CpuWait): boolean => othersPart(cpuWait) >= mostlyOthers;

export function cpuWaitOf({ head, balance, threads }: RawProfile): CpuWait {
  const { switchesKnown, voluntarySwitches } = head;
  const { cpuRunNs: runNs, cpuWaitNs: waitNs, cpuDispatches, publisher, processors, cpus } = head;
  const places = Math.max(1, publisher === 'pthread' ? processors : cpus);
  const excess: { more: number; ns: number }[] = [];
  for (let k = 0; k < balance.ns.length; k++) {
    const more =
      (publisher === 'pthread' ? u32(balance.runnable, k) : u16(balance.busy, k) + u16(balance.spinning, k)) - places;
    if (more > 0) excess.push({ more, ns: f64(balance.ns, k) });
  }
  // The program had all CPUs for no longer than this: at worst when most of its threads wanted them.
  let left = runNs / places,
    mostNs = 0;
  for (const { more, ns } of excess.sort((a, b) => b.more - a.more)) {
    mostNs += more * Math.min(ns, left);
    left -= Math.min(ns, left);
  }
  // Only who slept is woken; who was taken off a CPU, or gave it up, waits while somebody else has it.
  const woken = switchesKnown ? Math.min(cpuDispatches, voluntarySwitches + threads.length) : cpuDispatches;
  const ownNs = Math.min(waitNs, mostNs),
    othersNs = Math.max(0, waitNs - ownNs - wakeNs * woken);
  return { runNs, waitNs, ownNs, othersNs, share: runNs + waitNs > 0 ? waitNs / (runNs + waitNs) : 0 };
}

/**
 * The processor time of the model, in that which the kernel counted: more than 1 where the model is of what the program
 * would have shown without other programs (evidence/undisturbed.ts). What is counted (waits, switches, acquisitions) is
 * of the run as it was.
 */
export function shownPerRun({ cpuWait, root, compensation, balance }: Model): number {
  const shown = root.processorTimeNs + compensation.processorTimeNs + balance.spinningNs;
  return cpuWait.runNs > 0 ? Math.max(1, shown / cpuWait.runNs) : 1;
}

/** Below this, waiting for CPUs changes no conclusion. */
export const cpuWaitMatters = ({ cpuWait, elapsedNs }: Model): boolean =>
  cpuWait.share >= leastWait &&
  cpuWait.ownNs + cpuWait.othersNs >= Math.max(leastElapsed * elapsedNs, leastWait * cpuWait.runNs);

/** Marks the findings that other programs may have made. */
export function caution(model: Model, findings: readonly Finding[]): void {
  const { othersNs } = model.cpuWait;
  if (!cpuWaitMatters(model)) return;
  for (const finding of findings) {
    if (!shaken.has(finding.kind) || othersNs < leastPart * finding.costNs) continue;
    finding.othersMayCause = true;
  }
}
