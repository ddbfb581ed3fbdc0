/**
 * Findings about CPUs that the program's threads may not use: their affinity, or the limit of a control group
 * (docs/reference/findings.md, "CPUs that may not be used"). Pure functions.
 */
import type { FindingContext } from '../evidence/context.js';
import { findingOf, processorUseOf } from '../evidence/context.js';
import { throttledElapsedNs } from '../metrics/cpu-limits.js';
import type { Finding } from '../result/types.js';

/** The limit counts if it was reached in at least this share of the periods. */
const leastPeriods = 0.05;

export function cpuLimitFindings({ model }: FindingContext): Finding[] {
  const { cpuLimits: limits, balance, processors, elapsedNs } = model;
  if (limits === null) return [];
  const whole = { entity: 0, kind: 'cpu-limit', change: 'allow-more-cpus', related: [] as number[] } as const;
  const { confined, quota, periods, throttledPeriods, throttledNs } = limits;
  const found: Finding[] = [];
  if (confined !== null)
    found.push(
      findingOf(model, {
        ...whole,
        costNs: confined.ns,
        savingNs: confined.savingNs,
        processorUse: processorUseOf(processors, confined.cpus, 0),
        facts: { form: 'confined', cpus: confined.cpus, confinedNs: confined.ns },
      }),
    );
  if (quota !== null && throttledPeriods >= leastPeriods * periods) {
    const lostNs = throttledElapsedNs(limits, balance.meanRunnable, elapsedNs);
    found.push(
      findingOf(model, {
        ...whole,
        costNs: lostNs,
        savingNs: lostNs,
        processorUse: processorUseOf(processors, 0, 0),
        facts: { form: 'throttled', quota, periods, throttledPeriods, throttledNs },
      }),
    );
  }
  return found;
}

/** The least part of the first finding's saving with which a limit of CPUs comes before it. */
const leastOfFirst = 0.5;

/**
 * A limit of CPUs comes before findings that do not promise twice as much: CPUs that threads may not use are idle, and
 * make the code that runs meanwhile look serial, or its division uneven.
 */
export function cpuLimitFirst(sorted: readonly Finding[], promised: (one: Finding) => number): Finding[] {
  const [first] = sorted;
  const limit = sorted.find(({ kind }) => kind === 'cpu-limit');
  if (first === undefined || limit === undefined || promised(limit) < leastOfFirst * promised(first))
    return [...sorted];
  return [limit, ...sorted.filter((one) => one !== limit)];
}
