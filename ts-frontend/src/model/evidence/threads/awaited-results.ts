/**
 * Whether threads get their work piece by piece, since who hands it out waits for the result of each piece first: both
 * sides wait for each other at the same time (docs/reference/findings.md, "Code"). Pure functions.
 */
import { item } from '../../profile/columns.js';
import { addTo, total } from '../../profile/maps.js';
import type { PassedDataFacts } from '../../result/facts.js';
import type { Entity } from '../../result/types.js';
import type { FindingContext } from '../context.js';
import { passesData } from '../wait-kinds.js';
import { waitersBeside } from '../wait-overlap.js';

/** The least mean number of threads of each side that wait while the work runs and processors are idle. */
const mostly = 0.3;
/** One thread hands out the work. If more wait on average, they are another pool, which has no work. */
const mostAwaiting = 1.5;

/** Fewer waits are no handing out of pieces. */
const leastPieces = 10;

/** Whether one of the threads has half of the waiting there: several alike are a pool that waits for work. */
function isOneThreads(waiters: readonly { thread: number; ns: number }[]): boolean {
  const byThread = new Map<number, number>();
  for (const { thread, ns } of waiters) addTo(byThread, thread, ns);
  return Math.max(...byThread.values()) >= total(byThread) / 2;
}

/** A wait takes this share of the run at most, on average; a thread that rests for longer does not hand out pieces. */
const longest = 0.05;
const isForPieces = ({ object }: Entity, elapsedNs: number): boolean =>
  object !== null && object.contended >= leastPieces && object.waitNs <= longest * elapsedNs * object.contended;

/** The threads that wait for more work must have done at least this share of it: others are a pool at rest. */
const leastOfIt = 0.1;

/**
 * Who hands out pieces waits about as often as each of those that get them, and at least for this share of their waits:
 * one that waits far less often (a timer's thread) rests until a time.
 */
const leastOfTheirs = 0.25;

/** `members`: the stacks of the work; `workers`: the threads that do it. */
export function awaitedResults(
  { model: { entities, elapsedNs }, waitOverlap, roles }: FindingContext,
  members: readonly number[],
  workers: ReadonlySet<number>,
): PassedDataFacts['awaited'] {
  const workOf = (threads: readonly number[]): number => threads.reduce((ns, thread) => ns + roles.workNs(thread), 0);
  let found: PassedDataFacts['awaited'] = null,
    most = mostly,
    idle = 0;
  const beside = [...waitersBeside(waitOverlap, members)];
  const waitsOfEach = Math.max(
    0,
    ...beside.map(([id]) => {
      const { object } = item(entities, id);
      const threads = new Set(object?.waiters.map(({ thread }) => thread));
      return object !== null && [...threads].some((one) => workers.has(one)) ? object.contended / threads.size : 0;
    }),
  );
  for (const [object, mean] of beside) {
    const entity = item(entities, object);
    if (!passesData(entity)) continue;
    const waiters = entity.object?.waiters ?? [];
    const isWorkers = waiters.some(({ thread }) => workers.has(thread));
    if (isWorkers && workOf(waiters.map(({ thread }) => thread)) >= leastOfIt * workOf([...workers])) idle += mean;
    const [first] = waiters;
    if (isWorkers || !first || first.thread === 0 || mean < most || mean > mostAwaiting) continue;
    if ((entity.object?.contended ?? 0) < leastOfTheirs * waitsOfEach) continue;
    if (!isForPieces(entity, elapsedNs) || !isOneThreads(waiters)) continue;
    most = mean;
    found = { thread: first.thread, object, idle: 0 };
  }
  return found !== null && idle >= mostly ? { ...found, idle } : null;
}
