/** The kernel's counts for the program, in the terms of the usual tools; one line in the head of every report. */
import type { CpuLimits, KernelUsage, Model } from '../../model/index.js';
import { count, figure, time, type Letters } from '../format/units.js';

const some = (number: number, one: string): string => `${count(number)} ${one}${number === 1 ? '' : 's'}`;

function switchesOf({ switches, waits }: KernelUsage): string[] {
  if (!switches) return [];
  const { voluntary, involuntary } = switches;
  const reported =
    `${count(voluntary)} voluntary context ${voluntary === 1 ? 'switch' : 'switches'} and ` +
    `${count(involuntary)} involuntary`;
  return waits && waits.atOnce > 0
    ? [reported, `${some(waits.count, 'wait')} for objects, of which at least ${count(waits.atOnce)} did not sleep`]
    : [reported];
}

/** The number of CPUs that the program used; '' if the kernel did not report it. */
export function cpusText(usage: KernelUsage): string {
  return `${figure(usage.cpusUsed)} of ${count(usage.cpus)} used`;
}

/** How many CPUs the machine has, if the program may not use all of them. */
function limitsText(limits: CpuLimits | null): string {
  if (limits === null) return '';
  const { online, allowed, quota } = limits;
  const parts = [
    ...(allowed < online ? [`the machine has ${count(online)}`] : []),
    ...(quota === null ? [] : [`its control group may use ${figure(quota)}`]),
  ];
  return parts.length === 0 ? '' : ` (${parts.join('; ')})`;
}

export function kernelUsageText(
  { kernelUsage: usage, cpuLimits: limits, balance, samples }: Model,
  options: Letters,
): string {
  if (!usage) return '';
  const { userNs, systemNs, faults, threads, threadsAtOnce } = usage;
  const atOnce = threadsAtOnce > 0 && threadsAtOnce < threads ? ` (at most ${count(threadsAtOnce)} at once)` : '';
  const major = faults.major > 0 ? ` (${count(faults.major)} of them read from storage)` : '';
  return `CPUs: ${[
    cpusText(usage) +
      limitsText(limits) +
      (samples === 0 ? '' : `, ${figure(balance.meanRunnable)} threads runnable on average`),
    `user ${time(userNs, options)}, system ${time(systemNs, options)}`,
    `${some(threads, 'thread')}${atOnce}`,
    ...switchesOf(usage),
    `${some(faults.minor + faults.major, 'page fault')}${major}`,
  ].join('; ')}.`;
}
