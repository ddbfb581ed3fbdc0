/** Whether threads live at the same time or one after the other. Pure functions. */
import { item } from '../profile/columns.js';
import { mainThread } from './critical-threads.js';
import type { ContextStats } from './loss-contexts.js';
import type { Model } from '../result/types.js';

/** The maximum number of the threads that were alive at the same time. */
export function aliveAtOnce(model: Model, threads: readonly number[]): number {
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

/** The least number of consecutive threads that is not considered coincidence. */
const leastSuccession = 3;

/**
 * The number of threads other than main that used most of the time, if each began after the previous one had ended;
 * null otherwise.
 */
export function successionOf(model: Model, { threads, time: whole }: ContextStats): number | null {
  const main = mainThread(model)?.id;
  const { ids, time } = threads;
  const others = ids.filter((id) => id !== main);
  const theirs = ids.reduce((sum, id, k) => sum + (id === main ? 0 : item(time, k)), 0);
  const count = others.reduce((sum, id) => sum + Math.max(1, item(model.entities, id).instances), 0);
  return count >= leastSuccession && theirs >= whole / 2 && aliveAtOnce(model, others) === 1 ? count : null;
}
