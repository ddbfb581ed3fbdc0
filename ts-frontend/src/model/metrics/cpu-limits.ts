/**
 * What keeps the program's threads from CPUs that the machine has, apart from other programs: the CPU affinity of the
 * process and of its threads, and the limit of its control groups (docs/reference/metrics.md, section 6, "Limits of
 * CPUs"). Pure.
 */
import type { CpuLimitColumn, RawProfile } from '../profile/raw-profile.js';
import type { CpuLimits } from '../result/types.js';

/** null: the profile does not say (thread package, older formats). */
export function cpuLimitsOf({ cpuLimits, head }: RawProfile): CpuLimits | null {
  const of = (name: CpuLimitColumn): number => cpuLimits[name][0] ?? 0;
  if (of('online') === 0) return null;
  return {
    online: of('online'),
    allowed: of('allowed') === 0 ? of('online') : of('allowed'),
    quota: of('quotaMilli') === 0 ? null : of('quotaMilli') / 1000,
    periods: of('periods'),
    throttledPeriods: of('throttledPeriods'),
    throttledNs: of('throttledNs'),
    confined:
      of('confinedNs') === 0
        ? null
        : {
            cpus: of('fewest'),
            ns: Math.min(head.elapsedNs, of('confinedNs')),
            savingNs: Math.min(head.elapsedNs, of('confinedSavingNs')),
            waitNs: of('confinedWaitNs'),
          },
  };
}

/**
 * How much longer the run took because its control group had used up its limit: its CPUs stand still together, at most
 * as many as have threads to run. An upper bound, because some of them may have had nothing to do meanwhile.
 */
export function throttledElapsedNs(limits: CpuLimits, meanRunnable: number, elapsedNs: number): number {
  const cpus = Math.max(1, Math.min(limits.allowed, meanRunnable));
  return Math.min(elapsedNs, limits.throttledNs / cpus);
}

/** How long threads waited because of the limit: all those of a CPU that stands still wait. */
export const throttledWaitNs = (limits: CpuLimits, meanRunnable: number): number =>
  limits.throttledNs * Math.max(1, meanRunnable / Math.max(1, limits.allowed));
