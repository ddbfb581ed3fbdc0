/** Whether threads live at the same time or one after the other. Pure functions. */
import { item } from '../../profile/columns.js';
import { ofThreads } from '../../metrics/housekeeping.js';
import { mainThread } from './critical-threads.js';
import { shownId } from '../context.js';
import type { ContextStats } from '../code/loss-contexts.js';
import { isFor } from '../purposes.js';
import type { Model } from '../../result/types.js';

/**
 * The maximum number of the threads that were alive at the same time, if each had ended when this part of its life was
 * left.
 */
export function aliveAtOnce(model: Model, threads: readonly number[], left = 0): number {
  const ends: { at: number; by: number }[] = [];
  for (const id of threads) {
    const { thread, instances } = item(model.entities, id);
    const by = Math.max(1, instances);
    const first = thread?.firstNs ?? 0,
      last = thread?.lastNs ?? Infinity;
    ends.push({ at: first, by }, { at: Math.max(first + 1, last - left * (last - first)), by: -by });
  }
  ends.sort((a, b) => a.at - b.at || a.by - b.by);
  let alive = 0,
    most = 0;
  for (const { by } of ends) most = Math.max(most, (alive += by));
  return most;
}

/** The least number of consecutive threads that is not considered coincidence, and theirs of the time. */
const leastSuccession = 3,
  leastOfSuccession = 0.5;
/** Two such threads must have this share of it. */
const leastOfTwo = 0.75;
/** Threads with less than this share of the time of the one with most hardly take part. */
const hardlyAny = 0.1;

/** A thread may begin while the one before is about to end: it has this part of its life left at most. */
const aboutToEnd = 0.1;

/** Threads of which each began after the one before had ended; a thread that stands for several counts as these. */
export interface Succession {
  threads: number[];
  count: number;
}

/**
 * The threads other than main and a run-time's own that used most of the time, if each began after the previous one had
 * ended; null otherwise.
 */
export function successionOf(model: Model, { threads }: ContextStats): Succession | null {
  const main = mainThread(model)?.id;
  const { ids, time } = threads;
  const isOther = (id: number): boolean => id !== main && !isFor(item(model.entities, id), ofThreads);
  const most = Math.max(...time.filter((_, k) => isOther(item(ids, k))));
  const others = ids.filter((id, k) => isOther(id) && item(time, k) >= hardlyAny * most);
  const timeOf = (those: (id: number) => boolean): number =>
    ids.reduce((sum, id, k) => sum + (those(id) ? item(time, k) : 0), 0);
  const theirs = timeOf((id) => others.includes(id)),
    whole = timeOf((id) => id === main || isOther(id));
  const count = others.reduce((sum, id) => sum + Math.max(1, item(model.entities, id).instances), 0);
  const least = count >= leastSuccession ? leastOfSuccession : count === 2 ? leastOfTwo : Infinity;
  return theirs >= least * whole && aliveAtOnce(model, others, aboutToEnd) === 1 ? { threads: others, count } : null;
}

/** By thread: the threads, three or more, that begin in the same procedure as it does, one after the other. */
export function successionsByStart(model: Model): Map<number, Succession> {
  const main = mainThread(model)?.id;
  const starts = new Map<number, number[]>();
  for (const { id, kind, members, address, thread, purposes } of model.entities)
    if (kind === 'thread' && members.length === 0 && id !== main && thread && !isFor({ purposes }, ofThreads)) {
      const start = address || shownId(model, id);
      starts.set(start, [...(starts.get(start) ?? []), id]);
    }
  const found = new Map<number, Succession>();
  for (const threads of starts.values()) {
    const count = threads.reduce((sum, id) => sum + Math.max(1, item(model.entities, id).instances), 0);
    if (count < leastSuccession || count > threads.length || aliveAtOnce(model, threads, aboutToEnd) > 1) continue;
    const succession = { threads, count };
    for (const id of threads) found.set(id, succession);
  }
  return found;
}
