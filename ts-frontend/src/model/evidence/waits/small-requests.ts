/**
 * Requests of which each takes little work but the calls that read and answer it: fewer and larger ones save the calls,
 * and the waits between them (docs/reference/findings.md, "Input and output"). Pure functions.
 */
import { f64, u16, u8 } from '../../profile/columns.js';
import { KernelWork, State } from '../../profile/raw-profile.js';
import type { SmallRequestsFacts } from '../../result/facts.js';
import type { FindingContext } from '../context.js';
import { withoutWaiting } from './own-work.js';

/** The kernel's work in calls that wait for, read and answer requests. */
const ofRequests: ReadonlySet<number> = new Set([KernelWork.call, KernelWork.poll, KernelWork.read, KernelWork.write]);
/** The least share of the processor time in such calls. */
const mostly = 0.5;
/** The most processor time for each time that a thread goes to sleep, as for wake-ups. */
const littleNs = 100_000;
/** The assumed improvement: this many requests at a time. */
const atATime = 10;

/** null: this is no server, or its requests are not small. `restNs`: time in which nothing runs while it waits. */
export function smallRequests(context: FindingContext, restNs: number): SmallRequestsFacts | null {
  const { model, tables } = context;
  const { head, kernelUsage: usage, root } = model;
  const { tuples } = model.raw;
  const isCall = (k: number): boolean => tuples.state[k] === State.useful && ofRequests.has(u8(tuples.kernel, k));
  const slept = usage?.switches?.voluntary ?? 0;
  if (!head.listens || slept === 0 || root.processorTimeNs > littleNs * slept) return null;
  let ns = 0,
    npt = 0;
  for (let k = 0; k < tables.weights.length; k++) {
    if (!isCall(k)) continue;
    ns += f64(tables.weights, k);
    npt += f64(tables.weights, k) / Math.max(1, u16(tuples.busy, k));
  }
  const share = ns / Math.max(1, root.processorTimeNs);
  if (share < mostly) return null;
  const savedNs = Math.min((1 - 1 / atATime) * (restNs + npt), withoutWaiting(context, isCall, false).idealNs);
  return { share, atATime, savedNs };
}
