/**
 * Locks that keep the main thread waiting while threads that live as long as it does keep the processors busy: they may
 * work until main asks them to end, so that busy processors do not mean that waiting costs nothing
 * (docs/reference/findings.md, "Kept waiting"). Pure.
 */
import { f64, item, u32 } from '../../profile/columns.js';
import { addTo, total } from '../../profile/maps.js';
import { Waiting } from '../../profile/raw-profile.js';
import type { KeptWaitingFacts } from '../../result/lock-facts.js';
import type { FindingContext } from '../context.js';
import { mainThread } from '../threads/critical-threads.js';
import { ownPath } from '../code/own-path.js';
import { pathsThrough } from '../code/paths-through.js';

/** The least share of the elapsed time that main waits for the lock, and for which the lock is on the time path. */
const leastWaiting = 0.2,
  leastOnPath = 0.1;
/** The most that it waits for threads to end: who waits for results waits there. */
const mostJoining = 0.05;
/** The least share of the elapsed time that main works itself. */
const leastWork = 0.05;
/** Threads with this share of the processor time must live up to this share of the elapsed time. */
const counts = 0.05,
  untilEnd = 0.95;

/** What main waits for: by object, and there by procedure of the program. */
interface MainsWaits {
  main: number;
  byObject: ReadonlyMap<number, ReadonlyMap<number, number>>;
}

/** null: main waits for results, or does not work, so that it is not kept waiting; or that is not known. */
export function mainsWaits(context: FindingContext): MainsWaits | null {
  const { model, tables } = context;
  const main = mainThread(model);
  if (!main || model.head.publisher !== 'pthread' || model.raw.head.pathNs <= 0) return null;
  if (main.processorTimeNs < leastWork * model.elapsedNs) return null;
  const { tuples } = model.raw;
  const byObject = new Map<number, Map<number, number>>();
  let joiningNs = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    if (tuples.thread[k] !== main.id || tuples.waiting[k] === Waiting.none) continue;
    const node = u32(tuples.stack, k),
      object = u32(tables.stacks.entity, node);
    if (item(model.entities, object).rawKind === 'join') joiningNs += f64(tuples.ns, k);
    let byProcedure = byObject.get(object);
    if (!byProcedure) byObject.set(object, (byProcedure = new Map<number, number>()));
    addTo(byProcedure, ownPath(context, node)[0] ?? 0, f64(tuples.ns, k));
  }
  return joiningNs > mostJoining * model.elapsedNs ? null : { main: main.id, byObject };
}

/** For how long who holds one of the locks is on the time path. */
function onPathNs({ model, tables }: FindingContext, locks: ReadonlySet<number>): number {
  const { parent, entity, count } = tables.stacks;
  const { onPath } = model.raw;
  const within = new Uint8Array(count);
  for (let n = 1; n < count; n++) within[n] = within[u32(parent, n)] === 1 || locks.has(u32(entity, n)) ? 1 : 0;
  let ns = 0;
  for (let k = 0; k < onPath.ns.length; k++) if (within[u32(onPath.stack, k)] === 1) ns += f64(onPath.ns, k);
  return ns;
}

/** Whether all others with much of the work live as long as main, and never run the procedure in which main waits. */
function workAside(context: FindingContext, main: number, procedure: number): boolean {
  const { model } = context;
  const { tuples, threads } = model.raw;
  const end = untilEnd * model.elapsedNs;
  const lives = new Map(threads.map(({ entity, lastNs }) => [entity, lastNs]));
  const others = model.entities.filter(
    ({ id, kind, members, processorTimeNs }) =>
      kind === 'thread' &&
      members.length === 0 &&
      id !== main &&
      processorTimeNs >= counts * model.root.processorTimeNs,
  );
  const through = pathsThrough(context, new Set([procedure]));
  const known = new Set(others.map(({ id }) => id));
  for (let k = 0; k < tuples.ns.length; k++)
    if (known.has(u32(tuples.thread, k)) && through[u32(tuples.stack, k)] === 1) return false;
  return others.length > 0 && others.every(({ id, instances }) => instances <= 1 && (lives.get(id) ?? 0) >= end);
}

/** What main waits for one of these locks, and what it saves at most if it need not; null: nothing of that kind. */
export function keptWaiting(
  context: FindingContext,
  { main, byObject }: MainsWaits,
  locks: ReadonlySet<number>,
): KeptWaitingFacts | null {
  const { model } = context;
  const { elapsedNs } = model;
  const byProcedure = new Map<number, number>();
  for (const id of locks) for (const [procedure, ns] of byObject.get(id) ?? []) addTo(byProcedure, procedure, ns);
  const waitNs = total(byProcedure);
  if (waitNs < leastWaiting * elapsedNs) return null;
  const [most] = [...byProcedure].sort((a, b) => b[1] - a[1]);
  if (!most || most[0] === 0 || !workAside(context, main, most[0])) return null;
  const mostNs = Math.min(waitNs, onPathNs(context, locks));
  if (mostNs < leastOnPath * elapsedNs) return null;
  const readWrite = [...locks].every((id) => item(model.entities, id).rawKind === 'rwlock');
  return { thread: main, procedure: most[0], readWrite, waitNs, mostNs };
}
