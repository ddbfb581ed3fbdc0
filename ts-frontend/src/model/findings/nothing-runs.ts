/**
 * Findings about time in which nothing runs (b = 0), and what could end it. While no thread is at work, none can wake a
 * thread that waits for an object; only input and output, sleep and timeouts end by themselves
 * (docs/reference/findings.md, "While nothing runs"). Pure functions.
 */
import { defined, f64, item } from '../profile/columns.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, leastShare, processorUseOf } from '../evidence/context.js';
import { countedWaits, wakingNs } from '../evidence/counted-waits.js';
import { isLock } from '../evidence/wait-kinds.js';
import {
  isHeldUp,
  leastReported,
  most,
  waitingAt,
  waitingAtRest,
  type Waiting,
} from '../evidence/waits/waiting-at-rest.js';
import { State } from '../profile/raw-profile.js';
import type { Finding } from '../result/types.js';

/**
 * If a waiting thread is woken by another that hardly works in between, waits are short, and the gaps are the cost of
 * waking.
 */
const shortWaitNs = 500_000;
/** Gaps that are a smaller part of the waits may be the latency of wake-ups beside other programs. */
const leastOfWaits = 0.25;

/** How long a thread that can run waits for a CPU, on average, in ns. */
function latencyNs({ model: { cpuWait, raw } }: FindingContext): number {
  return cpuWait.waitNs / Math.max(1, raw.head.cpuDispatches);
}

/** How long one of the threads that wait for these objects waited in all, on average, in ns. */
function waitedNs(known: readonly Waiting[]): number {
  let ns = 0,
    waiting = 0;
  for (const { entity, threads } of known) {
    const { contended, waitMeanNs } = defined(entity.object);
    ns += contended * waitMeanNs;
    waiting += threads;
  }
  return ns / Math.max(1, waiting);
}

/** What ends by itself: input, output, sleep; and who can run goes on as soon as it gets a CPU. */
const ends: ReadonlySet<number | undefined> = new Set([State.io, State.ready]);

/**
 * For how much of the time in which nothing ran no thread was sleeping, in input or output, or on its way to a CPU, in
 * ns. (Of several threads at once each counts: then it may be more.)
 */
function unendedNs({ model, levels }: FindingContext): number {
  const { tuples } = model.raw;
  let ending = 0;
  for (let k = 0; k < tuples.ns.length; k++)
    if (tuples.busy[k] === 0 && ends.has(tuples.state[k])) ending += f64(tuples.ns, k);
  for (const [id, { blocked }] of levels.waits)
    if (item(model.entities, id).rawKind === 'sleep' && item(model.entities, id).members.length === 0)
      ending += blocked.get(0) ?? 0;
  return Math.max(0, model.balance.nothingRanNs - ending);
}

/** All threads wait for objects, and none can wake them: timeouts have to expire, again and again. */
export function nothingRunsFindings(context: FindingContext): Finding[] {
  const { model, least } = context;
  const cost = unendedNs(context);
  if (cost < Math.max(least, 2 * leastShare * model.elapsedNs) || cost < model.balance.nothingRanNs / 2) return [];
  const { waits: woken } = countedWaits(model);
  if (cost < woken * wakingNs) return [];
  const held = waitingAtRest(context).filter((one) => isHeldUp(one) && one.threads >= leastReported);
  // No conclusion is possible if waits are short, or if the holder of a lock may be outside of what is observed.
  const known = held.filter(
    ({ entity }) => !isLock(entity) && entity.object?.waitsCounted && entity.object.contended > 0,
  );
  const [first] = [...known].sort((a, b) => defined(a.entity.object).waitMeanNs - defined(b.entity.object).waitMeanNs);
  if (!first || known.some(({ entity }) => defined(entity.object).waitMeanNs < shortWaitNs)) return [];
  if (cost < woken * latencyNs(context) && cost < leastOfWaits * waitedNs(known)) return [];
  const waits = known.slice(0, most).map(({ entity }) => ({
    entity: entity.id,
    count: defined(entity.object).contended,
    meanNs: defined(entity.object).waitMeanNs,
  }));
  return [
    findingOf(model, {
      entity: item(known, 0).entity.id,
      kind: 'dependency',
      change: 'wait-less',
      costNs: cost,
      savingNs: cost,
      processorUse: processorUseOf(model.processors, 0, 0),
      facts: { form: 'nothing-runs', waiting: waitingAt(held), waits },
      related: held.map(({ entity }) => entity.id),
    }),
  ];
}
