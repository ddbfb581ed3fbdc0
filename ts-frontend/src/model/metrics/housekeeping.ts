/**
 * Waits of a run-time's internal threads (compilers, collectors, timers, HotSpot's VM thread): they wait for work that
 * only the run-time gives them, and could not do any of the program's work in the meantime. Pure.
 */
import { item, u32 } from '../profile/columns.js';
import { Purpose } from '../profile/abi.js';
import { State, Waiting, type RawProfile } from '../profile/raw-profile.js';

/** The purposes of a run-time's internal threads. */
export const ofThreads = Purpose.housekeeping | Purpose.collection | Purpose.compilation;

/** Returns whether a tuple (by index) is such a wait. */
export function housekeepingWaits({
  tuples,
  stacks,
  entities,
}: Pick<RawProfile, 'tuples' | 'stacks' | 'entities'>): (tuple: number) => boolean {
  // by node: whether a procedure with such a purpose is at or below it
  const isBelow = new Uint8Array(Math.max(1, stacks.parent.length));
  for (let n = 1; n < stacks.parent.length; n++) {
    const { kind, purposes } = item(entities, u32(stacks.entity, n));
    const isOne = kind === 'procedure' && (purposes & Purpose.housekeeping) !== 0;
    isBelow[n] = isOne || isBelow[u32(stacks.parent, n)] === 1 ? 1 : 0;
  }
  const isTheirs = Uint8Array.from(entities, ({ kind, purposes }) =>
    kind === 'thread' && (purposes & ofThreads) !== 0 ? 1 : 0,
  );
  const isWait = (k: number): boolean =>
    tuples.waiting[k] !== Waiting.none || tuples.state[k] === State.io || tuples.state[k] === State.blocked;
  return (k) => isWait(k) && (isTheirs[u32(tuples.thread, k)] === 1 || isBelow[u32(tuples.stack, k)] === 1);
}
