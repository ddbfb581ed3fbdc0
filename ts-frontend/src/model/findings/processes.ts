/**
 * Limits by waiting for other processes of a parallel program, in MPI (docs/reference/findings.md, "Other processes").
 * Pure.
 */
import { item } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import { busyOf, spinningOf } from '../evidence/activity-levels.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, processorUseOf } from '../evidence/context.js';
import { isOfProcesses } from '../evidence/wait-kinds.js';
import type { Entity, Finding } from '../result/types.js';

/** Calls that are reported. */
const most = 3;

/** Elapsed time in which a thread waits there and nothing else of this process runs, by object. */
interface WaitedIn {
  entity: Entity;
  ns: number;
}

/** At one level threads wait at several objects: each has its part of the elapsed time. */
function waitedIn({ model, levels }: FindingContext): { calls: WaitedIn[]; spinningNs: number } {
  const at = new Map<number, { entity: Entity; ns: number }[]>();
  for (const [id, { blocked, spinning }] of levels.waits) {
    const entity = item(model.entities, id);
    if (entity.group !== 0 || !isOfProcesses(entity)) continue;
    for (const waits of [blocked, spinning])
      for (const [level, ns] of waits)
        if (busyOf(levels, level) === 0) at.set(level, [...(at.get(level) ?? []), { entity, ns }]);
  }
  const of = new Map<Entity, number>();
  let spinningNs = 0;
  for (const [level, waits] of at) {
    const threadNs = waits.reduce((sum, { ns }) => sum + ns, 0);
    const elapsed = Math.min(threadNs, levels.elapsed.get(level) ?? 0);
    for (const { entity, ns } of waits) addTo(of, entity, elapsed * (ns / threadNs));
    if (spinningOf(levels, level) > 0) spinningNs += elapsed;
  }
  const calls = Array.from(of, ([entity, ns]) => ({ entity, ns })).sort((a, b) => b.ns - a.ns);
  return { calls, spinningNs };
}

const sum = (calls: readonly WaitedIn[]): number => calls.reduce((total, { ns }) => total + ns, 0);

/** One finding: what a call waits for is decided by the other processes, whichever call it is. */
export function processesFindings(context: FindingContext): Finding[] {
  const { model, least } = context;
  const { calls, spinningNs } = waitedIn(context);
  const costNs = sum(calls);
  const [first] = calls;
  if (!first || costNs < least) return [];
  const of = (wait: Entity['libraryWait']): number => sum(calls.filter(({ entity }) => entity.libraryWait === wait));
  const startNs = of('processes');
  return [
    findingOf(model, {
      entity: first.entity.id,
      kind: 'processes',
      change: 'balance-processes',
      costNs,
      savingNs: costNs,
      processorUse: processorUseOf(model.processors, 0, spinningNs / costNs),
      facts: {
        form: 'processes',
        calls: calls.slice(0, most).map(({ entity, ns }) => ({ entity: entity.id, ns })),
        further: Math.max(0, calls.length - most),
        startNs,
        messageNs: of('message'),
        collectiveNs: of('collective'),
        savesNs: costNs,
      },
      related: calls.slice(1, most).map(({ entity }) => entity.id),
    }),
  ];
}
