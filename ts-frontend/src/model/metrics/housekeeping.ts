/**
 * Waits of a run-time's internal threads (compilers, collectors, timers, HotSpot's VM thread): they wait for work that
 * only the run-time gives them, and could not do any of the program's work in the meantime. Pure.
 *
 * A thread of a team (OpenMP) that hardly ran in its whole life counts as one: a library of the program has made the
 * team, and uses it once, or not at all. What keeps the program's other threads from working at the same time is not
 * known from its rest.
 */
import { addAt, f64, item, u32 } from '../profile/columns.js';
import { Purpose } from '../profile/abi.js';
import { State, Waiting, type RawEntity, type RawProfile } from '../profile/raw-profile.js';

/** The purposes of a run-time's internal threads. */
export const ofThreads = Purpose.housekeeping | Purpose.collection | Purpose.compilation;

/** A team is not used if its threads rest for all but this share of their lives, and regions have no more than that. */
const hardlyEver = 0.01;

type Rows = Pick<RawProfile, 'tuples' | 'stacks' | 'entities'>;

/** By node: 1 if such a procedure is at or below it. */
function atOrBelow({ stacks, entities }: Rows, isOne: (its: RawEntity) => boolean): Uint8Array {
  const isBelow = new Uint8Array(Math.max(1, stacks.parent.length));
  for (let n = 1; n < stacks.parent.length; n++) {
    const its = item(entities, u32(stacks.entity, n));
    isBelow[n] = (its.kind === 'procedure' && isOne(its)) || isBelow[u32(stacks.parent, n)] === 1 ? 1 : 0;
  }
  return isBelow;
}

/** Whether threads of a team wait there for its next region. */
const isRest = ({ origin, libraryWait }: RawEntity): boolean => origin === 'openmp' && libraryWait === 'unknown';

/** By entity: 1 for the threads of teams that are not used. */
function unusedTeams(rows: Rows): Uint8Array {
  const { tuples, stacks, entities } = rows;
  if (!entities.some(isRest)) return new Uint8Array(entities.length);
  const all = new Float64Array(entities.length),
    rest = new Float64Array(entities.length),
    inRegions = new Float64Array(entities.length);
  const isBelow = atOrBelow(rows, ({ origin }) => origin === 'openmp');
  for (let k = 0; k < tuples.ns.length; k++) {
    const thread = u32(tuples.thread, k),
      node = u32(tuples.stack, k),
      ns = f64(tuples.ns, k);
    addAt(all, thread, ns);
    if (tuples.waiting[k] === Waiting.none) addAt(inRegions, thread, isBelow[node] === 1 ? ns : 0);
    else if (isRest(item(entities, u32(stacks.entity, node))) && tuples.state[k] !== State.spinning)
      addAt(rest, thread, ns);
  }
  const isUsed = inRegions.some((ns, thread) => ns > hardlyEver * f64(all, thread) && ns > 0);
  return Uint8Array.from(all, (ns, thread) => (!isUsed && ns > 0 && ns - f64(rest, thread) <= hardlyEver * ns ? 1 : 0));
}

/** Returns whether a tuple (by index) is such a wait. */
export function housekeepingWaits(rows: Rows): (tuple: number) => boolean {
  const { tuples, entities } = rows;
  const isUnused = unusedTeams(rows);
  const isBelow = atOrBelow(rows, ({ purposes }) => (purposes & Purpose.housekeeping) !== 0);
  const isTheirs = Uint8Array.from(entities, ({ kind, purposes }, id) =>
    kind === 'thread' && ((purposes & ofThreads) !== 0 || isUnused[id] === 1) ? 1 : 0,
  );
  const isWait = (k: number): boolean =>
    tuples.waiting[k] !== Waiting.none || tuples.state[k] === State.io || tuples.state[k] === State.blocked;
  return (k) => isWait(k) && (isTheirs[u32(tuples.thread, k)] === 1 || isBelow[u32(tuples.stack, k)] === 1);
}
