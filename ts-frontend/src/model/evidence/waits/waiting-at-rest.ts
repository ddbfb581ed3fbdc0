/** What threads wait for while nothing runs (b = 0). Pure functions. */
import { f64, item, u32 } from '../../profile/columns.js';
import type { WaitingAt } from '../../result/facts.js';
import { State } from '../../profile/raw-profile.js';
import type { Entity } from '../../result/types.js';
import { shownId, systemCall, type FindingContext } from '../context.js';

export interface Waiting {
  entity: Entity;
  threads: number;
} // on average over the time in which nothing ran

/** Sorted by number of threads, largest first; groups stand for their members. */
export function waitingAtRest({ model, levels }: FindingContext): Waiting[] {
  const rest = model.balance.nothingRanNs;
  const waiting: Waiting[] = [];
  for (const [id, { blocked }] of levels.waits) {
    const ns = blocked.get(0) ?? 0;
    if (shownId(model, id) === id && rest > 0 && ns > 0)
      waiting.push({ entity: item(model.entities, id), threads: ns / rest });
  }
  return waiting.sort((a, b) => b.threads - a.threads);
}

/** The maximum number of objects that are reported, and the least mean number of threads for each. */
export const most = 3,
  leastReported = 0.25;

/** The objects at which most threads waited. */
export function waitingAt(waiting: readonly Waiting[]): WaitingAt[] {
  return waiting
    .filter(({ threads }) => threads >= leastReported)
    .slice(0, most)
    .map(({ entity, threads }) => ({ entity: entity.id, threads }));
}

/** The system calls in which threads slept. */
export function sleepingIn(context: FindingContext): { name: string; threads: number }[] {
  const { tuples } = context.model.raw;
  const calls = new Map<string, number>();
  for (let k = 0; k < tuples.ns.length; k++) {
    const call =
      tuples.state[k] === State.io && tuples.busy[k] === 0 ? systemCall(context, u32(tuples.stack, k)) : null;
    if (call !== null)
      calls.set(call.name, (calls.get(call.name) ?? 0) + f64(tuples.ns, k) / context.model.balance.nothingRanNs);
  }
  return Array.from(calls, ([name, threads]) => ({ name, threads }))
    .filter(({ threads }) => threads >= leastReported)
    .sort((a, b) => b.threads - a.threads)
    .slice(0, most);
}

/** Whether something delays these threads: excludes joins and sleep. */
export const isHeldUp = ({ entity }: Waiting): boolean => entity.rawKind !== 'join' && entity.rawKind !== 'sleep';
