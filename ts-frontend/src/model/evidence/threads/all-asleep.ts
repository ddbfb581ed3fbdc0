/**
 * Whether all threads of a pool wait for slow operations (a sleep that stands for one, a reply) nearly all the time:
 * then more of them at a time would take less time (docs/reference/findings.md, "Input and output"). Pure functions.
 */
import { f64, item, u32, u8 } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import { State, Waiting } from '../../profile/raw-profile.js';
import type { FindingContext } from '../context.js';

/** A thread has part in it if it has this share of what the thread with most has. */
const hasPart = 0.5;
/** The least share of these threads that are in such an operation at a time, on average. */
const nearlyAll = 0.75;
/** If they wait for anything else for more than this share of the operations' time, they wait for work. */
const mostOther = 0.25;
/** The least share of the elapsed time that a thread works, to compare what it does: below, it was seldom seen. */
const leastWork = 0.05;

/** By thread: its time at each stack. */
type Places = Map<number, Map<number, number>>;
const sumOf = (times: ReadonlyMap<number, number> | undefined): number =>
  [...(times ?? [])].reduce((sum, [, ns]) => sum + ns, 0);
/** The stack with at least half of it, else 0. */
function placeOf(times: ReadonlyMap<number, number> | undefined): number {
  const half = sumOf(times) / 2;
  return [...(times ?? [])].find(([, ns]) => ns >= half)?.[0] ?? 0;
}

/**
 * The number of threads; null if they are less than two, if they do not sleep at one place or do different work, if
 * some of them are not in an operation, or if they also wait for something else (for work, for each other).
 * `inOperation`: time that a tuple stands for in such operations, 0 for others; `threads`: mean number of threads in
 * them.
 */
export function allAsleep(
  { model, roles }: FindingContext,
  inOperation: (tuple: number) => number,
  threads: number,
): number | null {
  const { tuples } = model.raw;
  const asleep: Places = new Map();
  const other = new Map<number, number>();
  for (let k = 0; k < tuples.ns.length; k++) {
    const thread = u32(tuples.thread, k),
      ns = inOperation(k);
    if (ns > 0) {
      const its = asleep.get(thread) ?? new Map<number, number>();
      asleep.set(thread, its);
      addTo(its, u32(tuples.stack, k), ns);
    } else if (u8(tuples.state, k) === State.blocked && u8(tuples.waiting, k) === Waiting.object)
      addTo(other, thread, f64(tuples.ns, k));
  }
  const most = Math.max(0, ...[...asleep.values()].map(sumOf));
  const its = [...asleep.keys()].filter((id) => id !== 0 && sumOf(asleep.get(id)) >= hasPart * most);
  const count = its.reduce((sum, id) => sum + Math.max(1, item(model.entities, id).instances), 0);
  const total = (of: (id: number) => number): number => its.reduce((sum, id) => sum + of(id), 0);
  const isIdle = total((id) => other.get(id) ?? 0) > mostOther * total((id) => sumOf(asleep.get(id)));
  if (count < 2 || threads < nearlyAll * count || isIdle) return null;
  const places = new Set(its.map((id) => placeOf(asleep.get(id))));
  const known = its.filter((id) => roles.workNs(id) >= leastWork * model.elapsedNs);
  const areAlike = known.every((id) => roles.runTheSame(known[0] ?? id, id));
  return places.size === 1 && !places.has(0) && areAlike ? count : null;
}
