/**
 * Totals since the server started, over all profiles of the recording: sums, which only grow, and the findings of the
 * most recent stretch. The number of labels is bounded: a name gets a label when it first takes a sufficient share of a
 * stretch and there is room, and keeps it; all other names are counted as `other`. Pure functions.
 */
import { addTo, stateNames, type Entity, type Model, type RawHead, type StateName } from '../model/index.js';

/** The maximum number of labels of a kind, and the least share of a stretch for which a name gets one. */
const labelsMost = 20;
const worth = 0.01;
export const other = 'other';

/** Sums by name, with a bounded number of names. */
class Named {
  readonly sums = new Map<string, number>([[other, 0]]);
  add(parts: ReadonlyMap<string, number>, ofAll: number): void {
    const most = [...parts].filter(([, amount]) => amount > 0).sort(([, a], [, b]) => b - a);
    for (const [name, amount] of most) {
      const known = this.sums.get(name);
      const own = known !== undefined || (amount >= worth * ofAll && this.sums.size <= labelsMost);
      addTo(this.sums, own ? name : other, amount);
    }
  }
}

/** Elapsed time classified by the number of busy processors. */
export type Busy = 'none' | 'one' | 'some' | 'all';

export class Totals {
  elapsedNs = 0;
  processors = 0;
  readonly processorNs = { useful: 0, overhead: 0, spinning: 0, idle: 0 };
  readonly busyNs: Record<Busy, number> = { none: 0, one: 0, some: 0, all: 0 };
  readonly threadNs = Object.fromEntries(stateNames.map((name) => [name, 0])) as Record<StateName, number>;
  readonly code = new Named(); // self NPT of procedures and objects in ns; the sum is the program's NPT
  readonly objects = new Named(); // time that threads waited for each object, ns
  readonly counted = { snapshots: 0, skippedTicks: 0, samplerCpuNs: 0, cpuWaitNs: 0 };
  /** For the most recent stretch: the possible saving of each kind of finding, as a share of the stretch. */
  savings = new Map<string, number>();

  /** Adds the stretch since the previous call. */
  add(stretch: Model): void {
    const { balance, elapsedNs, head, processors, root } = stretch;
    if (elapsedNs <= 0) return;
    this.elapsedNs += elapsedNs;
    this.processors = processors;
    for (const name of ['useful', 'overhead', 'spinning', 'idle'] as const)
      this.processorNs[name] += balance[`${name}Ns`];
    balance.byBusyNs.forEach((ns, busy) => {
      this.busyNs[busy === 0 ? 'none' : busy === processors ? 'all' : busy === 1 ? 'one' : 'some'] += ns;
    });
    for (const name of stateNames) this.threadNs[name] += root.states[name].ns;
    this.code.add(
      byName(stretch.entities, ({ rawKind, nptSelfNs }) => (aside.has(rawKind) ? 0 : nptSelfNs)),
      elapsedNs,
    );
    this.objects.add(
      byName(stretch.entities, ({ object }) => object?.waitNs ?? 0),
      elapsedNs,
    );
    this.#count(head);
    this.savings = new Map();
    for (const { kind, savingNs } of stretch.findings) addTo(this.savings, kind, savingNs / elapsedNs);
  }

  #count(head: RawHead): void {
    for (const name of ['snapshots', 'skippedTicks', 'samplerCpuNs', 'cpuWaitNs'] as const)
      this.counted[name] += head[name];
  }
}

/** Entities whose time is also charged to other entities. */
const aside: ReadonlySet<string> = new Set(['thread', 'code-loop', 'code-line']);

/** Sums over entities of the same name. Time outside of known procedures is `[unknown]`, as in exports. */
function byName(entities: readonly Entity[], of: (entity: Entity) => number): Map<string, number> {
  const sums = new Map<string, number>();
  for (const entity of entities) {
    if (entity.members.length > 0) continue;
    const amount = of(entity);
    if (amount <= 0) continue;
    addTo(sums, entity.id === 0 ? '[unknown]' : entity.name, amount);
  }
  return sums;
}
