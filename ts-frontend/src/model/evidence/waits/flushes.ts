/**
 * Calls that write changes to a device (fsync, fdatasync, msync, and writes to files that are opened with O_SYNC), and
 * what they cost. Pure functions.
 */
import { Purpose } from '../../profile/abi.js';
import { f64, item, u16, u32, u8 } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import { KernelWork, State } from '../../profile/raw-profile.js';
import { busyOf, savedByRunning, spinningOf, waitAt } from '../activity-levels.js';
import type { FindingContext } from '../context.js';
import { withoutWaiting } from './own-work.js';
import { isFor } from '../purposes.js';
import type { Model } from '../../result/types.js';

/** Whether the innermost call writes to a device what was changed before (fsync, fdatasync, msync). */
function isInFlush({ model, tables, own }: FindingContext, k: number): boolean {
  const node = u32(model.raw.tuples.stack, k);
  return own.hidden[node] === 1 && isFor(item(model.entities, u32(tables.stacks.entity, node)), Purpose.device);
}

/** Whether all writes that threads were seen to sleep in went to the device at once. */
export const writesThrough = ({ head }: Model): boolean =>
  head.writesThrough && !head.writesElsewhere && !head.writesPipes;
/** Whether all of them were to pipes that other processes read. */
export const writesPipes = ({ head }: Model): boolean =>
  head.writesPipes && !head.writesElsewhere && !head.writesThrough;

/** Whether the kernel works for such a call. */
export function isFlush(context: FindingContext, k: number): boolean {
  const { model } = context;
  const work = u8(model.raw.tuples.kernel, k);
  return (work === KernelWork.call || (work === KernelWork.write && writesThrough(model))) && isInFlush(context, k);
}

/** What is saved at most without flushes: all other work of the program remains. */
export const withoutFlushes = (context: FindingContext): number =>
  withoutWaiting(context, (k) => isFlush(context, k), false).idealNs;

/**
 * Elapsed time that would be saved if threads did not sleep in flushes, besides what the kernel works for these. While
 * nothing runs, that is all of the time; while some processors are busy, the sleeping threads would use the idle ones.
 * The part of such a time in which a flush runs is left out: it is the kernel's work, which goes as well.
 */
function asleepInFlushes(context: FindingContext): number {
  const { model, levels, tables } = context;
  const { tuples } = model.raw;
  const { P } = levels;
  const asleep = new Map<number, number>(), // thread time by level
    running = new Map<number, number>(); // NPT of flushes by level
  for (let k = 0; k < tuples.ns.length; k++) {
    const b = u16(tuples.busy, k),
      level = b * (P + 1) + u16(tuples.spinning, k);
    if (b >= P) continue;
    if (tuples.state[k] === State.io && isInFlush(context, k)) addTo(asleep, level, f64(tuples.ns, k));
    else if (b > 0 && tuples.state[k] === State.useful && isFlush(context, k))
      addTo(running, level, f64(tables.weights, k) / b);
  }
  let ns = 0;
  for (const [level, threadNs] of asleep) {
    const b = busyOf(levels, level),
      elapsed = levels.elapsed.get(level) ?? 0;
    const others = elapsed > 0 ? 1 - Math.min(1, (running.get(level) ?? 0) / elapsed) : 0;
    ns += others * savedByRunning(waitAt(threadNs, elapsed, 1), b, P - b - spinningOf(levels, level));
  }
  return ns;
}

/** What is saved if this part of the flushes goes, and of the sleep in them, which is no work of the kernel. */
export const savedAsleep = (context: FindingContext, cost: number, part: number): number =>
  Math.min(part * (cost + asleepInFlushes(context)), withoutFlushes(context));
