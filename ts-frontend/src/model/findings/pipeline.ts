/**
 * Limits by threads that pass data on to each other: pipelines, and threads that wait for each other's results
 * (docs/reference/findings.md, "Code"). Pure.
 */
import { defined, item } from '../profile/columns.js';
import type { Contexts } from '../evidence/loss-contexts.js';
import type { Candidate } from './code.js';
import { isBeside, meanwhile, together } from './code.js';
import { isBarrier, isLock, isUnexplained, passesOn } from '../evidence/wait-kinds.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, shownId } from '../evidence/context.js';
import { lossOf } from '../evidence/lock-loss.js';
import type { Entity, Finding, Model } from '../result/types.js';

const dataKinds: ReadonlySet<string> = new Set(['channel', 'condition', 'semaphore', 'futex']);
/** Data may go through it from thread to thread. */
export const passesData = (entity: Entity): boolean =>
  dataKinds.has(entity.rawKind) && !isLock(entity) && !isBarrier(entity);
/** Threads have waited for it again and again. */
const isRepeated = (entity: Entity): boolean => passesOn(entity) || (entity.object?.contended ?? 0) >= 10;

/**
 * What a loop waits for is not known, nor how often it waited. But where a thread works beside others that do something
 * else, and these wait in a loop for it now and then, it hands them something, as through a queue without locks; at a
 * barrier threads that do the same wait for each other.
 */
function isHandover(model: Model, candidate: Candidate, object: Entity): boolean {
  if (object.rawKind !== 'loop' || !isUnexplained(object) || !isBeside(candidate)) return false;
  const { ids, time } = candidate.stats.threads;
  const names = new Set(
    ids.filter((_, k) => item(time, k) >= 0.02 * candidate.stats.time).map((id) => item(model.entities, id).name),
  );
  const waiters = object.object?.waiters ?? [];
  return (
    waiters.length > 0 && waiters.every(({ thread }) => thread !== 0 && !names.has(item(model.entities, thread).name))
  );
}

/** A thread that is at work during so much of its life waits for nobody: of a pipeline, it is the slowest stage. */
const alwaysAtWork = 0.75;

/**
 * Others wait for its results, again and again (rather than for one signal to start); and it is no serial part of the
 * program: several threads ran it, or others were at work beside it, or its thread does nothing else and waits for
 * nobody.
 */
export function isStream(model: Model, candidate: Candidate): boolean {
  const { waited, threads, thread } = candidate;
  const object = waited ? item(model.entities, waited.object) : undefined;
  if (object && isHandover(model, candidate, object)) return true;
  if (!object || !passesData(object) || !isRepeated(object)) return false;
  const { thread: life, processorTimeNs } = item(model.entities, thread);
  return (
    threads >= 2 ||
    isBeside(candidate) ||
    (life !== null && thread !== 0 && processorTimeNs >= alwaysAtWork * (life.lastNs - life.firstNs))
  );
}

/** Threads that pass data on: one stage is slower than the others, or all of them wait for each other. */
export function stream(
  context: FindingContext,
  contexts: Contexts,
  streams: Candidate[],
  involved: Set<number>,
): Finding {
  const { model, levels } = context;
  const P = model.processors;
  streams.sort((a, b) => b.stats.cost - a.stats.cost);
  const objects = [
    ...new Set([
      ...streams.map((one) => defined(one.waited).object),
      ...streams.flatMap((one) => one.data.map((waited) => waited.object)),
    ]),
  ];
  for (const one of streams) for (const thread of one.stats.threads.ids) if (thread !== 0) involved.add(thread);
  for (const object of objects)
    for (const { thread } of defined(item(model.entities, object).object).waiters)
      if (thread !== 0) involved.add(thread);
  // A stage is the threads of one name; it is as slow as the slowest of them.
  const stages = new Map<string, { thread: Entity; time: number }>();
  let work = 0;
  for (const id of involved) {
    const thread = item(model.entities, id);
    const time = thread.processorTimeNs / Math.max(1, thread.instances);
    work += thread.processorTimeNs;
    const known = stages.get(thread.name);
    if (!known || known.time < time) stages.set(thread.name, { thread, time });
  }
  const [first, second] = [...stages.values()].sort((a, b) => b.time - a.time);
  const total = together(context, contexts, streams);
  const related = [...objects, ...streams.map((one) => one.id)];

  const shown = [...new Set(objects.map((object) => shownId(model, object)))];

  if (first && second && first.time >= 1.25 * second.time) {
    const mine = streams.find((one) => one.thread === first.thread.id) ?? item(streams, 0);
    const savingNs = Math.min(model.root.parallelizeNs, Math.max(0, first.time - Math.max(second.time, work / P)));
    return findingOf(model, {
      entity: mine.id,
      kind: 'pipeline',
      change: 'balance',
      advice: { pieces: null, threads: 'more' },
      costNs: mine.stats.cost,
      savingNs,
      meanwhile: meanwhile(model, mine.stats),
      facts: {
        form: 'slowest-stage',
        code: mine.id,
        stage: { thread: first.thread.id, workNs: first.time },
        next: { thread: second.thread.id, workNs: second.time },
        objects: shown,
        savesNs: savingNs,
      },
      related: [...related, first.thread.id, second.thread.id, ...involved],
    });
  }
  const { stats } = total;
  if (stages.size >= 2) {
    const savingNs = Math.min(stats.lost, Math.max(0, stats.npt - Math.max(first?.time ?? 0, work / P)));
    const code = item(streams, 0).id;
    return findingOf(model, {
      entity: code,
      kind: 'starvation',
      change: 'finer-grain',
      advice: { pieces: 'smaller', threads: null },
      costNs: stats.cost,
      savingNs,
      meanwhile: meanwhile(model, stats),
      facts: { form: 'passed-data', objects: shown, code, savesNs: savingNs },
      related,
    });
  }
  const object = item(objects, 0);
  const saved = lossOf(levels, item(model.entities, object), defined(levels.waits.get(object)));
  const savingNs = Math.min(stats.lost, saved.blockedSaving + saved.spinSaving);
  return findingOf(model, {
    entity: shownId(model, object),
    kind: 'dependency',
    change: 'wait-less',
    costNs: stats.cost,
    savingNs,
    meanwhile: meanwhile(model, stats),
    facts: { form: 'mutual-wait', objects: shown, savesNs: savingNs },
    related,
  });
}
