/**
 * Findings about threads that wait for each other in loops that only read memory, with so little work between two waits
 * that one thread would do all of it sooner (docs/reference/findings.md, "Turns by busy-waiting"). Pure functions.
 */
import { f64, item, u16, u32 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import { State } from '../profile/raw-profile.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, processorUseOfRun, shownId } from '../evidence/context.js';
import { withoutWaiting } from '../evidence/waits/own-work.js';
import type { Finding } from '../result/types.js';

/** The least share of the processor time in such loops: less of it is a wait now and then. */
const leastWaiting = 0.3;
/** What one thread alone must save at least, as a share of the elapsed time: processor times are estimates, too. */
const leastAlone = 0.1;
/** The least share of the elapsed time that a thread waits and that it works, to be one of those that take turns. */
const leastOfThread = 0.05;
/** Loops with at least this share of the first one's time are named with it. */
const notable = 0.1;

interface Waits {
  ns: number; // processor time
  cost: number; // elapsed time, where several threads run each has a part of it
  byLoop: Map<number, number>;
  byThread: Map<number, number>;
}

function measure({ model, tables }: FindingContext): Waits {
  const { tuples } = model.raw;
  const waits: Waits = { ns: 0, cost: 0, byLoop: new Map(), byThread: new Map() };
  for (let k = 0; k < tuples.ns.length; k++) {
    if (tuples.state[k] !== State.spinning) continue;
    const object = u32(tables.stacks.entity, u32(tuples.stack, k));
    if (item(model.entities, object).rawKind !== 'loop') continue;
    const ns = f64(tuples.ns, k);
    waits.ns += ns;
    waits.cost += ns / Math.max(1, u16(tuples.busy, k) + u16(tuples.spinning, k));
    addTo(waits.byLoop, shownId(model, object), ns);
    addTo(waits.byThread, u32(tuples.thread, k), ns);
  }
  return waits;
}

/** Time in which nobody works and a thread waits for a CPU: that is not because they take turns. */
function withoutCpuNs({ model: { raw } }: FindingContext): number {
  const { busy, spinning, runnable, ns } = raw.balance;
  return ns.reduce((sum, its, k) => sum + (busy[k] === 0 && u32(runnable, k) > u16(spinning, k) ? its : 0), 0);
}

export function spinTurnFindings(context: FindingContext): Finding[] {
  const { model, least } = context;
  const { elapsedNs, balance } = model;
  const waits = measure(context);
  const processorNs = model.root.processorTimeNs + balance.spinningNs;
  const enoughNs = leastOfThread * elapsedNs;
  const threads = [...waits.byThread].filter(
    ([id, ns]) => ns >= enoughNs && item(model.entities, id).processorTimeNs >= enoughNs,
  ).length;
  if (threads < 2 || waits.ns < leastWaiting * processorNs) return [];
  const { workNs, aloneNs: leftNs } = withoutWaiting(context);
  const aloneNs = leftNs - withoutCpuNs(context);
  if (aloneNs < Math.max(least, leastAlone * elapsedNs)) return [];
  const sorted = [...waits.byLoop].sort((a, b) => b[1] - a[1]);
  const [entity = 0, ...others] = sorted.filter(([, ns]) => ns >= notable * (sorted[0]?.[1] ?? 0)).map(([id]) => id);
  return [
    findingOf(model, {
      entity,
      kind: 'spinning',
      change: 'fewer-threads',
      advice: { pieces: 'larger', threads: 'fewer' },
      costNs: Math.max(waits.cost, aloneNs),
      savingNs: aloneNs,
      processorUse: processorUseOfRun(model),
      facts: {
        form: 'spin-turns',
        objects: [entity, ...others.slice(0, 2)],
        threads,
        waitingNs: waits.ns,
        workNs,
        aloneNs,
      },
      related: others.slice(0, 2),
    }),
  ];
}
