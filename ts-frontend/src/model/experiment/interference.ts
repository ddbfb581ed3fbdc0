/**
 * Whether threads slow each other down, by what the same work takes with fewer of them, or with all on one CPU: no
 * counters are needed. Method and limits: docs/guide/measuring.md, "Threads that slow each other down". Pure functions.
 */
import { sharingByProcedure } from '../evidence/code/shared-lines.js';
import { shownId } from '../evidence/context.js';
import { addTo } from '../profile/maps.js';
import type { Interference, Ratio } from '../result/experiment.js';
import type { Entity, Model } from '../result/types.js';

/** Processor times that differ by less are called equal. */
const least = 0.05;
/** The least part of the difference that a cause, and all named procedures together, must explain. */
const leastExplained = 0.5;
/** The least part of the difference that a named procedure has. */
const leastOfProcedure = 0.1;
const mostProcedures = 3;
/** The least part of the processor time in which others execute as well: else nothing is seen. */
const leastTogether = 0.5;
/** Running threads are sampled about this often. */
const sampleNs = 2e6;

/** Procedures with a name of their own, not the members of groups. */
const procedures = ({ entities }: Model): Entity[] =>
  entities.filter(({ kind, group }) => kind === 'procedure' && group === 0);
const keyOf = ({ name, file }: Entity): string => `${file}\0${name}`;

/** Processor time of the program in the kernel's count, without what its threads spent spinning. */
const systemNs = ({ kernelUsage }: Model): number => kernelUsage?.systemNs ?? 0;
const wholeNs = ({ root, balance }: Model): number => root.processorTimeNs + balance.spinningNs;

/** Whether its threads had CPUs at the same time for most of the time in which they executed. */
function ranTogether({ balance: { byBusyNs } }: Model): boolean {
  const usedNs = byBusyNs.reduce((sum, ns, busy) => sum + busy * ns, 0);
  return usedNs - (byBusyNs[1] ?? 0) >= leastTogether * usedNs;
}

/** Procedures whose own work takes certainly less time in the second run, most first. */
function quicker(before: Model, after: Model): Interference['procedures'] {
  const later = new Map<string, number>();
  for (const entity of procedures(after)) addTo(later, keyOf(entity), entity.processorTimeSelfNs);
  return procedures(before)
    .map((entity) => ({
      entity: entity.id,
      name: entity.name,
      beforeNs: entity.processorTimeSelfNs,
      afterNs: later.get(keyOf(entity)) ?? 0,
    }))
    .filter(
      ({ beforeNs, afterNs }) =>
        afterNs > 0 && beforeNs - afterNs > 4 * Math.sqrt((beforeNs + afterNs) * sampleNs) + least * beforeNs,
    )
    .sort((a, b) => b.beforeNs - b.afterNs - (a.beforeNs - a.afterNs));
}

/**
 * `processor`: processor time of the program with the change as a ratio of that before. null: not certain either way.
 */
export function interferenceOf(
  by: Interference['by'],
  processor: Ratio | null,
  before: Model,
  after: Model,
  sharedCores: boolean | null,
): Interference | null {
  if (processor === null) return null;
  const none: Interference = { by, cause: 'none', procedures: [], variable: '', sharedCores };
  if (processor.low > 1 - least && processor.high < 1 + least) return ranTogether(before) ? none : null;
  if (processor.high > 1 - least) return null;
  const lessNs = wholeNs(before) - wholeNs(after);
  if (lessNs <= 0) return null; // the recorded runs contradict the others
  const part = (ns: number): number => ns / lessNs;
  if (part(before.balance.spinningNs - after.balance.spinningNs) >= leastExplained)
    return { ...none, cause: 'waiting' };
  if (part(systemNs(before) - systemNs(after)) >= leastExplained) return { ...none, cause: 'kernel' };
  const named = quicker(before, after)
    .filter(({ beforeNs, afterNs }) => part(beforeNs - afterNs) >= leastOfProcedure)
    .slice(0, mostProcedures);
  const [most] = named;
  const explained = named.reduce((sum, { beforeNs, afterNs }) => sum + part(beforeNs - afterNs), 0);
  if (most === undefined || explained < leastExplained) return { ...none, cause: 'unknown' };
  const lines = [...sharingByProcedure(before)].find(([procedure]) => shownId(before, procedure) === most.entity);
  return {
    by,
    cause: lines === undefined ? 'memory' : 'lines',
    procedures: named,
    variable: lines?.[1].variable ?? '',
    sharedCores,
  };
}
