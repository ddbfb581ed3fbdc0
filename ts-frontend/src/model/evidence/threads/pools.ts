/**
 * Whether threads that wait wait for more work, as those of a pool do, or for each other. Pure functions.
 */
import { item, u32 } from '../../profile/columns.js';
import { Arrival } from '../../profile/raw-profile.js';
import type { FindingContext } from '../context.js';

/** Below this number, hand-overs between the threads are accidents. */
const leastHandOvers = 10;
/** If the path goes from one of them to another for at most this share of the waits, others hand the work out. */
const fromAmong = 0.25;
/** The least mean number of threads in input and output for which the pieces may come from there, one by one. */
const fromIo = 0.1;

/**
 * Whether the time path seldom goes from one of the threads to another by these objects: what ends their waits comes
 * from elsewhere. Unknown, hence false, without a path.
 */
function areFedByOthers(
  { model: { raw, entities } }: FindingContext,
  threads: ReadonlySet<number>,
  objects: ReadonlySet<number>,
): boolean {
  const { segments } = raw;
  if (raw.head.pathNs === 0) return false;
  let within = 0;
  for (let k = 1; k < segments.ns.length; k++) {
    const from = u32(segments.thread, k - 1),
      to = u32(segments.thread, k);
    if (from === to || segments.came[k] !== Arrival.woken || !objects.has(u32(segments.by, k))) continue;
    if (threads.has(from) && threads.has(to)) within++;
  }
  const waits = [...objects].reduce((sum, id) => sum + (item(entities, id).object?.contended ?? 0), 0);
  return within < leastHandOvers || within <= fromAmong * waits;
}

/** The mean number of threads in input and output while these stacks ran and processors were idle. */
function inIoBeside({ waitOverlap: { byObject, costOfNode } }: FindingContext, members: readonly number[]): number {
  const io = byObject.get(0)?.waitersNs;
  let cost = 0,
    waiting = 0;
  for (const node of members) {
    cost += costOfNode[node] ?? 0;
    waiting += io?.get(node) ?? 0;
  }
  return cost > 0 ? waiting / cost : 0;
}

/**
 * Whether the threads, which have one role, take pieces of work that others made, and nothing more was to be had while
 * `members` ran. If a thread waits for input or output at that time, the next pieces may come from there.
 */
export const takeFromPool = (
  context: FindingContext,
  members: readonly number[],
  threads: ReadonlySet<number>,
  objects: ReadonlySet<number>,
): boolean => areFedByOthers(context, threads, objects) && inIoBeside(context, members) < fromIo;
