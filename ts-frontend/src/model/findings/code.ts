/**
 * Findings about code that runs while processors are idle: serial code, uneven division of work, pipelines, too few
 * threads. Which one it is follows from the threads that ran it and from what the others waited for
 * (docs/reference/findings.md, "Code"). Pure functions.
 */
import { defined, item } from '../profile/columns.js';
import { wakeNs } from '../metrics/cpu-wait.js';
import type { Context, Contexts, ThreadTimes } from '../evidence/code/loss-contexts.js';
import { similarity, statsOf } from '../evidence/code/loss-contexts.js';
import { concentrate } from '../evidence/code/concentration.js';
import { successionsByStart, type Succession } from '../evidence/threads/alive-at-once.js';
import { mainThread } from '../evidence/threads/critical-threads.js';
import { roundTripsOf, type RoundTrips } from '../evidence/threads/round-trips.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, largerPieces, leastObservations, leastSerial, leastShare, shownId } from '../evidence/context.js';
import { isLock, isRegionEnd, isTeamRest } from '../evidence/wait-kinds.js';
import type { Entity, Finding, Model } from '../result/types.js';
import {
  type Candidate,
  type Waited,
  candidateOf,
  isBeside,
  joinCalls,
  joinPhases,
  loneOf,
  phaseOf,
  piecesOfThread,
  processorUse,
  together,
} from './candidate.js';
import { divided } from './division.js';
import { goroutineLock } from './goroutines.js';
import { handsOver } from './openmp.js';
import { areSides, isStream, onlyWorker, pipelinesOf, roundTrip, stream } from './pipeline.js';
import { joinSerial, type SerialPiece } from './all-serial.js';
import { serial } from './serial.js';
import { SerialParts } from './serial-parts.js';

/** Contexts of one entity, or of entities of one name, that the same threads run; they have no stack in common. */
interface Alike {
  id: number;
  context: Context;
  members: number[];
}

function alikeOf({ model, tables }: FindingContext, contexts: Contexts, found: readonly Context[]): Alike[] {
  const alike: Alike[] = [];
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
  return alike;
}

/** Candidates by type of problem. */
interface Sorted {
  unfed: Candidate[];
  streams: Candidate[];
  alone: Candidate[];
  inTurn: Map<Succession, Candidate[]>; // of threads that live one after the other
  shared: Map<number, Candidate[]>; // by the object waited for: one cause, however many procedures are involved
}

/** The others have had their shares of a parallel region, and wait for its end, or for the next one. */
function isOfRegion({ model }: FindingContext, parts: SerialParts, candidate: Candidate, { object }: Waited): boolean {
  const waitedFor = item(model.entities, object);
  if (!isTeamRest(waitedFor)) return isRegionEnd(waitedFor);
  const isWithin = parts.sharesRegion(candidate);
  return candidate.members.every(isWithin);
}

/**
 * Joins waits for the end of a region and for the next one: in both cases threads wait for others' shares of one
 * region.
 */
function joinRegions({ model }: FindingContext, shared: Sorted['shared']): void {
  const entityOf = (object: number): Entity => item(model.entities, object);
  const ends = [...shared.keys()].filter((object) => isRegionEnd(entityOf(object)));
  const costOf = (object: number): number => defined(shared.get(object)).reduce((sum, one) => sum + one.stats.cost, 0);
  const [end] = ends.sort((a, b) => costOf(b) - costOf(a));
  if (end === undefined) return;
  for (const [object, candidates] of [...shared]) {
    if (!isTeamRest(entityOf(object))) continue;
    shared.set(end, [...defined(shared.get(end)), ...candidates]);
    shared.delete(object);
  }
}

/** What divides candidates: the serial parts of their code, and threads that live one after the other. */
interface Divisions {
  parts: SerialParts;
  successions: ReadonlyMap<number, Succession>;
}

function sortInto(
  sorted: Sorted,
  findingContext: FindingContext,
  contexts: Contexts,
  { parts, successions }: Divisions,
  candidate: Candidate,
): void {
  const inTurn = inTurnOf(candidate, successions);
  const { waited, alone, threads } = candidate;
  const lone = threads >= 2 ? loneOf(findingContext, contexts, candidate) : undefined;
  const isShare =
    threads >= 2 ||
    (alone && waited !== undefined && (isBeside(candidate) || isOfRegion(findingContext, parts, candidate, waited)));
  if (isUnfed(findingContext, candidate)) sorted.unfed.push(candidate);
  else if (inTurn) sorted.inTurn.set(inTurn, [...(sorted.inTurn.get(inTurn) ?? []), candidate]);
  else if (isStream(findingContext, candidate)) sorted.streams.push(candidate);
  else {
    const { alone: serials, shared } = parts.divide(lone ?? candidate);
    sorted.alone.push(...serials);
    const object = shared?.waited?.object ?? 0;
    if (shared && isShare && !lone) sorted.shared.set(object, [...(sorted.shared.get(object) ?? []), shared]);
    else if (shared) sorted.alone.push(shared);
  }
}

export function codeFindings(findingContext: FindingContext, contexts: Contexts): Finding[] {
  const { model, tables } = findingContext;
  const smallest = (Math.max(leastSerial * leastShare, leastObservations / model.samples) * model.elapsedNs) / 2;
  const isHandedOver = handsOver(findingContext);
  const taken = new Uint8Array(tables.stacks.count);
  const divisions = { parts: new SerialParts(findingContext, contexts), successions: successionsByStart(model) };
  const sorted: Sorted = { unfed: [], streams: [], alone: [], inTurn: new Map(), shared: new Map() };
  for (const { id, context, members } of alikeOf(
    findingContext,
    contexts,
    concentrate(model.raw, tables, contexts, smallest),
  )) {
    const stats = statsOf(model.raw, contexts, tables.weights, members);
    if (stats.lost < smallest) continue;
    for (const node of members) taken[node] = 1;
    if (!isCode(item(model.entities, id)) || isHandedOver(members)) continue;
    const candidate = candidateOf(findingContext, { id, context, members, stats, parts: [] });
    sortInto(sorted, findingContext, contexts, divisions, candidate);
  }
  return reportedOf(sorted, findingContext, contexts, taken);
}

/**
 * Main did not get its work from other threads: if nearly all work is its own, its parts are serial code, though others
 * wait for it now and then (a run-time's helpers). Of another thread, all work is reported together.
 */
function withoutStreamsOfMain(sorted: Sorted, { model }: FindingContext, worker: number): Sorted {
  if (worker === 0 || mainThread(model)?.id !== worker) return sorted;
  const isMains = ({ stats: { threads, time } }: Candidate): boolean =>
    threads.ids.some((thread, k) => thread === worker && item(threads.time, k) > time / 2);
  return {
    ...sorted,
    streams: sorted.streams.filter((one) => !isMains(one)),
    alone: [...sorted.alone, ...sorted.streams.filter(isMains)],
  };
}

/** `taken`: the stacks of all candidates. */
function reportedOf(sorted: Sorted, context: FindingContext, contexts: Contexts, taken: Uint8Array): Finding[] {
  const reported: Finding[] = [];
  const staged = new Set<number>();
  const only = onlyWorker(context, [...sorted.streams, ...sorted.alone]);
  const { unfed, streams, alone, shared } = withoutStreamsOfMain(sorted, context, only);
  const worker = item(context.model.entities, only).thread?.creator === 0 ? 0 : only; // nor may it be main
  const its = [...streams, ...alone].filter((one) => worker !== 0 && one.thread === worker);
  if (its.length > 0) {
    const calls = its.length > 1 ? piecesOfThread(context, its) : [];
    reported.push(serial(context, contexts, phaseOf(context, contexts, its, worker), { worker, calls }));
  } else
    for (const pipeline of pipelinesOf(context, streams)) {
      const stages = new Set<number>();
      reported.push(stream(context, contexts, pipeline, stages));
      for (const thread of stages) staged.add(thread);
    }
  /** Code of a pipeline's stages at times without waiters belongs to the same pipeline. */
  const isStaged = ({ stats }: Candidate): boolean => stats.threads.ids.every((thread) => staged.has(thread));
  joinRegions(context, shared);
  for (const [succession, candidates] of sorted.inTurn)
    reported.push(serial(context, contexts, ofThreads(context, contexts, succession, candidates), { succession }));
  if (unfed.length > 0) reported.push(smallThreads(context, together(context, contexts, unfed)));
  for (const candidates of shared.values()) {
    const others = candidates.filter((one) => !isStaged(one));
    if (others.length > 0) reported.push(divided(context, contexts, phaseOf(context, contexts, others)));
  }
  const trips = its.length > 0 || staged.size > 0 ? null : roundTripsOf(context);
  const inTrips = trips ? alone.filter((one) => isOfTrips(trips, one)) : [];
  if (trips && inTrips.length > 0) reported.push(roundTrip(context, together(context, contexts, inTrips), trips));
  const serials = alone.filter((one) => !its.includes(one) && !inTrips.includes(one) && !(one.waited && isStaged(one)));
  const pieces: SerialPiece[] = [];
  for (const candidate of joinPhases(context, contexts, joinCalls(context, contexts, serials))) {
    const { parts: calls, threads, alone: isAlone, thread } = candidate;
    const lock = goroutineLock(context, candidate);
    if (lock) reported.push(lock);
    else {
      const finding = serial(context, contexts, candidate, { calls, oneAtATime: threads >= 2 });
      pieces.push({ finding, candidate, thread: isAlone ? thread : 0 });
    }
  }
  return [...reported, ...joinSerial(context, contexts, pieces, taken)];
}

/** Whether one of the two sides runs it while the other one waits. */
const isOfTrips = (trips: RoundTrips, { stats, waited, data }: Candidate): boolean =>
  areSides(trips, stats.threads.ids) &&
  [...(waited ? [waited] : []), ...data].some(({ object }) => trips.objects.includes(object));

/** The share of the time that must be that of threads which live one after the other, and that others are beside. */
const leastInTurn = 0.5,
  mostBeside = 0.5;

/**
 * The succession of threads that ran it, if mostly nothing else ran: then nobody waits for its results piece by piece,
 * as for those of a pipeline's stages, whatever idle threads wait for.
 */
function inTurnOf({ stats }: Candidate, successions: ReadonlyMap<number, Succession>): Succession | undefined {
  const { ids, time } = stats.threads;
  const most = successions.get(ids[time.indexOf(Math.max(...time))] ?? 0);
  const theirs = ids.reduce((sum, id, k) => sum + (most?.threads.includes(id) ? item(time, k) : 0), 0);
  return theirs >= leastInTurn * stats.time && stats.nptBeside <= mostBeside * stats.npt ? most : undefined;
}

/** What these threads ran, under their name: they begin in the same procedure. */
function ofThreads(
  context: FindingContext,
  contexts: Contexts,
  { threads }: Succession,
  candidates: Candidate[],
): Candidate {
  const joined = together(context, contexts, candidates),
    id = shownId(context.model, item(threads, 0));
  const its = { entity: id, members: joined.members, self: false, within: 0 };
  return candidateOf(context, { ...joined, context: its, id, parts: [] });
}

/** Excludes the state of a thread that has been woken but has no CPU yet. */
const isCode = (entity: Entity): boolean => entity.kind === 'procedure' || entity.kind === 'thread' || isLock(entity);

const workForEach = (model: Model): number => model.balance.usefulNs / Math.max(1, model.head.spawns);

/** Threads are ready while processors are idle: the pieces of parallel work are too small to be handed over. */
function isUnfed({ model }: FindingContext, { stats }: Candidate): boolean {
  const idle = model.processors - stats.costBusy - stats.costSpinning;
  return idle > 0 && stats.costReady >= idle / 2 && model.head.spawns > 0 && workForEach(model) < wakeNs;
}

function smallThreads({ model }: FindingContext, { id, stats }: Candidate): Finding {
  return findingOf(model, {
    entity: id,
    kind: 'overhead',
    change: 'coarsen',
    advice: largerPieces,
    costNs: stats.cost,
    savingNs: stats.lost,
    processorUse: processorUse(model, stats),
    facts: {
      form: 'small-threads',
      spawns: model.head.spawns,
      workNs: workForEach(model),
      ready: stats.costReady,
      savesNs: stats.lost,
    },
  });
}
