/**
 * Whether threads get their work piece by piece, since who hands it out waits for the result of each piece first: both
 * sides wait for each other at the same time (docs/reference/findings.md, "Code"). Pure functions.
 */
import { item } from '../profile/columns.js';
import type { PassedDataFacts } from '../result/facts.js';
import type { Entity } from '../result/types.js';
import type { FindingContext } from './context.js';
import { passesData } from './wait-kinds.js';
import { waitersBeside } from './wait-overlap.js';

/** The least mean number of threads of each side that wait while the work runs and processors are idle. */
const mostly = 0.3;
/** One thread hands out the work. If more wait on average, they are another pool, which has no work. */
const mostAwaiting = 1.5;

/** A wait takes this share of the run at most, on average; a thread that rests for longer does not hand out pieces. */
const longest = 0.05;
const isForPieces = ({ object }: Entity, elapsedNs: number): boolean =>
  object !== null && object.contended > 0 && object.waitNs <= longest * elapsedNs * object.contended;

/** `members`: the stacks of the work; `workers`: the threads that do it. */
export function awaitedResults(
  { model: { entities, elapsedNs }, waitOverlap }: FindingContext,
  members: readonly number[],
  workers: ReadonlySet<number>,
): PassedDataFacts['awaited'] {
  let found: PassedDataFacts['awaited'] = null,
    most = mostly,
    idle = 0;
  for (const [object, mean] of waitersBeside(waitOverlap, members)) {
    const entity = item(entities, object);
    if (!passesData(entity)) continue;
    const waiters = entity.object?.waiters ?? [];
    const isWorkers = waiters.some(({ thread }) => workers.has(thread));
    if (isWorkers) idle += mean;
    const [first] = waiters;
    if (isWorkers || !first || first.thread === 0 || mean < most || mean > mostAwaiting) continue;
    if (!isForPieces(entity, elapsedNs)) continue;
    most = mean;
    found = { thread: first.thread, object, idle: 0 };
  }
  return found !== null && idle >= mostly ? { ...found, idle } : null;
}
