/**
 * Findings about threads that pass data to each other: pipelines, and threads that wait for each other's results
 * (docs/reference/findings.md, "Code"). Pure functions.
 */
import { defined, item } from '../profile/columns.js';
import type { Contexts } from '../evidence/code/loss-contexts.js';
import { isBeside, phaseOf, processorUse, together, type Candidate } from './candidate.js';
import { divided } from './division.js';
import { serial } from './serial.js';
import { nothingRunsFindings } from './nothing-runs.js';
import { aliveAtOnce } from '../evidence/threads/alive-at-once.js';
import { mainThread } from '../evidence/threads/critical-threads.js';
import { awaitedResults } from '../evidence/threads/awaited-results.js';
import { withoutWaiting } from '../evidence/waits/own-work.js';
import { roundTripsOf, type RoundTrips } from '../evidence/threads/round-trips.js';
import { takeFromPool } from '../evidence/threads/pools.js';
import { isUnexplained, passesData, passesOn } from '../evidence/wait-kinds.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, noAdvice, shownId } from '../evidence/context.js';
import { lossOf } from '../evidence/locks/lock-loss.js';
import type { PassedDataFacts } from '../result/facts.js';
import type { Entity, Finding, Model } from '../result/types.js';

/** Whether threads have waited for the object repeatedly. */
const isRepeated = (entity: Entity): boolean => passesOn(entity) || (entity.object?.contended ?? 0) >= 10;

/**
 * Whether threads pass data through a loop, as through a queue without locks. It is not known what a loop waits for,
 * nor how often. But if a thread works beside threads with another role, and these wait in the loop from time to time,
 * it passes something to them; at a barrier, in contrast, threads of the same role wait for each other.
 */
function isHandover({ roles }: FindingContext, candidate: Candidate, object: Entity): boolean {
  if (object.rawKind !== 'loop' || !isUnexplained(object) || !isBeside(candidate)) return false;
  const { ids, time } = candidate.stats.threads;
  const workers = ids.filter((_, k) => item(time, k) >= 0.02 * candidate.stats.time);
  const waiters = object.object?.waiters ?? [];
  return (
    waiters.length > 0 &&
    waiters.every(({ thread }) => thread !== 0 && !workers.some((worker) => roles.runTheSame(worker, thread)))
  );
}

/**
 * A thread that is at work for this share of its life waits for no other thread; in a pipeline, it is the slowest
 * stage.
 */
const alwaysAtWork = 0.75;

/**
 * Whether other threads wait for the candidate's results repeatedly (not only for one signal to start), and it is no
 * serial part of the program: several threads ran it, or others were at work beside it, or its thread does nothing else
 * and waits for no other thread.
 */
export function isStream(context: FindingContext, candidate: Candidate): boolean {
  const { model } = context;
  const { waited, threads, thread } = candidate;
  const object = waited ? item(model.entities, waited.object) : undefined;
  if (object && isHandover(context, candidate, object)) return true;
  if (!object || !passesData(object) || !isRepeated(object)) return false;
  const { thread: life, processorTimeNs } = item(model.entities, thread);
  return (
    threads >= 2 ||
    isBeside(candidate) ||
    (life !== null && thread !== 0 && processorTimeNs >= alwaysAtWork * (life.lastNs - life.firstNs))
  );
}

/** The objects that threads of a stream wait for, the number of stages, and the slowest stages. */
interface Stages {
  objects: number[];
  shown: number[]; // the objects, with groups in place of their members
  count: number;
  first: Stage | undefined;
  second: Stage | undefined; // the slowest stage and the second slowest one
  workNs: number; // work of all stages
}
/**
 * The threads of one role, as slow as the slowest of them. If they live one after the other (a thread for each job),
 * each has a part of the stage's work; then the time is that of all of them, divided by the maximum number alive at the
 * same time.
 */
interface Stage {
  thread: Entity; // the slowest one
  threads: number[];
  timeNs: number;
}

/**
 * Roles, with those joined whose threads begin in the same procedure and may take pieces of work from one queue: the
 * pieces are not alike, and what each of them ran says nothing of what it could have run. One that may take from
 * several queues, because it never waits, is of neither.
 */
function withTakersJoined({ model, roles }: FindingContext, divided: readonly number[][]): number[][] {
  const main = mainThread(model)?.id;
  const startOf = (thread: number): number => (thread === main ? 0 : item(model.entities, thread).address);
  const mayJoin = (one: number, other: number): boolean =>
    startOf(one) !== 0 && startOf(one) === startOf(other) && roles.mayTakeTheSame(one, other);
  const joined: number[][] = [];
  for (const threads of divided) {
    const isTheirs = (one: number): boolean => threads.every((other) => mayJoin(one, other));
    const [its, ...others] = joined.filter((role) => role.some(isTheirs));
    if (its?.every(isTheirs) && others.length === 0) its.push(...threads);
    else joined.push([...threads]);
  }
  return joined;
}

/** Adds to `involved` the threads that run the streams, and those that wait for them. */
function stagesOf(context: FindingContext, streams: readonly Candidate[], involved: Set<number>): Stages {
  const { model, roles } = context;
  const waited = streams.flatMap((one) => (one.waited ? [one.waited] : [])).concat(streams.flatMap((one) => one.data));
  const objects = [...new Set(waited.map(({ object }) => object))];
  for (const one of streams) for (const thread of one.stats.threads.ids) if (thread !== 0) involved.add(thread);
  for (const object of objects)
    for (const { thread } of defined(item(model.entities, object).object).waiters)
      if (thread !== 0) involved.add(thread);
  let workNs = 0;
  const stages = withTakersJoined(context, roles.divide(involved)).map((threads) => {
    const all = threads.map((id): Pick<Stage, 'thread' | 'timeNs'> => {
      const thread = item(model.entities, id);
      workNs += thread.processorTimeNs;
      return { thread, timeNs: thread.processorTimeNs / Math.max(1, thread.instances) };
    });
    const slowest = all.reduce((most, one) => (one.timeNs > most.timeNs ? one : most));
    const together = threads.reduce((sum, id) => sum + item(model.entities, id).processorTimeNs, 0);
    return {
      ...slowest,
      threads,
      timeNs: Math.max(slowest.timeNs, together / Math.max(1, aliveAtOnce(model, threads))),
    };
  });
  const [first, second] = stages.sort((a, b) => b.timeNs - a.timeNs);
  const shown = [...new Set(objects.map((object) => shownId(model, object)))];
  return { objects, shown, count: stages.length, first, second, workNs };
}

/** If one thread has this share of all work, the others are not considered stages. */
const nearlyAll = 0.9;

/** The only thread that has work, while others pass something to it or wait for what it passes on; 0: there is none. */
export function onlyWorker(context: FindingContext, candidates: readonly Candidate[]): number {
  const { entities } = context.model;
  const beside = candidates.filter(
    ({ data, waited }) => data.length > 0 || (waited && passesData(item(entities, waited.object))),
  );
  const { first } = stagesOf(context, beside, new Set());
  if (!first || first.thread.instances > 1) return 0;
  return context.roles.workShare(first.thread.id, context.background.threads) >= nearlyAll ? first.thread.id : 0;
}

/**
 * Groups streams into pipelines: streams with a common object, or a common thread that runs or waits, are one pipeline;
 * streams of another phase of the program, for example, are another one.
 */
export function pipelinesOf({ model }: FindingContext, streams: readonly Candidate[]): Candidate[][] {
  const pipelines: { streams: Candidate[]; of: Set<number> }[] = [];
  for (const one of streams) {
    const objects = [...(one.waited ? [one.waited] : []), ...one.data].map(({ object }) => object);
    const waiters = objects.flatMap((id) => defined(item(model.entities, id).object).waiters);
    const of = new Set([...objects, ...one.stats.threads.ids, ...waiters.map(({ thread }) => thread)]);
    of.delete(0); // unknown threads
    const its = pipelines.filter((pipeline) => [...of].some((id) => pipeline.of.has(id)));
    for (const pipeline of its) pipelines.splice(pipelines.indexOf(pipeline), 1);
    pipelines.push({
      streams: [...its.flatMap((pipeline) => pipeline.streams), one],
      of: new Set([...its.flatMap((pipeline) => [...pipeline.of]), ...of]),
    });
  }
  return pipelines.map((pipeline) => pipeline.streams);
}

/**
 * The finding about threads that pass data on: either one stage is slower than the others, or all of them wait for each
 * other.
 */
export function stream(
  context: FindingContext,
  contexts: Contexts,
  streams: Candidate[],
  involved: Set<number>,
): Finding {
  const { model } = context;
  streams.sort((a, b) => b.stats.cost - a.stats.cost);
  const stages = stagesOf(context, streams, involved);
  const { first, second } = stages;
  const related = [...stages.objects, ...streams.map((one) => one.id)];
  const all = together(context, contexts, streams);
  if (isPool(context, all, stages)) return ofPool(context, contexts, all, phaseOf(context, contexts, streams));
  const awaited = first && second ? awaitedOf(context, all, stages, first) : null;
  if (awaited !== null) return passedData(context, all, stages, related, awaited);
  const trips = roundTripsOf(context);
  if (trips && areSides(trips, [...involved])) return roundTrip(context, all, trips);
  if (first && second && first.timeNs >= 1.25 * second.timeNs && isDivisible(model, first)) {
    const own = streams.find((one) => one.thread === first.thread.id);
    const mine = ofStage(model, own ?? item(streams, 0), first, own !== undefined);
    return slowestStage(model, mine, stages, first, second, [
      ...related,
      first.thread.id,
      second.thread.id,
      ...involved,
    ]);
  }
  return stages.count >= 2
    ? passedData(context, all, stages, related, null)
    : mutualWait(context, all, stages, related);
}

/** Whether these threads are of the two sides, and both are among them. */
export const areSides = ({ sides }: RoundTrips, threads: readonly number[]): boolean =>
  threads.length > 0 && threads.every((id) => sides.some((side) => side.threads.includes(id)));

/**
 * The finding about two sides that wait for each other in turn. If one worked on the next piece while the other works
 * on this one, the one with less work, which is on the path now, would no longer be.
 */
export function roundTrip({ model }: FindingContext, all: Candidate, { sides, objects }: RoundTrips): Finding {
  const [more, less] = sides;
  const shown = [...new Set(objects.map((object) => shownId(model, object)))];
  const costNs = Math.min(model.elapsedNs, more.onPathNs + less.onPathNs);
  const leastNs = Math.max(more.workNs, (more.allNs + less.allNs) / model.processors);
  const part = Math.min(more.worksNs, less.worksNs) / (more.worksNs + less.worksNs);
  const savingNs = Math.min(part * costNs, Math.max(0, model.elapsedNs - leastNs));
  return findingOf(model, {
    entity: item(shown, 0),
    kind: 'dependency',
    change: 'wait-less',
    costNs,
    savingNs,
    processorUse: processorUse(model, all.stats),
    facts: {
      form: 'mutual-wait',
      objects: shown,
      sides: sides.map(({ threads, worksNs }) => ({ thread: shownId(model, item(threads, 0)), worksNs })),
      code: all.id,
      savesNs: savingNs,
    },
    related: [...objects, ...sides.flatMap(({ threads }) => threads), all.id],
  });
}

/** Threads with less than this share of the workers' time only hand the work out, and wait for its end. */
const handsOut = 0.05;

/** Whether several threads of one role have all work, and wait for more of it, not for each other. */
function isPool(context: FindingContext, { members }: Candidate, { objects, first, second }: Stages): boolean {
  if (!first || (second && second.timeNs >= handsOut * first.timeNs)) return false;
  const { model } = context;
  const count = first.threads.reduce((sum, id) => sum + Math.max(1, item(model.entities, id).instances), 0);
  return count >= 2 && takeFromPool(context, members, new Set(first.threads), new Set(objects));
}

/** The maximum share of its time for which a chain's pieces may be beside other work. */
const seldom = 0.3;

/**
 * The division of a pool's work; or serial code, if several threads ran it, but seldom two at a time, while the others
 * found no work (each piece needs the one before), or if one thread ran it, and other programs may be why the division
 * of all work seems uneven.
 */
function ofPool(context: FindingContext, contexts: Contexts, all: Candidate, phase: Candidate): Finding {
  const { threads, stats } = phase;
  if (threads >= 2 && stats.nptBeside < seldom * stats.npt)
    return serial(context, contexts, phase, { oneAtATime: true });
  const division = divided(context, contexts, phase);
  return all.threads < 2 && division.savingNs < context.least ? serial(context, contexts, all) : division;
}

/** A stage that has a thread for each processor gains nothing by more of them: its code limits, or how it gets work. */
const isDivisible = (model: Model, { threads }: Stage): boolean => aliveAtOnce(model, threads) < model.processors;

/**
 * The stage under the name of the procedure in which its thread begins, if its own is not known, or is that of main,
 * whose path leads to all threads that it creates.
 */
function ofStage(model: Model, mine: Candidate, { thread }: Stage, isOwn: boolean): Candidate {
  const main = mainThread(model),
    { address } = item(model.entities, mine.context.entity);
  if (main?.id === thread.id || thread.address === 0 || (isOwn && address !== main?.address)) return mine;
  const start = model.entities.find((one) => one.kind === 'procedure' && one.address === thread.address);
  return { ...mine, id: start ? shownId(model, start.id) : thread.id };
}

function slowestStage(
  model: Model,
  mine: Candidate,
  { shown, workNs }: Stages,
  first: Stage,
  second: Stage,
  related: number[],
): Finding {
  const others = Math.max(second.timeNs, workNs / model.processors);
  const savingNs = Math.min(model.root.parallelizeNs, mine.stats.cost, Math.max(0, first.timeNs - others));
  // Without its work the next stage limits the pipeline, or the processors that all other work needs.
  const rest = Math.max(second.timeNs, (model.root.processorTimeNs - first.timeNs) / model.processors);
  return findingOf(model, {
    entity: mine.id,
    kind: 'pipeline',
    change: 'balance',
    advice: { pieces: null, threads: savingNs > 0 ? 'more' : null },
    costNs: mine.stats.cost,
    savingNs,
    processorUse: processorUse(model, mine.stats),
    facts: {
      form: 'slowest-stage',
      code: mine.id,
      stage: { thread: first.thread.id, workNs: first.timeNs },
      next: { thread: second.thread.id, workNs: second.timeNs },
      objects: shown,
      savesNs: savingNs,
      fasterNs: Math.max(savingNs, Math.min(first.timeNs, model.elapsedNs) - rest),
    },
    related,
  });
}

/** If one thread that does all of the work saves this share of what is saved at most, waking takes the time. */
const mostlyWaking = 0.8;

/**
 * Not if the slowest stage has work all the time: then it limits the others, whoever waits for its results. Nor if all
 * threads wait while nothing runs: then there may be work, but nobody wakes who would do it. Nor if results are late
 * because threads have to be woken, for pieces so small that a single thread would do all of them sooner.
 */
function awaitedOf(
  context: FindingContext,
  { members }: Candidate,
  { workNs }: Stages,
  { threads, timeNs }: Stage,
): PassedDataFacts['awaited'] {
  const { aloneNs, idealNs } = withoutWaiting(context);
  const isLimited = timeNs > workNs / context.model.processors || aloneNs >= mostlyWaking * idealNs;
  const awaited = isLimited ? null : awaitedResults(context, members, new Set(threads));
  return awaited !== null && nothingRunsFindings(context).length === 0 ? awaited : null;
}

/**
 * `all`: all streams merged, with the name of the most expensive one. If results are awaited, nothing is known to
 * remain but the work.
 */
function passedData(
  context: FindingContext,
  { id, stats }: Candidate,
  { shown, first, workNs }: Stages,
  related: number[],
  awaited: PassedDataFacts['awaited'],
): Finding {
  const { model } = context;
  const leastNs = Math.max(first?.timeNs ?? 0, workNs / model.processors);
  const earlierNs = Math.min(stats.lost, Math.max(0, stats.npt - leastNs));
  const savingNs = awaited === null ? earlierNs : Math.max(earlierNs, withoutWaiting(context).idealNs);
  return findingOf(model, {
    entity: id,
    kind: 'starvation',
    change: 'finer-grain',
    advice: awaited === null ? { pieces: 'smaller', threads: null } : noAdvice,
    costNs: Math.max(stats.cost, savingNs),
    savingNs,
    processorUse: processorUse(model, stats),
    facts: { form: 'passed-data', objects: shown, code: id, awaited, savesNs: savingNs },
    related: awaited === null ? related : [...related, awaited.thread, awaited.object],
  });
}

function mutualWait(
  { model, levels }: FindingContext,
  { stats }: Candidate,
  { objects, shown }: Stages,
  related: number[],
): Finding {
  const object = item(objects, 0);
  const waits = levels.waits.get(object); // none, if only threads at rest were seen to wait for it
  const saved = waits ? lossOf(levels, item(model.entities, object), waits) : null;
  const savingNs = saved ? Math.min(stats.lost, saved.blockedSaving + saved.spinSaving) : 0;
  return findingOf(model, {
    entity: shownId(model, object),
    kind: 'dependency',
    change: 'wait-less',
    costNs: stats.cost,
    savingNs,
    processorUse: processorUse(model, stats),
    facts: { form: 'mutual-wait', objects: shown, sides: [], code: 0, savesNs: savingNs },
    related,
  });
}
