/**
 * Findings about code to be made faster: code that takes the time while processors are busy
 * (docs/reference/findings.md, "Optimize"). Pure functions.
 */
import { Purpose } from '../profile/abi.js';
import { f64, item, u16, u32, u8 } from '../profile/columns.js';
import { addTo, total } from '../profile/maps.js';
import { aroundOf } from '../evidence/code/around-code.js';
import { pathsThrough } from '../evidence/code/paths-through.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, processorUseOf } from '../evidence/context.js';
import {
  hotWorkOf,
  isBusyTime,
  isWork,
  noCode,
  workOwner,
  type HotCode,
  type WorkScope,
} from '../evidence/code/hot-work.js';
import { hotLoop } from '../evidence/code/hot-loop.js';
import { libraryLockIn } from '../evidence/locks/library-lock.js';
import { ownPath } from '../evidence/code/own-path.js';
import { isFor } from '../evidence/purposes.js';
import { atomicsIn } from '../evidence/code/shared-lines.js';
import { mainThread } from '../evidence/threads/critical-threads.js';
import type { OptimizeFacts } from '../result/facts.js';
import type { Finding, Model } from '../result/types.js';
import { allocationFinding, allocationOf, isMostOf } from './allocation.js';

/**
 * The least share of the elapsed time for which main works without waiting, so that other threads do not lengthen the
 * run.
 */
const alwaysAtWork = 0.95;

/** The main thread if it works all the time; 0 if it waits for others. */
function mainAlwaysAtWork(model: Model): number {
  const main = mainThread(model);
  return main && main.instances <= 1 && main.processorTimeNs >= alwaysAtWork * model.elapsedNs ? main.id : 0;
}

/**
 * The number of threads that run the code at the same time: all of them if their times are similar; at most the number
 * of processors.
 */
function togetherOf({ processors, entities }: Model, { npt, busy, byThread }: HotCode): number {
  const times = [...byThread].flatMap(([id, ns]) => {
    const instances = Math.max(1, item(entities, id).instances);
    return Array.from({ length: Math.min(instances, processors) }, () => ns / instances);
  });
  const most = Math.max(0, ...times);
  const alike = times.filter((ns) => ns >= most / 2).length;
  return npt > 0 ? Math.min(alike, processors, Math.round(busy / npt)) : 0;
}

export interface HotScope extends WorkScope {
  /** The subjects of other findings with their worth: code that costs at most `factor` times as much is left out. */
  factor: number;
  /**
   * Procedures with most of the kernel work of a finding, with its worth: their code is left out if it costs no more.
   */
  ofKernel: ReadonlyMap<number, number>;
  /** Whether to report a procedure for what it has including its callees: if none has enough self time, or always. */
  spread: 'no' | 'if-none' | 'only';
}

/** The NPT of all such work in procedures of which no other finding says what they cost. */
export function atWorkNs(context: FindingContext, scope: HotScope): number {
  const { model, tables } = context;
  const { tuples } = model.raw;
  const { isAt } = hotWorkOf(context, scope);
  const byOwner = new Map<number, number>();
  for (let k = 0; k < tables.weights.length; k++)
    if (isAt[k] === 1)
      addTo(byOwner, workOwner(context, u32(tuples.stack, k)), f64(tables.weights, k) / u16(tuples.busy, k));
  return total(new Map([...byOwner].filter(([id, npt]) => !isSaid(scope, id, npt))));
}

/** The NPT of its own work, by stack. */
function workOf(context: FindingContext, scope: HotScope, id: number): Map<number, number> {
  const { model, tables } = context;
  const { tuples } = model.raw;
  const { isAt } = hotWorkOf(context, scope);
  const byStack = new Map<number, number>();
  for (let k = 0; k < tables.weights.length; k++) {
    const node = u32(tuples.stack, k);
    if (isAt[k] === 1 && workOwner(context, node) === id)
      addTo(byStack, node, f64(tables.weights, k) / u16(tuples.busy, k));
  }
  return byStack;
}

/**
 * Its NPT including callees, divided into the time while the processors are busy, and the time while fewer are (then
 * only main's, if main works all the time).
 */
function withCalled(
  context: FindingContext,
  scope: HotScope,
  id: number,
  main: number,
): { busyNs: number; restNs: number } {
  const { model, tables } = context;
  const { tuples } = model.raw;
  const within = pathsThrough(context, new Set([id]));
  const { isAt } = hotWorkOf(context, scope);
  const npt = { busyNs: 0, restNs: 0 };
  for (let k = 0; k < tables.weights.length; k++) {
    if (u8(within, u32(tuples.stack, k)) === 0 || !isWork(context, scope, k)) continue;
    const ns = f64(tables.weights, k) / Math.max(1, u16(tuples.busy, k));
    if (!isBusyTime(context, k)) npt.restNs += main === 0 || tuples.thread[k] === main ? ns : 0;
    else if (isAt[k] === 1) npt.busyNs += ns;
  }
  return npt;
}

/** If no procedure has a tenth of the work as self time, a procedure with this share including callees is reported. */
const leastCalled = 0.5;

/** The time of threads that work in the procedure or in what it calls. */
function threadsWithin(context: FindingContext, scope: HotScope, id: number): Map<number, number> {
  const { model, tables } = context;
  const { tuples } = model.raw;
  const runsIt = new Map<number, boolean>();
  const { isAt } = hotWorkOf(context, scope);
  const byThread = new Map<number, number>();
  for (let k = 0; k < tables.weights.length; k++) {
    if (isAt[k] === 0) continue;
    const node = u32(tuples.stack, k);
    const runs = runsIt.get(node) ?? ownPath(context, node).slice(0, -1).includes(id);
    runsIt.set(node, runs);
    if (runs) addTo(byThread, u32(tuples.thread, k), f64(tables.weights, k));
  }
  return byThread;
}

/** The innermost procedure that has half of this work including callees. */
function spreadFinding(context: FindingContext, scope: HotScope, leastNs: number): Finding[] {
  const { model } = context;
  const { rows, npt: all } = hotWorkOf(context, scope).called();
  const [best] = [...rows]
    .filter(([id, { npt }]) => npt >= Math.max(leastNs, leastCalled * all) && !isSaid(scope, id, npt))
    .sort((a, b) => a[1].npt - b[1].npt);
  if (!best) return [];
  const [id, sums] = best;
  const hot = { ...noCode(), ...sums, byThread: threadsWithin(context, scope, id) };
  const { restNs } = withCalled(context, scope, id, 0);
  const [largest] = [...ownersBelow(context, scope, id)].sort((a, b) => b[1] - a[1]);
  const within = largest && largest[1] >= leastNs ? { entity: largest[0], ns: largest[1] } : null;
  const facts = { within, mostNs: hot.npt, restNs, spread: true };
  return [optimize(model, id, hot, facts, within ? [within.entity] : [])];
}

/** The self NPT of procedures that the procedure calls. */
function ownersBelow(context: FindingContext, scope: HotScope, id: number): Map<number, number> {
  const { model, tables } = context;
  const { tuples } = model.raw;
  const within = pathsThrough(context, new Set([id]));
  const { isAt } = hotWorkOf(context, scope);
  const owners = new Map<number, number>();
  for (let k = 0; k < tables.weights.length; k++) {
    const node = u32(tuples.stack, k);
    if (isAt[k] === 1 && u8(within, node) === 1)
      addTo(owners, workOwner(context, node), f64(tables.weights, k) / u16(tuples.busy, k));
  }
  owners.delete(id);
  return owners;
}

/** Whether half of it is in procedures of a library that have no names and run for the one that the finding names. */
function isMostlyUnnamed({ model, own }: FindingContext, work: ReadonlyMap<number, number>): boolean {
  let unnamed = 0,
    all = 0;
  for (const [node, ns] of work) {
    all += ns;
    if (item(model.entities, u32(own.owner, node)).runsFor !== 0) unnamed += ns;
  }
  return unnamed >= all / 2;
}

/** Facts without a value here are those of self time, on any thread. */
const optimize = (
  model: Model,
  id: number,
  hot: HotCode,
  facts: Partial<OptimizeFacts> & Pick<OptimizeFacts, 'mostNs' | 'restNs'>,
  related: number[] = [],
): Finding =>
  findingOf(model, {
    entity: id,
    kind: 'optimize',
    change: 'optimize',
    costNs: hot.npt,
    savingNs: facts.mostNs,
    processorUse: processorUseOf(model.processors, hot.busy / hot.npt, hot.spinning / hot.npt),
    facts: {
      form: 'optimize',
      within: null,
      beside: null,
      calledNs: 0,
      around: null,
      even: null,
      together: togetherOf(model, hot),
      handedOn: false,
      guessed: false,
      waited: null,
      spread: false,
      unnamed: false,
      allocatorNs: null,
      loop: null,
      copyingNs: null,
      chainsNs: null,
      library: null,
      atomics: null,
      ...facts,
    },
    related,
  });

const isSaid = ({ named, factor, ofKernel }: HotScope, id: number, npt: number): boolean =>
  Math.max((named.get(id) ?? 0) * factor, ofKernel.get(id) ?? 0) >= npt;

/** The procedures with the largest self NPT. */
export function hotCodeFindings(context: FindingContext, scope: HotScope): Finding[] {
  const { model, least } = context;
  const P = model.processors;
  const main = P > 1 ? mainAlwaysAtWork(model) : 0;
  const leastNs = Math.max(2 * least, 0.1 * model.elapsedNs);
  const hotWork = hotWorkOf(context, scope),
    { isAt } = hotWork;
  const byEntity = hotWork.byOwner(main);
  const worth = ({ npt, mainNs }: Pick<HotCode, 'npt' | 'mainNs'>): number =>
    main !== 0 ? Math.min(npt, mainNs) : npt;
  const rows = [...byEntity].filter(([id, { npt }]) => !isSaid(scope, id, npt)).sort((a, b) => b[1].npt - a[1].npt);
  const best = main === 0 ? rows[0] : [...rows].sort((a, b) => worth(b[1]) - worth(a[1]))[0];
  const allocation = allocationOf(context, (k) => isAt[k] === 1, main);
  const allocates = allocationFinding(model, allocation, worth(allocation));
  const isTried = scope.named.get(allocates.entity) === Infinity;
  if (scope.spread !== 'only' && worth(allocation) >= leastNs && isMostOf(allocation, byEntity) && !isTried)
    return [allocates];
  if (!best || worth(best[1]) < leastNs || scope.spread === 'only') {
    // Otherwise what calls all of it would mostly be the code that another finding is about.
    const isElsewhere = [...byEntity].some(([id, { npt }]) => npt >= leastNs && isSaid(scope, id, npt));
    return scope.spread !== 'no' && main === 0 && !isElsewhere ? spreadFinding(context, scope, leastNs) : [];
  }
  const [id, hot] = best,
    { npt, called } = hot,
    mostNs = worth(hot);
  const most = [...called].sort((a, b) => b[1] - a[1])[0];
  const within = most && most[1] >= npt / 4 ? { entity: most[0], ns: most[1] } : null;
  const halfFor = (purpose: number): number | null => {
    const its = [...called].reduce((sum, [one, ns]) => sum + (isFor(item(model.entities, one), purpose) ? ns : 0), 0);
    return its >= npt / 2 ? its : null;
  };
  const [largest, { npt: ns }] = item(rows, 0);
  const { busyNs, restNs } = withCalled(context, scope, id, main);
  const beside = largest !== id && ns > npt ? { entity: largest, ns, main } : null;
  const calledNs = Math.max(0, busyNs - npt),
    allocatorNs = halfFor(Purpose.allocator),
    copyingNs = halfFor(Purpose.copying),
    chainsNs = halfFor(Purpose.chains);
  const work = workOf(context, scope, id);
  const loop = hotLoop(context, id, work);
  // Of a single thread, the lock costs little: nobody else takes it.
  const library = togetherOf(model, hot) >= 2 ? libraryLockIn(context, work) : null;
  const related = [...(within ? [within.entity] : []), ...(beside ? [largest, main] : [])];
  const unnamed = isMostlyUnnamed(context, work);
  const atomics = atomicsIn(context, work);
  const parts = { allocatorNs, copyingNs, chainsNs, library, atomics };
  const isCode = (node: number): boolean => workOwner(context, node) === id;
  const isWithin = (k: number): boolean => isAt[k] === 1;
  const around = aroundOf(context, id, isWithin, isCode, main);
  const facts = { unnamed, within, beside, around, mostNs, calledNs, restNs, loop, ...parts };
  return [optimize(model, id, hot, facts, related)];
}
