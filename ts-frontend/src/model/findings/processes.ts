/**
 * Findings about waiting for other processes of a parallel program in MPI calls (docs/reference/findings.md, "Other
 * processes"). Pure functions.
 */
import { item } from '../profile/columns.js';
import { waitedAlone } from '../evidence/activity-levels.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, processorUseOf } from '../evidence/context.js';
import { isOfProcesses } from '../evidence/wait-kinds.js';
import type { Entity, Finding } from '../result/types.js';

/** The maximum number of calls that are listed. */
const most = 3;

/** Elapsed time in which a thread waits in a call and nothing else of this process runs, by object. */
interface WaitedIn {
  entity: Entity;
  ns: number;
}

function waitedIn({ model, levels }: FindingContext): { calls: WaitedIn[]; spinningNs: number } {
  const entityOf = (id: number): Entity => item(model.entities, id);
  const { at, spinningNs } = waitedAlone(levels, (id) => entityOf(id).group === 0 && isOfProcesses(entityOf(id)));
  const calls = Array.from(at, ([id, ns]) => ({ entity: entityOf(id), ns })).sort((x, y) => y.ns - x.ns);
  return { calls, spinningNs };
}

const sum = (calls: readonly WaitedIn[]): number => calls.reduce((total, { ns }) => total + ns, 0);

/**
 * At most one finding for all calls, because how long a call waits is determined by the other processes, whichever call
 * it is.
 */
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
