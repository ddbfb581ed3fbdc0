/** Calls that write changes to a device (fsync, fdatasync, msync), and what they cost. Pure functions. */
import { Purpose } from '../profile/abi.js';
import { f64, item, u16, u32 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import { KernelWork, State } from '../profile/raw-profile.js';
import { busyOf } from './activity-levels.js';
import type { FindingContext } from './context.js';
import { withoutWaiting } from './own-work.js';
import { isFor } from './purposes.js';

/** Whether the innermost call writes to a device what was changed before (fsync, fdatasync, msync). */
function isInFlush({ model, tables, own }: FindingContext, k: number): boolean {
  const node = u32(model.raw.tuples.stack, k);
  return own.hidden[node] === 1 && isFor(item(model.entities, u32(tables.stacks.entity, node)), Purpose.device);
}

/** Whether the kernel works for such a call. */
export const isFlush = (context: FindingContext, k: number): boolean =>
  context.model.raw.tuples.kernel[k] === KernelWork.call && isInFlush(context, k);

/** What is saved at most without flushes: all other work of the program remains. */
export const withoutFlushes = (context: FindingContext): number =>
  withoutWaiting(context, (k) => isFlush(context, k), false).idealNs;

/** Elapsed time in which nothing runs and threads sleep in flushes. */
function asleepInFlushes(context: FindingContext): number {
  const { model, levels } = context;
  const { tuples } = model.raw;
  const asleep = new Map<number, number>();
  for (let k = 0; k < tuples.ns.length; k++)
    if (u16(tuples.busy, k) === 0 && tuples.state[k] === State.io && isInFlush(context, k))
      addTo(asleep, u16(tuples.spinning, k), f64(tuples.ns, k));
  let ns = 0;
  for (const [level, its] of levels.elapsed)
    if (busyOf(levels, level) === 0) ns += Math.min(its, asleep.get(level) ?? 0);
  return ns;
}

/** What is saved if this part of the flushes goes, and of the sleep in them, which is no work of the kernel. */
export const savedAsleep = (context: FindingContext, cost: number, part: number): number =>
  Math.min(part * (cost + asleepInFlushes(context)), withoutFlushes(context));
