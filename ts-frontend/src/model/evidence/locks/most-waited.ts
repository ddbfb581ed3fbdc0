/**
 * The lock that threads wait for most, as it was seen beside other programs. Where these have the CPUs, threads that
 * have none count as at work, and a lock that they would have waited for costs nothing: what was seen of it is said
 * (docs/reference/findings.md, "Code to optimize"). Pure functions.
 */
import { f64, item, u32, u8 } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import { State, Waiting } from '../../profile/raw-profile.js';
import type { OptimizeFacts } from '../../result/facts.js';
import type { FindingContext } from '../context.js';
import { isLock } from '../wait-kinds.js';

/** The least time that threads wait for such a lock, in all, as a share of the elapsed time. */
const leastWaited = 0.5;

/** Null: threads do not wait for any lock that long. Threads that have been woken for it wait until they have it. */
export function mostWaited({ model, tables }: FindingContext): OptimizeFacts['waited'] {
  const { tuples, stacks } = tables.measured;
  const waits = new Map<number, number>();
  for (let k = 0; k < tuples.ns.length; k++) {
    const waiting = u8(tuples.waiting, k);
    const isWaiting = waiting === Waiting.woken || (waiting === Waiting.object && tuples.state[k] === State.blocked);
    if (isWaiting) addTo(waits, u32(stacks.entity, u32(tuples.stack, k)), f64(tuples.ns, k));
  }
  const locks = [...waits].filter(([id]) => id !== 0 && isLock(item(model.entities, id))).sort((a, b) => b[1] - a[1]);
  const [most] = locks;
  return most && most[1] >= leastWaited * model.elapsedNs ? { lock: most[0], ns: most[1] } : null;
}
