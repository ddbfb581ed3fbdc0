/** Limits by kernel threads that live for hardly any work (docs/reference/findings.md, "Short threads"). Pure. */
import { Purpose } from '../profile/abi.js';
import { item, u32 } from '../profile/columns.js';
import { mainThread } from '../evidence/critical-threads.js';
import { withoutWaiting } from '../evidence/own-work.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, processorUseOf, shownId } from '../evidence/context.js';
import { isFor } from '../evidence/purposes.js';
import type { Entity, Finding, Model } from '../result/types.js';

/**
 * What making, starting and ending a kernel thread takes at least; it is reported where that is a twentieth of the
 * work.
 */
const makingNs = 10_000,
  shortLifeNs = 20 * makingNs;
/** Ten times fewer of them leave a tenth of that. */
const coarser = 10;

/** Threads that sleep for more than this part of the elapsed time do something else than to start and end. */
const mostAsleep = 0.1;

/** Threads of one name. */
interface Kind {
  id: number; // as displayed
  threads: Entity[];
  seen: number; // those that snapshots saw
  workNs: number; // processor time
  nptNs: number;
}

/** Threads that are made for little work, and who makes them. */
interface Short {
  id: number; // the most frequent name
  spawns: number;
  workNs: number;
  nptNs: number;
  threads: Entity[];
  othersNs: number; // elapsed time in which other threads live
}

/** All kinds of threads but the main thread, those with the least work for each first. */
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

/** Elapsed time in which any of them lives. */
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
 * All threads, with what the main thread does, or else the kinds with the least work for each, as many as have little
 * work on average. Threads that no snapshot saw live for a moment only: they are of these kinds.
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

/** Elapsed time that would be saved without these threads, where nothing but creators waits. */
interface Without {
  inlineNs: number; // at least, if whoever creates them did their work itself
  idealNs: number; // if few threads on all processors did it
}

/**
 * One after the other, all that they and the main thread ran while no other thread lives takes no longer than that; not
 * what other programs took of the CPUs.
 */
function without(context: FindingContext, short: Short, ranNs: number): Without {
  const { model, tables } = context;
  const { elapsedNs, cpuWait } = model;
  const main = mainThread(model);
  const threads = [...short.threads, ...(main && !short.threads.includes(main) ? [main] : [])];
  const blocked = threads.map(({ states }) => states.blocked.ns).sort((a, b) => b - a);
  const asleepNs = sum(threads, ({ states }) => states.io.ns) + sum(blocked.slice(1), (ns) => ns);
  if (asleepNs > mostAsleep * elapsedNs) return { inlineNs: 0, idealNs: 0 };
  // Neither makes threads, nor waits for them: the threads' own work.
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
 * Kernel threads that live for hardly any work. What each costs beyond the least (a stack, cold caches, the way to a
 * CPU) is not known, but what the run would take without them has a bound.
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
