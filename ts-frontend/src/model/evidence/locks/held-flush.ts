/**
 * Flushes to a device while a lock is held for which others wait: besides what the kernel works for them, the time
 * belongs to them in which the lock's holder sleeps in one, or has no CPU after one, and nothing else runs
 * (docs/reference/findings.md, "Kernel"). Pure functions.
 */
import { Purpose } from '../../profile/abi.js';
import { f64, item, u32, u8 } from '../../profile/columns.js';
import { isBusy } from '../../metrics/sums.js';
import { State, Waiting } from '../../profile/raw-profile.js';
import type { FindingContext } from '../context.js';
import { lockLosses, type LockLoss } from './lock-loss.js';
import { isFor } from '../purposes.js';

/** The least share of the time for which the lock is held that is spent in flushes. */
const leastHeld = 0.3;

interface HeldFlush {
  lock: number;
  ns: number; // elapsed time
}

/** By node: 1 if that lock is on the path. */
function holdsOf({ tables: { stacks } }: FindingContext, lock: number): Uint8Array {
  const holds = new Uint8Array(stacks.count);
  for (let n = 1; n < stacks.count; n++)
    holds[n] = holds[u32(stacks.parent, n)] === 1 || stacks.entity[n] === lock ? 1 : 0;
  return holds;
}

/** The share of its holders' time, executing or asleep, that they spend in flushes. */
function shareOf({ model, tables, own }: FindingContext, holds: Uint8Array): number {
  const { tuples } = tables.measured; // an estimate shows a holder without a CPU at the place where it was seen last
  let held = 0,
    inFlush = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    const node = u32(tuples.stack, k),
      state = u8(tuples.state, k);
    if (holds[node] !== 1 || tuples.waiting[k] !== Waiting.none || !(isBusy(state) || state === State.io)) continue;
    held += f64(tuples.ns, k);
    const called = item(model.entities, u32(tables.stacks.entity, node));
    if (own.hidden[node] === 1 && isFor(called, Purpose.device)) inFlush += f64(tuples.ns, k);
  }
  return held > 0 ? inFlush / held : 0;
}

/** The lock whose waiters lose most because of flushes, and the time in which nothing outside of it runs meanwhile. */
export function heldFlush(context: FindingContext): HeldFlush | null {
  const { model, waitOverlap, least } = context;
  const found = (loss: LockLoss): HeldFlush => {
    const holds = holdsOf(context, loss.entity);
    let outside = 0;
    for (const [node, ns] of waitOverlap.byObject.get(loss.entity)?.ns ?? []) if (holds[node] !== 1) outside += ns;
    const share = loss.cost - outside >= least ? shareOf(context, holds) : 0;
    return { lock: loss.entity, ns: share >= leastHeld ? share * (loss.cost - outside) : 0 };
  };
  const [most] = lockLosses(context)
    .filter(({ entity, cost }) => cost >= least && item(model.entities, entity).members.length === 0)
    .map(found)
    .sort((a, b) => b.ns - a.ns);
  return most && most.ns >= least ? most : null;
}
