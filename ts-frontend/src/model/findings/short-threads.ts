/** Findings about kernel threads with hardly any work (docs/reference/findings.md, "Short threads"). Pure functions. */
import { Purpose } from '../profile/abi.js';
import { item, u32 } from '../profile/columns.js';
import { mainThread } from '../evidence/critical-threads.js';
import { withoutWaiting } from '../evidence/own-work.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, processorUseOf, shownId } from '../evidence/context.js';
import { isFor } from '../evidence/purposes.js';
import type { Entity, Finding, Model } from '../result/types.js';

/**
 * The least time for creating, starting and ending a kernel thread, in ns. It is reported if it is at least a twentieth
 * of the threads' work.
 */
const makingNs = 10_000,
  shortLifeNs = 20 * makingNs;
/** The assumed improvement: ten times fewer threads leave a tenth of that time. */
const coarser = 10;

/** If threads sleep for more than this share of the elapsed time, they do not only start and end. */
const mostAsleep = 0.1;

/** Threads with the same name. */
interface Kind {
  id: number; // entity, as displayed
  threads: Entity[];
  seen: number; // number of threads that snapshots saw
  workNs: number; // processor time
  nptNs: number;
}

/** Threads that are created for little work. */
interface Short {
  id: number; // entity of the most frequent name
  spawns: number;
  workNs: number;
  nptNs: number;
  threads: Entity[];
  othersNs: number; // elapsed time during which other threads live
}

/** All kinds of threads except the main thread, those with the least work per thread first. */
function kindsOf(model: Model): Kind[] {
  const main = mainThread(model)?.id;
  const kinds = new Map<number, Kind>();
  for (const entity of model.entities) {
    if (entity.kind !== 'thread' || entity.members.length > 0 || entity.id === main) continue;
    const id = shownId(model, entity.id);
    const kind = kinds.get(id) ?? { id, threads: [], seen: 0, workNs: 0, nptNs: 0 };
    kind.threads.push(entity);
    kind.seen += Math.max(1, entity.instances);
    kind.workNs += entity.processorTimeNs;
    kind.nptNs += entity.nptNs;
    kinds.set(id, kind);
  }
  return [...kinds.values()].sort((a, b) => a.workNs / a.seen - b.workNs / b.seen);
}

const sum = <One>(all: readonly One[], of: (one: One) => number): number => all.reduce((ns, one) => ns + of(one), 0);

/** Elapsed time during which any of them lives, in ns. */
function livesNs({ elapsedNs }: Model, threads: readonly Entity[]): number {
  let lived = 0,
    end = 0;
  const lives = threads.map(({ thread }) => thread ?? { firstNs: 0, lastNs: elapsedNs });
  for (const { firstNs, lastNs } of lives.sort((a, b) => a.firstNs - b.firstNs)) {
    lived += Math.max(0, lastNs - Math.max(end, firstNs));
    end = Math.max(end, lastNs);
  }
  return Math.min(elapsedNs, lived);
}

/**
 * All threads, including the work of the main thread, if they have little work on average; else the kinds with the
 * least work per thread, as many as have little work on average. Threads that no snapshot saw live only for a moment,
 * so they are counted among these kinds.
 */
function shortOf(model: Model, ranNs: number): Short | undefined {
  const { spawns } = model.head;
  const kinds = kindsOf(model);
  for (let left = kinds.length; left > 0; left--) {
    const its = kinds.slice(0, left),
      others = kinds.slice(left);
    const count = spawns - sum(others, ({ seen }) => seen);
    const isAll = left === kinds.length && ranNs < spawns * shortLifeNs;
    const workNs = isAll ? ranNs : sum(its, (one) => one.workNs);
    if (count <= 0 || workNs === 0 || workNs >= count * shortLifeNs) continue;
    const most = its.reduce((best, one) => (one.seen > best.seen ? one : best));
    return {
      id: most.id,
      spawns: count,
      workNs,
      nptNs: isAll ? model.root.nptNs : sum(its, (one) => one.nptNs),
      threads: its.flatMap(({ threads }) => threads),
      othersNs: livesNs(
        model,
        others.flatMap(({ threads }) => threads),
      ),
    };
  }
  return undefined;
}

/** Elapsed time that would be saved without these threads, provided that only their creators wait. */
interface Without {
  inlineNs: number; // lower bound, if their creators did their work themselves
  idealNs: number; // if a few threads on all processors did their work
}

/**
 * Done by one thread, all that these threads and the main thread ran takes at most the sum of their times, while no
 * other thread lives. CPU time that other programs took is not saved.
 */
function without(context: FindingContext, short: Short, ranNs: number): Without {
  const { model, tables } = context;
  const { elapsedNs, cpuWait } = model;
  const main = mainThread(model);
  const threads = [...short.threads, ...(main && !short.threads.includes(main) ? [main] : [])];
  const blocked = threads.map(({ states }) => states.blocked.ns).sort((a, b) => b - a);
  const asleepNs = sum(threads, ({ states }) => states.io.ns) + sum(blocked.slice(1), (ns) => ns);
  if (asleepNs > mostAsleep * elapsedNs) return { inlineNs: 0, idealNs: 0 };
  // Only work that neither creates threads nor waits for them remains.
  const those = new Set(threads.map(({ id }) => id));
  const { tuples } = model.raw;
  const goes = (k: number): boolean =>
    !those.has(u32(tuples.thread, k)) ||
    isFor(item(model.entities, u32(tables.stacks.procedure, u32(tuples.stack, k))), Purpose.threadMaking);
  const own = withoutWaiting(context, goes);
  const shareOf = sum(threads, ({ processorTimeNs }) => processorTimeNs) / Math.max(1, model.root.processorTimeNs);
  const workNs = Math.min(1, shareOf) * ranNs,
    livedNs = elapsedNs - short.othersNs - cpuWait.othersNs,
    simplyNs = livedNs - workNs;
  return {
    inlineNs: simplyNs > 0 ? Math.max(simplyNs, own.aloneNs - short.othersNs) : 0,
    idealNs: Math.max(livedNs - workNs / model.processors, own.idealNs - short.othersNs - cpuWait.othersNs),
  };
}

/**
 * Kernel threads with hardly any work. What each costs beyond the minimum (a stack, cold caches, the delay until it
 * gets a CPU) is not known, but how much shorter the run would be without them has a bound.
 */
export function shortThreadFindings(context: FindingContext): Finding[] {
  const { model, least } = context;
  const { root, cpuWait } = model;
  const ranNs = cpuWait.runNs > 0 ? cpuWait.runNs : root.processorTimeNs;
  if (model.head.publisher !== 'pthread' || model.head.spawns === 0 || ranNs === 0) return [];
  const short = shortOf(model, ranNs);
  if (!short) return [];
  const { spawns, workNs } = short;
  const making = Math.min(1, (spawns * makingNs) / workNs) * short.nptNs;
  const { inlineNs, idealNs } = without(context, short, ranNs),
    isInline = inlineNs > making;
  const savesNs = isInline ? inlineNs : making * (1 - 1 / coarser),
    mostNs = Math.max(savesNs, idealNs);
  const cost = isInline ? mostNs : Math.max(making, mostNs);
  if (cost < least) return [];
  return [
    findingOf(model, {
      entity: short.id,
      kind: 'overhead',
      change: 'coarsen',
      advice: { pieces: 'larger', threads: 'fewer' },
      costNs: cost,
      savingNs: (savesNs + mostNs) / 2,
      processorUse: processorUseOf(
        model.processors,
        model.balance.meanBusy,
        model.balance.spinningNs / Math.max(1, model.elapsedNs),
      ),
      facts: {
        form: 'short-threads',
        spawns,
        workNs: workNs / spawns,
        leastNs: makingNs,
        savesNs,
        mostNs,
        coarser,
        inlineNs: isInline ? Math.max(0, model.elapsedNs - inlineNs) : null,
      },
    }),
  ];
}
