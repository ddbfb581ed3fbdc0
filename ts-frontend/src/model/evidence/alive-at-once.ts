/** Threads that live one after the other, or at the same time. Pure. */
import { item } from '../profile/columns.js';
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
