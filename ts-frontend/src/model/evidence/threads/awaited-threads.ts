/**
 * Whether the program waits for a thread, so that it ends sooner if that thread sleeps less: others wait for its end,
 * or for what it passes on. A thread that does something from time to time (statistics, a watchdog) runs as long as
 * the others do (docs/reference/findings.md, "Input and output"). Pure functions.
 */
import { f64, item, u32, u8 } from '../../profile/columns.js';
import { State, Waiting } from '../../profile/raw-profile.js';
import type { Entity } from '../../result/types.js';
import type { FindingContext } from '../context.js';
import { leastShare } from '../context.js';
import { mainThread } from './critical-threads.js';
import { isLock } from '../wait-kinds.js';

/** If fewer threads than this wait on average while others work, nobody waits for what a thread passes on. */
const leastWaiting = 0.1;

/** Whether a thread that waits there may wait for what another one passes on. */
const mayBePassedOn = (entity: Entity): boolean =>
  !isLock(entity) && entity.rawKind !== 'join' && entity.rawKind !== 'sleep';

/** The mean number of threads, main included, that wait for what another one passes on while threads work. */
function waitingBeside({ model: { raw, entities }, tables: { stacks } }: FindingContext): number {
  const { tuples, balance } = raw;
  let waited = 0,
    worked = 0;
  for (let k = 0; k < balance.ns.length; k++) if (balance.busy[k] !== 0) worked += f64(balance.ns, k);
  for (let k = 0; k < tuples.ns.length; k++) {
    const state = u8(tuples.state, k);
    if (tuples.busy[k] === 0 || tuples.waiting[k] !== Waiting.object) continue;
    if (state !== State.blocked && state !== State.spinning) continue;
    if (mayBePassedOn(item(entities, u32(stacks.entity, u32(tuples.stack, k))))) waited += f64(tuples.ns, k);
  }
  return worked > 0 ? waited / worked : 0;
}

/**
 * Which threads others may wait for: main; all, if threads wait for what others pass on; and those of a role of which
 * one lives on after all threads of other roles have ended, for 1 % of the run. Where no threads of other roles are
 * known, all.
 */
export function awaitedThreads(context: FindingContext): (thread: number) => boolean {
  const { model, roles } = context;
  const main = mainThread(model);
  const threads = model.entities.filter(
    ({ kind, members, thread, id }) => kind === 'thread' && members.length === 0 && thread !== null && id !== main?.id,
  );
  const endOf = ({ thread }: Entity): number => thread?.lastNs ?? model.elapsedNs;
  if (!main || waitingBeside(context) >= leastWaiting) return () => true;
  const known = new Map<number, boolean>();
  const isAwaited = (id: number): boolean => {
    const others = threads.filter((one) => one.id !== id && !roles.runTheSame(one.id, id));
    const ends = threads.filter((one) => one.id === id || roles.runTheSame(one.id, id)).map(endOf);
    if (others.length === 0 || ends.length === 0) return true;
    return Math.max(...ends) - Math.max(...others.map(endOf)) >= leastShare * model.elapsedNs;
  };
  return (id) => {
    if (id === main.id || id === 0) return true;
    const found = known.get(id) ?? isAwaited(id);
    known.set(id, found);
    return found;
  };
}
