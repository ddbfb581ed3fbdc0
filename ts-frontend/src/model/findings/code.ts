/**
 * Limits by code that runs while processors have nothing to do: serial code, uneven division of work, pipelines, too
 * few threads. Which of them it is follows from who ran, on how many threads, and what the others waited for meanwhile
 * (docs/reference/findings.md, "Code"). Pure.
 */
import { defined, f64, item, u16, u32, u8 } from '../profile/columns.js';
import type { Context, ContextStats, Contexts, ThreadTimes } from '../evidence/loss-contexts.js';
import { concentrate, similarity, statsOf } from '../evidence/loss-contexts.js';
import type { FindingContext } from '../evidence/context.js';
import {
  findingOf,
  largerPieces,
  leastObservations,
  leastSerial,
  leastShare,
  processorsMeanwhile,
  shownId,
} from '../evidence/context.js';
import { isBarrier, isLock, isRegionEnd, isUncounted } from '../evidence/wait-kinds.js';
import { waitersBeside } from '../evidence/wait-overlap.js';
import { isStream, passesData, stream } from './pipeline.js';
import { handsOver } from './openmp.js';
import { isOfSystem, isOwn, isRuntime } from '../evidence/code-origin.js';
import { rowsOfKey } from '../profile/row-index.js';
import { pathOf } from '../profile/stack-tree.js';
import { isBusy } from '../metrics/sums.js';
import type { WaitingAt } from '../result/facts.js';
import type { Entity, Finding, Model } from '../result/types.js';

/** What threads waited for while a context cost time: mean number of them. */
export interface Waited {
  object: number;
  mean: number;
}

export interface Candidate {
  id: number; // shown entity
  context: Context;
  members: number[]; // stacks of all its contexts
  stats: ContextStats;
  waited: Waited | undefined;
  data: Waited[]; // all objects through which data goes and at which threads waited
  alone: boolean; // nearly all of its cost is one thread's
  thread: number; // the thread with most cost
  threads: number; // threads that ran it
  parts: number[]; // of several procedures reported as one: those, most cost first
}

export function codeFindings(findingContext: FindingContext, contexts: Contexts): Finding[] {
  const { model, tables } = findingContext;
  const smallest = (Math.max(leastSerial * leastShare, leastObservations / model.samples) * model.elapsedNs) / 2;
  const found = concentrate(model.raw, tables, contexts, smallest);
  // Contexts of one entity, or of namesakes, that the same threads run are one candidate. No stack is in two of them.
  const alike: { id: number; context: Context; members: number[] }[] = [];
  const threadsOf = (members: number[]): ThreadTimes => statsOf(model.raw, contexts, tables.weights, members).threads;
  for (const context of found) {
    const id = shownId(model, context.entity);
    const known = alike.find(
      (one) =>
        one.id === id &&
        one.context.self === context.self &&
        one.context.within === context.within &&
        similarity(threadsOf(one.members), threadsOf(context.members)) > 0.5,
    );
    if (known) known.members = known.members.concat(context.members);
    else alike.push({ id, context, members: context.members });
  }

  const reported: Finding[] = [];
  const streams: Candidate[] = [];
  const alones: Candidate[] = [];
  const small: Candidate[] = [];
  const shared = new Map<number, Candidate[]>(); // by what was waited for: one cause, however many procedures it is in
  const isHandedOver = handsOver(findingContext);
  for (const { id, context, members } of alike) {
    const stats = statsOf(model.raw, contexts, tables.weights, members);
    if (stats.lost < smallest || !isCode(item(model.entities, id)) || isHandedOver(members)) continue;
    const candidate: Candidate = {
      id,
      context,
      members,
      stats,
      waited: undefined,
      data: [],
      alone: false,
      thread: 0,
      threads: 0,
      parts: [],
    };
    look(findingContext, candidate);
    const { waited, alone, threads } = candidate;
    const kind = waited ? item(model.entities, waited.object).rawKind : undefined;
    const lone = threads >= 2 ? loneOf(findingContext, contexts, candidate) : undefined;
    if (isUnfed(findingContext, candidate)) small.push(candidate);
    else if (isStream(model, candidate)) streams.push(candidate);
    else if (lone) alones.push(lone);
    else if (
      threads >= 2 ||
      (alone &&
        kind !== undefined &&
        (isBeside(candidate) || isRegionEnd(item(model.entities, defined(waited).object))))
    )
      shared.set(waited?.object ?? 0, [...(shared.get(waited?.object ?? 0) ?? []), candidate]);
    else alones.push(candidate);
  }
  const staged = new Set<number>();
  if (streams.length > 0) reported.push(stream(findingContext, contexts, streams, staged));
  /** What the stages of a pipeline run while nobody waits for them is the same pipeline. */
  const isStaged = ({ stats }: Candidate): boolean => stats.threads.ids.every((thread) => staged.has(thread));
  if (small.length > 0) reported.push(unfed(findingContext, together(findingContext, contexts, small)));
  for (const candidates of shared.values()) {
    const others = candidates.filter((one) => !isStaged(one));
    if (others.length > 0)
      reported.push(
        divided(
          findingContext,
          contexts,
          others.length === 1 ? item(others, 0) : phaseOf(findingContext, contexts, others),
        ),
      );
  }
  for (const candidate of alones)
    if (!(candidate.waited && isStaged(candidate))) reported.push(serial(findingContext, contexts, candidate));
  return reported;
}

/** Not what a thread that has been woken, and has no CPU yet, stands at. */
const isCode = (entity: Entity): boolean => entity.kind === 'procedure' || entity.kind === 'thread' || isLock(entity);

function look({ model, meanwhile }: FindingContext, candidate: Candidate): void {
  const { stats } = candidate;
  let most = 0,
    time = 0;
  candidate.threads = 0;
  candidate.data = [];
  const { ids, time: times, cost } = stats.threads;
  for (let k = 0; k < ids.length; k++) {
    time = Math.max(time, item(times, k));
    if (item(cost, k) > most) {
      most = item(cost, k);
      candidate.thread = item(ids, k);
    }
  }
  for (let k = 0; k < ids.length; k++)
    if (item(times, k) >= 0.02 * time) candidate.threads += Math.max(1, item(model.entities, item(ids, k)).instances);
  candidate.alone = most >= 0.9 * stats.cost && item(model.entities, candidate.thread).instances <= 1;

  let best: Waited | undefined;
  let join: Waited | undefined;
  for (const [object, mean] of waitersBeside(meanwhile, candidate.members)) {
    const entity = item(model.entities, object);
    if (entity.rawKind === 'sleep' || isLock(entity)) continue;
    const waited = { object, mean };
    if (waited.mean >= 0.1 && passesData(entity)) candidate.data.push(waited);
    if (waited.mean < 0.3) continue;
    if (entity.rawKind === 'join') {
      if (!join || waited.mean > join.mean) join = waited;
    } else if (!best || waited.mean > best.mean) best = waited;
  }
  candidate.waited = best ?? join; // who joins waits for the whole; the others say more
}

/** A part of what several threads ran, with so much of the cost, that one of them ran on a path of its own. */
const mostOfIt = 0.75;

/** What it is for is not known: seen from outside, or an object that a library made for itself. */
const isUnknown = (object: Entity): boolean => isUncounted(object) || (object.rawKind !== 'join' && isOfSystem(object));

/**
 * Several threads ran it, and others waited meanwhile for what nobody knows (a futex, a loop): a share of something
 * that is done in parallel, or code of one thread that the others also call in phases of their own? The latter where
 * one thread alone runs it on that path, libraries left out, with most of the cost: then this is that code.
 */
function loneOf(findingContext: FindingContext, contexts: Contexts, candidate: Candidate): Candidate | undefined {
  const { model, tables } = findingContext;
  const object = candidate.waited ? item(model.entities, candidate.waited.object) : undefined;
  if (!object || !isUnknown(object) || isBarrier(object)) return undefined;
  const byPath = new Map<string, number[]>();
  for (const node of candidate.members) {
    const own = pathOf(tables.stacks, node).filter(
      (id) => item(model.entities, id).kind === 'procedure' && isOwn(item(model.entities, id)),
    );
    byPath.set(own.join(' '), [...(byPath.get(own.join(' ')) ?? []), node]);
  }
  const members: number[] = [];
  for (const nodes of byPath.values()) {
    const { ids } = statsOf(model.raw, contexts, tables.weights, nodes).threads;
    if (ids.length === 1 && ids[0] === candidate.thread && item(model.entities, candidate.thread).instances <= 1)
      members.push(...nodes);
  }
  const stats = statsOf(model.raw, contexts, tables.weights, members);
  if (members.length === candidate.members.length || stats.cost < mostOfIt * candidate.stats.cost) return undefined;
  const lone: Candidate = { ...candidate, members, context: { ...candidate.context, members }, stats };
  look(findingContext, lone);
  return lone;
}

/** Other threads were at work during a good part of it: it is a share of something that is done in parallel. */
export const isBeside = ({ stats }: Candidate): boolean => stats.nptBeside >= 0.1 * stats.npt;

/** How many of the threads were alive at the same time, at most. */
function aliveAtOnce(model: Model, threads: readonly number[]): number {
  const ends: { at: number; by: number }[] = [];
  for (const id of threads) {
    const { thread, instances } = item(model.entities, id);
    const by = Math.max(1, instances);
    const first = thread?.firstNs ?? 0;
    ends.push({ at: first, by }, { at: Math.max(first + 1, thread?.lastNs ?? Infinity), by: -by });
  }
  ends.sort((a, b) => a.at - b.at || a.by - b.by);
  let alive = 0,
    most = 0;
  for (const { by } of ends) most = Math.max(most, (alive += by));
  return most;
}

/** Threads shorter than this are not worth another processor's while: a wake-up takes about as long. */
const shortThreadNs = 10_000;
const workForEach = (model: Model): number => model.balance.usefulNs / Math.max(1, model.head.spawns);

/** Threads are ready, and processors idle: there is parallelism, in pieces too small to be handed over. */
function isUnfed({ model }: FindingContext, { stats }: Candidate): boolean {
  const idle = model.processors - stats.costBusy - stats.costSpinning;
  return idle > 0 && stats.costReady >= idle / 2 && model.head.spawns > 0 && workForEach(model) < shortThreadNs;
}

/** Candidates of one kind as one, under the name of the one that costs most. */
export function together({ model, tables }: FindingContext, contexts: Contexts, candidates: Candidate[]): Candidate {
  const [first] = candidates.sort((a, b) => b.stats.cost - a.stats.cost);
  if (candidates.length === 1) return defined(first);
  const members = candidates.flatMap((one) => one.members);
  return { ...defined(first), members, stats: statsOf(model.raw, contexts, tables.weights, members) };
}

/** The innermost procedure on all of the paths (threads come to it on paths of their own), but for `parts`; 0: none. */
function onAll({ entities }: Model, paths: readonly number[][], parts: ReadonlySet<number>): number {
  const depths = new Map<number, { paths: number; least: number }>();
  for (const path of paths)
    for (const [depth, id] of [...new Set(path)].entries()) {
      const known = depths.get(id);
      if (known) {
        known.paths++;
        known.least = Math.min(known.least, depth);
      } else depths.set(id, { paths: 1, least: depth });
    }
  let best = 0,
    deepest = -1;
  for (const [id, { paths: count, least }] of depths) {
    const entity = item(entities, id);
    if (count < paths.length || entity.kind !== 'procedure' || parts.has(id) || !isOwn(entity) || least <= deepest)
      continue;
    best = id;
    deepest = least;
  }
  return best;
}

/** Several procedures that wait for one thing, as one: under the procedure that all of them were called from. */
function phaseOf(findingContext: FindingContext, contexts: Contexts, candidates: Candidate[]): Candidate {
  const { model, tables } = findingContext;
  const joined = together(findingContext, contexts, candidates);
  const { members } = joined;
  const parts = new Set(candidates.map((one) => one.id));
  const entity =
    onAll(
      model,
      members.map((node) => pathOf(tables.stacks, node)),
      new Set(candidates.map((one) => one.context.entity)),
    ) || joined.context.entity;
  const phase = {
    ...joined,
    context: { entity, members, self: false, within: 0 },
    id: shownId(model, entity),
    parts: [...parts],
  };
  look(findingContext, phase);
  return phase;
}

function unfed({ model }: FindingContext, { id, stats }: Candidate): Finding {
  return findingOf(model, {
    entity: id,
    kind: 'overhead',
    change: 'coarsen',
    advice: largerPieces,
    costNs: stats.cost,
    savingNs: stats.lost,
    meanwhile: meanwhile(model, stats),
    facts: {
      form: 'small-threads',
      spawns: model.head.spawns,
      workNs: workForEach(model),
      ready: stats.costReady,
      savesNs: stats.lost,
    },
  });
}

/** Who called it, where most of the loss is: up to three entities, outermost first. */
function callersOf(findingContext: FindingContext, contexts: Contexts, { context }: Candidate): number[] {
  const { model, tables } = findingContext;
  let worst = 0;
  for (const node of context.members)
    if (f64(contexts.lostSelf, node) > (f64(contexts.lostSelf, worst) || 0)) worst = node;
  const path = pathOf(tables.stacks, worst);
  const outside = path.slice(0, Math.max(0, path.indexOf(context.entity)));
  const own = outside.filter(
    (id) => item(model.entities, id).origin !== 'standard' && !isRuntime(item(model.entities, id)),
  );
  return (own.length > 0 ? own : outside).slice(-3);
}

export const meanwhile = ({ processors }: Model, { costBusy, costSpinning }: ContextStats): Finding['meanwhile'] =>
  processorsMeanwhile(processors, costBusy, costSpinning);

const waitingAt = (waited: Waited | undefined): WaitingAt | null =>
  waited ? { entity: waited.object, threads: waited.mean } : null;

function serial(findingContext: FindingContext, contexts: Contexts, candidate: Candidate): Finding {
  const { model } = findingContext;
  const { id, stats, waited, context } = candidate;
  const parts = largestParts(findingContext, candidate); // of an entity's own code: what it calls of run-time libraries
  const itself = context.self && id !== 0 && item(model.entities, id).nptNs > 1.05 * stats.npt;
  return findingOf(model, {
    entity: id,
    kind: 'serial',
    change: 'create-parallelism',
    costNs: stats.cost,
    savingNs: stats.lost,
    meanwhile: meanwhile(model, stats),
    facts: {
      form: 'serial',
      callers: callersOf(findingContext, contexts, candidate),
      itself,
      waiting: waitingAt(waited),
      parts,
      spreadNs: stats.lost,
      smaller: [],
    },
    related: [...parts, ...(waited ? [waited.object] : [])],
  });
}

/**
 * Entities right below that have a quarter of the cost or more, at most two; none where they have less than half of it
 * together.
 */
function largestParts({ model, tables }: FindingContext, { context }: Candidate): number[] {
  const { stacks, byStack, weights } = tables;
  const totals = new Map<number, number>();
  let whole = 0;
  const { tuples } = model.raw;
  for (const node of context.members) {
    let npt = 0;
    for (const k of rowsOfKey(byStack, node))
      if (u16(tuples.busy, k) > 0 && isBusy(u8(tuples.state, k))) npt += f64(weights, k) / u16(tuples.busy, k);
    if (npt === 0) continue;
    whole += npt;
    for (let n = node; n !== 0 && stacks.entity[n] !== context.entity; n = u32(stacks.parent, n)) {
      const above = u32(stacks.parent, n);
      if (above === 0 || stacks.entity[above] !== context.entity) continue;
      const id = shownId(model, u32(stacks.entity, n));
      totals.set(id, (totals.get(id) ?? 0) + npt);
    }
  }
  const parts = [...totals]
    .filter(([, npt]) => npt >= whole / 4)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 2);
  return parts.reduce((sum, [, npt]) => sum + npt, 0) >= whole / 2 ? parts.map(([id]) => id) : [];
}

/** Of two remedies, one that saves at least this part of what the better one saves is reported too. */
const nearlyAsMuch = 0.5;

/**
 * Work that several threads share: one has more of it than the others, or they are too few. Which it is, is what the
 * two remedies would save: dividing it evenly among the threads that there are, and then among all processors.
 */
function divided(findingContext: FindingContext, contexts: Contexts, candidate: Candidate): Finding {
  const { model } = findingContext;
  const P = model.processors;
  const { stats, waited, alone, threads } = candidate;
  // Nobody waits for it, and most of the loss is while one thread runs: several threads did it, but one after the
  // other.
  if (!waited && stats.lostAlone > stats.lost / 2) return serial(findingContext, contexts, candidate);
  const object = waited ? item(model.entities, waited.object) : undefined;
  const atBarrier = object !== undefined && isBarrier(object);
  const atOnce = Math.min(threads, aliveAtOnce(model, stats.threads.ids));
  // Threads that could share the work: those that ran it, those that worked beside it, those that waited for it.
  const sharing = Math.min(
    P,
    Math.max(
      atOnce,
      Math.round(stats.costBusy),
      atBarrier ? 1 + Math.round(defined(waited).mean) : 1,
      alone ? besideWidth(stats) : 1,
    ),
  );
  const even = Math.max(
    0,
    stats.lost - (stats.time / sharing - stats.time / P) * (stats.time > 0 ? Math.min(1, lostShare(stats, P)) : 0),
  );
  const more = stats.lost - even;

  const shared: Shared = { waiting: waitingAt(waited), many: atOnce > 2 * P, atOnce, sharing, even, more };
  if (more > even || (!atBarrier && shared.many && !waited)) return tooFew(findingContext, candidate, shared);
  return uneven(findingContext, contexts, candidate, shared, atBarrier, object);
}

/** Of work that several threads share: what both kinds of finding about it rest on. */
interface Shared {
  waiting: WaitingAt | null;
  many: boolean; // threads, more than two for each processor
  atOnce: number; // alive at the same time
  sharing: number; // could share it
  even: number;
  more: number; // what dividing it evenly saves, and what more threads save beyond that
}

function tooFew(
  { model }: FindingContext,
  { id, stats, waited, threads, parts }: Candidate,
  { waiting, many, atOnce, sharing, even, more }: Shared,
): Finding {
  const too = !many && even >= nearlyAsMuch * more;
  return findingOf(model, {
    entity: id,
    kind: 'starvation',
    change: 'create-parallelism',
    advice: { pieces: 'smaller', threads: 'more' },
    costNs: stats.cost,
    savingNs: stats.lost,
    meanwhile: meanwhile(model, stats),
    facts: {
      form: 'too-few-threads',
      threads,
      atOnce,
      many,
      waiting,
      parts,
      spreadNs: stats.lost,
      even: too ? { threads: sharing, savesNs: even } : null,
    },
    related: waited ? [waited.object] : [],
    alternatives: too ? [{ kind: 'imbalance', change: 'balance', savingNs: even }] : [],
  });
}

function uneven(
  findingContext: FindingContext,
  contexts: Contexts,
  candidate: Candidate,
  { waiting, many, atOnce, sharing, even, more }: Shared,
  atBarrier: boolean,
  object: Entity | undefined,
): Finding {
  const { model } = findingContext;
  const { id, stats, alone, thread, threads, parts, waited } = candidate;
  const slow = many ? 0 : slowest(model, stats);
  const isSlow = slow !== 0 && threads >= 2;
  // A futex, a loop, or a library's own object may be a barrier of its own kind: threads wait there again and again,
  // not only at their ends.
  const savingNs = Math.min(
    even,
    atBarrier || (object !== undefined && isUnknown(object)) ? Infinity : endsApart(model, stats),
  );
  const { within, entity } = candidate.context;
  const isNamesake = within !== 0 || item(model.entities, entity).group !== 0; // there are others of the name
  const too = more >= nearlyAsMuch * savingNs;
  return findingOf(model, {
    entity: shownId(model, atBarrier ? defined(waited).object : isSlow ? slow : id),
    kind: 'imbalance',
    change: many ? 'finer-grain' : 'balance',
    advice: { pieces: 'smaller', threads: too ? 'more' : null },
    costNs: stats.cost,
    savingNs,
    meanwhile: meanwhile(model, stats),
    facts: {
      form: 'uneven-division',
      code: id,
      barrier: atBarrier ? defined(waited).object : null,
      slowest: isSlow
        ? {
            thread: slow,
            workNs: item(stats.threads.time, stats.threads.ids.indexOf(slow)),
            meanNs: stats.time / Math.max(1, threads),
          }
        : null,
      last: !isSlow && item(model.entities, thread).name !== '' && alone && thread !== 0 ? thread : null,
      threads,
      atOnce,
      callers: isNamesake ? callersOf(findingContext, contexts, candidate) : [],
      waiting,
      parts,
      many,
      among: sharing,
      evenNs: savingNs,
      spreadNs: too ? stats.lost : null,
    },
    related: [id, ...parts, ...(slow !== 0 ? [shownId(model, slow)] : []), ...(waited ? [waited.object] : [])],
    alternatives: too ? [{ kind: 'starvation', change: 'create-parallelism', savingNs: stats.lost }] : [],
  });
}

/**
 * Uneven ends can't cost more than the threads that ended early were gone before the last one, spread over them all.
 */
function endsApart(model: Model, stats: ContextStats): number {
  let last = 0,
    sum = 0,
    count = 0;
  for (const id of stats.threads.ids) {
    const entity = item(model.entities, id);
    if (!entity.thread || entity.instances > 1) return Infinity;
    last = Math.max(last, entity.thread.lastNs);
  }
  for (const id of stats.threads.ids) {
    sum += last - defined(item(model.entities, id).thread).lastNs;
    count++;
  }
  return count > 1 ? sum / count : Infinity;
}

/** How many processors were busy, on average, in the part of it that ran beside others. */
function besideWidth({ nptBeside, timeBeside }: ContextStats): number {
  return nptBeside > 0 ? Math.round(timeBeside / nptBeside) : 1;
}

/** Part of its processor time that other causes do not explain. */
function lostShare(stats: ContextStats, P: number): number {
  const all = stats.npt - stats.time / P;
  return all > 0 ? stats.lost / all : 1;
}

/** The thread with a quarter more of the work than the mean, and half of the cost; 0 = there is none. */
function slowest(model: Model, stats: ContextStats): number {
  let threads = 0;
  const { ids, time, cost } = stats.threads;
  for (const thread of ids) threads += Math.max(1, item(model.entities, thread).instances);
  const mean = stats.time / Math.max(1, threads);
  return (
    ids.find(
      (thread, k) =>
        thread !== 0 &&
        item(model.entities, thread).instances <= 1 &&
        item(time, k) >= 1.25 * mean &&
        item(cost, k) >= stats.cost / 2,
    ) ?? 0
  );
}
