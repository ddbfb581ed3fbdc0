/** Threads that live one after the other, or at the same time. Pure. */
import { item } from '../profile/columns.js';
import { mainThread } from './critical-threads.js';
import type { ContextStats } from './loss-contexts.js';
import type { Model } from '../result/types.js';

/** How many of the threads were alive at the same time, at most. */
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

/** So many threads, one after the other, are no accident. */
const leastSuccession = 3;

/** Threads other than main that have most of it, of which each began after the one before had ended; null: others. */
export function successionOf(model: Model, { threads, time: whole }: ContextStats): number | null {
  const main = mainThread(model)?.id;
  const { ids, time } = threads;
  const others = ids.filter((id) => id !== main);
  const theirs = ids.reduce((sum, id, k) => sum + (id === main ? 0 : item(time, k)), 0);
  const count = others.reduce((sum, id) => sum + Math.max(1, item(model.entities, id).instances), 0);
  return count >= leastSuccession && theirs >= whole / 2 && aliveAtOnce(model, others) === 1 ? count : null;
}
