/**
 * Candidates for findings about code: pieces of the program that cost time while processors are idle, with the
 * behaviour of their threads and the waits of others. code.ts decides which finding a candidate becomes. Pure
 * functions.
 */
import { defined, f64, item, u16, u32, u8 } from '../profile/columns.js';
import type { Context, ContextStats, Contexts } from '../evidence/code/loss-contexts.js';
import { statsOf } from '../evidence/code/loss-contexts.js';
import type { FindingContext } from '../evidence/context.js';
import { processorUseOf, shownId } from '../evidence/context.js';
import { isBarrier, isLock, isOfProcesses, isUncounted, passesData } from '../evidence/wait-kinds.js';
import { waitersBeside } from '../evidence/wait-overlap.js';
import { isOfSystem, isOwn, isRuntime } from '../evidence/code-origin.js';
import { rowsOfKey } from '../profile/row-index.js';
import { pathOf } from '../profile/stack-tree.js';
import { isNameless } from '../metrics/public-names.js';
import { isBusy } from '../metrics/sums.js';
import type { WaitingAt } from '../result/facts.js';
import type { Entity, Finding, Model } from '../result/types.js';

/** What threads waited for while a context cost time, with their mean number. */
export interface Waited {
  object: number;
  mean: number;
}

export interface Candidate {
  id: number; // the entity, as displayed
  context: Context;
  members: number[]; // stacks of all its contexts
  stats: ContextStats;
  waited: Waited | undefined;
  data: Waited[]; // all objects that pass data on and at which threads waited
  alone: boolean; // whether nearly all of its cost is in one thread
  thread: number; // the thread with the largest cost
  threads: number; // the number of threads that ran it
  parts: number[]; // if several procedures are reported as one: these, largest cost first
}

/** Adds the behaviour of the context's threads and the waits of others. */
export function candidateOf(
  { model, waitOverlap: beside }: FindingContext,
  piece: Pick<Candidate, 'id' | 'context' | 'members' | 'stats' | 'parts'>,
): Candidate {
  const { ids, time: times, cost } = piece.stats.threads;
  let most = 0,
    time = 0,
    thread = 0,
    threads = 0;
  for (let k = 0; k < ids.length; k++) {
    time = Math.max(time, item(times, k));
    if (item(cost, k) > most) {
      most = item(cost, k);
      thread = item(ids, k);
    }
  }
  for (let k = 0; k < ids.length; k++)
    if (item(times, k) >= 0.02 * time) threads += Math.max(1, item(model.entities, item(ids, k)).instances);
  const alone = most >= 0.9 * piece.stats.cost && item(model.entities, thread).instances <= 1;

  const data: Waited[] = [];
  let best: Waited | undefined;
  let join: Waited | undefined;
  for (const [object, mean] of waitersBeside(beside, piece.members)) {
    const entity = item(model.entities, object);
    if (entity.rawKind === 'sleep' || isLock(entity) || isOfProcesses(entity)) continue;
    const waited = { object, mean };
    if (mean >= 0.1 && passesData(entity)) data.push(waited);
    if (mean < 0.3) continue;
    if (entity.rawKind === 'join') {
      if (!join || mean > join.mean) join = waited;
    } else if (!best || mean > best.mean) best = waited;
  }
  // a joining thread waits for the whole; other waits are more specific
  return { ...piece, waited: best ?? join, data, alone, thread, threads };
}

/** Whether its use is unknown: it is observed from outside, or a library made it for itself. */
export const isUnknown = (object: Entity): boolean =>
  isUncounted(object) || (object.rawKind !== 'join' && isOfSystem(object));

/** The least share of the cost of a part that one of several threads ran on a path of its own. */
const mostOfIt = 0.75;

/**
 * Several threads ran it, and others waited for an unknown reason (a futex, a loop). It is either a share of parallel
 * work, or code of one thread that the others also call in phases of their own. The latter is assumed, and returned, if
 * one thread alone runs it on that path (libraries left out) with most of the cost.
 */
export function loneOf(
  findingContext: FindingContext,
  contexts: Contexts,
  candidate: Candidate,
): Candidate | undefined {
  const { model, tables } = findingContext;
  const object = candidate.waited ? item(model.entities, candidate.waited.object) : undefined;
  if (!object || !isUnknown(object) || isBarrier(object)) return undefined;
  const byPath = new Map<string, number[]>();
  for (const node of candidate.members) {
    const path = pathOf(tables.stacks, node).map((id) => item(model.entities, id));
    // threads reach a parallel region on different paths
    const region = path.slice(path.findLastIndex(({ origin }) => origin === 'openmp') + 1);
    const own = region.filter((one) => one.kind === 'procedure' && isOwn(one)).map(({ id }) => id);
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
  return candidateOf(findingContext, { ...candidate, members, context: { ...candidate.context, members }, stats });
}

const isAddress = (entity: Entity): boolean => entity.id !== 0 && isNameless(entity) && entity.runsFor === 0;

/** Whether other threads were at work during much of it, so that it is a share of parallel work. */
export const isBeside = ({ stats }: Candidate): boolean => stats.nptBeside >= 0.1 * stats.npt;

/** Merges candidates of one kind under the name of the one with the largest cost. */
export function together({ model, tables }: FindingContext, contexts: Contexts, candidates: Candidate[]): Candidate {
  const [first] = candidates.sort((a, b) => b.stats.cost - a.stats.cost);
  if (candidates.length === 1) return defined(first);
  const members = candidates.flatMap((one) => one.members);
  return { ...defined(first), members, stats: statsOf(model.raw, contexts, tables.weights, members) };
}

/** The innermost procedure on all paths except `parts`; 0 if none. Threads reach it on different paths. */
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

/**
 * Merges procedures that wait for the same thing under the procedure that calls all of them; if there is none, under
 * the one with the largest cost, without what is known of no procedure. If `instead` is given, under that.
 */
export function phaseOf(
  findingContext: FindingContext,
  contexts: Contexts,
  candidates: Candidate[],
  instead?: number,
): Candidate {
  const { model, tables } = findingContext;
  const entityOf = (one: Candidate): number => one.context.entity;
  const named = candidates.filter((one) => entityOf(one) !== 0);
  const isNamed = instead === undefined && entityOf(together(findingContext, contexts, candidates)) !== 0;
  const its = isNamed ? named : candidates;
  if (its.length === 1) return item(its, 0);
  const joined = { ...together(findingContext, contexts, its), first: item(its, 0).stats.cost };
  const { members } = joined;
  const parts = new Set(its.map((one) => one.id));
  const paths = members.map((node) => pathOf(tables.stacks, node));
  const caller =
    instead === undefined ? onAll(model, paths, new Set(its.map(entityOf))) || onAll(model, paths, new Set()) : 0;
  // A nameless common caller is less informative than a part with nearly all of the cost.
  const isVague = isAddress(item(model.entities, caller)) && joined.first >= mostOfIt * joined.stats.cost;
  const entity = (isVague ? 0 : caller) || (instead ?? joined.context.entity);
  return candidateOf(findingContext, {
    ...joined,
    context: { entity, members, self: false, within: 0 },
    id: shownId(model, entity),
    parts: [...parts],
  });
}

/**
 * Whether code on a path, from one place on, is called by what also runs above that place: an interpreter that runs a
 * procedure of its language inside of another one. Then what stands at that place is a step of the interpreter, and not
 * what the program called.
 */
function isReentered(path: readonly number[], at: number): boolean {
  const above = new Set(path.slice(0, at));
  return path.slice(at + 1).some((id) => above.has(id));
}

/**
 * Merges candidates for serial code of one thread if one calls the others inside of libraries: they are one call of the
 * program.
 */
export function joinCalls(
  findingContext: FindingContext,
  contexts: Contexts,
  candidates: readonly Candidate[],
): Candidate[] {
  const { model, tables } = findingContext;
  /** The outermost candidate that all paths of `one` go through. */
  const callerOf = (one: Candidate): Candidate => {
    const paths = one.members.map((node) => pathOf(tables.stacks, node));
    const depthOf = ({ context: { entity } }: Candidate): number =>
      Math.min(...paths.map((path) => path.findIndex((id) => id === entity)));
    const isStep = ({ context: { entity } }: Candidate): boolean =>
      paths.some((path) => isReentered(path, path.indexOf(entity)));
    const callers = candidates.filter(
      (other) =>
        other.thread === one.thread &&
        isOfSystem(item(model.entities, other.context.entity)) &&
        depthOf(other) >= 0 &&
        (other === one || !isStep(other)),
    );
    return callers.sort((a, b) => depthOf(a) - depthOf(b))[0] ?? one;
  };
  const groups = new Map<Candidate, Candidate[]>();
  for (const one of candidates) {
    const caller = callerOf(one);
    groups.set(caller, [...(groups.get(caller) ?? []), one]);
  }
  return [...groups].map(([caller, its]) => {
    if (its.length === 1) return item(its, 0);
    const joined = together(findingContext, contexts, its);
    const { entity } = caller.context;
    const large = its.filter((one) => one.id !== caller.id && one.stats.cost >= joined.stats.cost / 4);
    return candidateOf(findingContext, {
      ...joined,
      context: { entity, members: joined.members, self: false, within: 0 },
      id: caller.id,
      parts: [...new Set(large.map(({ id }) => id))],
    });
  });
}

/** The caller of several pieces of serial code is one phase if they are at least this share of its work. */
const mostOfPhase = 2 / 3;
/** The least cost of a part, relative to the largest one, for which the phase consists of several parts. */
const leastPart = 1 / 3;

/** The innermost procedure that calls all of them, if they are most of its work; 0 for main and for start routines. */
function phaseCaller({ model, tables }: FindingContext, candidates: readonly Candidate[]): number {
  const paths = candidates.flatMap((one) => one.members.map((node) => pathOf(tables.stacks, node)));
  const caller = onAll(model, paths, new Set());
  const isOutermost = paths.some((path) => path.find((id) => isOwnProcedure(item(model.entities, id))) === caller);
  const cost = candidates.reduce((sum, one) => sum + one.stats.cost, 0);
  return caller === 0 || isOutermost || cost < mostOfPhase * item(model.entities, caller).nptNs ? 0 : caller;
}
const isOwnProcedure = (entity: Entity): boolean => entity.kind === 'procedure' && isOwn(entity);

/** Merges serial code of one thread below one procedure that does little else into one phase with parts. */
export function joinPhases(
  findingContext: FindingContext,
  contexts: Contexts,
  candidates: readonly Candidate[],
): Candidate[] {
  const left = [...candidates].sort((a, b) => b.stats.cost - a.stats.cost);
  const joined: Candidate[] = [];
  for (let first = left.shift(); first; first = left.shift()) {
    const its = [first];
    let caller = 0;
    const { thread, stats } = first;
    for (const other of left.filter((one) => one.thread === thread && one.stats.cost >= leastPart * stats.cost)) {
      const found = phaseCaller(findingContext, [...its, other]);
      if (found === 0) continue;
      its.push(other);
      left.splice(left.indexOf(other), 1);
      caller = found;
    }
    joined.push(caller === 0 ? first : phaseAt(findingContext, contexts, its, caller));
  }
  return joined;
}

function phaseAt(context: FindingContext, contexts: Contexts, its: Candidate[], entity: number): Candidate {
  const { model } = context;
  const joined = together(context, contexts, its);
  const id = shownId(model, entity);
  return candidateOf(context, {
    ...joined,
    context: { entity, members: joined.members, self: false, within: 0 },
    id,
    parts: largestPieces(
      its.filter((one) => one.id !== id),
      joined.stats.cost,
    ),
  });
}

/** The pieces with at least a quarter of the cost, at most two; none if together they have less than half. */
function largestPieces(its: readonly Candidate[], cost: number): number[] {
  const large = its.filter((one) => one.stats.cost >= cost / 4).slice(0, 2);
  const areMost = large.reduce((sum, one) => sum + one.stats.cost, 0) >= cost / 2;
  return areMost ? [...new Set(large.map((one) => one.id))] : [];
}

/** The largest pieces of all that a thread does, without procedures in which paths begin: they say nothing. */
export function piecesOfThread(context: FindingContext, its: readonly Candidate[]): number[] {
  const cost = its.reduce((sum, one) => sum + one.stats.cost, 0);
  const inner = its.filter((one) => !isOutermost(context, one.context.entity));
  return largestPieces(
    inner.sort((a, b) => b.stats.cost - a.stats.cost),
    cost,
  );
}

/** The callers in the context with most of the loss: up to three entities, outermost first. */
export function callersOf(findingContext: FindingContext, contexts: Contexts, { context }: Candidate): number[] {
  const { model, tables } = findingContext;
  let worst = 0;
  for (const node of context.members)
    if (f64(contexts.lostSelf, node) > (f64(contexts.lostSelf, worst) || 0)) worst = node;
  const path = pathOf(tables.stacks, worst);
  // what holds a lock or waits is on the path, too, but calls nothing
  const outside = path
    .slice(0, Math.max(0, path.indexOf(context.entity)))
    .filter((id) => !isLock(item(model.entities, id)));
  const own = outside.filter(
    (id) => item(model.entities, id).origin !== 'standard' && !isRuntime(item(model.entities, id)),
  );
  const { runsFor } = item(model.entities, context.entity); // its name includes that procedure
  const all = (own.length > 0 ? own : outside).filter((id) => id !== runsFor || runsFor === 0);
  // addresses are used only if there are no names
  const named = all.filter((id) => !isNameless(item(model.entities, id)));
  return (named.length > 0 ? named : all).slice(-3);
}

export const processorUse = (
  { processors }: Model,
  { costBusy, costSpinning }: ContextStats,
): Finding['processorUse'] => processorUseOf(processors, costBusy, costSpinning);

export const waitingAt = (waited: Waited | undefined): WaitingAt | null =>
  waited ? { entity: waited.object, threads: waited.mean } : null;

/** The children with at least a quarter of the cost, at most two; none if together they have less than half. */
export function largestParts(findingContext: FindingContext, { context }: Candidate): number[] {
  let known: number[] = [];
  const passed = new Set<number>();
  for (let entity = shownId(findingContext.model, context.entity); !passed.has(entity);) {
    passed.add(entity);
    const { whole, totals } = calleesOf(findingContext, context.members, entity);
    const parts = [...totals]
      .filter(([, npt]) => npt >= whole / 4)
      .sort((a, b) => b[1] - a[1])
      .slice(0, 2);
    if (parts.reduce((sum, [, npt]) => sum + npt, 0) < whole / 2) break;
    known = parts.map(([id]) => id);
    const [first] = parts;
    // Main, and what only leads on to one procedure, say little.
    if (first && isOutermost(findingContext, context.entity) && first[1] >= 0.9 * whole) entity = first[0];
  }
  return known;
}

/** Whether all stacks with the entity begin with it. */
export function isOutermost({ tables: { stacks } }: FindingContext, entity: number): boolean {
  for (let n = 1; n < stacks.count; n++) if (stacks.entity[n] === entity && stacks.parent[n] !== 0) return false;
  return true;
}

/** NPT of the nodes, and by procedure called in the entity (or group), on its own or while locks are held. */
function calleesOf(
  { model, tables }: FindingContext,
  members: readonly number[],
  entity: number,
): { whole: number; totals: Map<number, number> } {
  const { stacks, byStack, weights } = tables;
  const { tuples } = model.raw;
  const totals = new Map<number, number>();
  let whole = 0;
  const idOf = (node: number): number => shownId(model, u32(stacks.entity, node));
  for (const node of members) {
    let npt = 0;
    for (const k of rowsOfKey(byStack, node))
      if (u16(tuples.busy, k) > 0 && isBusy(u8(tuples.state, k))) npt += f64(weights, k) / u16(tuples.busy, k);
    if (npt === 0) continue;
    whole += npt;
    let callee = 0;
    for (let n = node; n !== 0 && idOf(n) !== entity; n = u32(stacks.parent, n)) {
      if (item(model.entities, idOf(n)).kind === 'procedure') callee = idOf(n);
      if (callee !== 0 && idOf(u32(stacks.parent, n)) === entity) totals.set(callee, (totals.get(callee) ?? 0) + npt);
    }
  }
  return { whole, totals };
}
