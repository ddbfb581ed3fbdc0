/**
 * The cost of input and output that does not overlap with work (docs/reference/findings.md, "Input and output"). Pure
 * functions.
 */
import { Purpose } from '../../profile/abi.js';
import { defined, f64, item, u16, u32 } from '../../profile/columns.js';
import { State } from '../../profile/raw-profile.js';
import type { Model } from '../../result/types.js';
import { busyOf, savedByRunning, spinningOf, waitAt } from '../activity-levels.js';
import { addTo } from '../../profile/maps.js';
import { awaitedThreads } from '../threads/awaited-threads.js';
import type { FindingContext } from '../context.js';
import { housekeepingWaits } from '../../metrics/housekeeping.js';
import { pacesOf } from '../threads/sleep-pace.js';
import { pathsThrough } from '../code/paths-through.js';
import { isFor } from '../purposes.js';
import { systemCall } from '../context.js';
import type { LockLoss } from '../locks/lock-loss.js';

export interface IoLoss {
  savingAt: Map<number, number>; // by level
  timeAt: Map<number, number>;
  cost: number;
  saving: number;
  restNs: number; // the part of `cost` while nothing ran
  perTuple: (k: number) => number; // the saving that a tuple in state io accounts for
  counted: (k: number) => number; // the part of its time in which the thread could have worked instead
}

/**
 * Which tuples are input and output. A thread that waits for a signal does none, nor does one that sleeps to keep a
 * pace; neither does a run-time's own thread that waits for work. Threads that are otherwise idle poll for requests
 * in a run-time's scheduler: that delays nothing while others work.
 */
function ioTuples(context: FindingContext): (k: number) => boolean {
  const { raw, entities } = context.model;
  const { tuples } = raw;
  const isHousekeeping = housekeepingWaits(raw);
  const schedulers = entities.filter(({ kind, purposes }) => kind === 'procedure' && purposes & Purpose.handOver);
  const inScheduler = pathsThrough(context, new Set(schedulers.map(({ id }) => id)));
  const isBare = bareStacks(context);
  const paces = pacesOf(raw);
  return (k) => {
    if (tuples.state[k] !== State.io || isHousekeeping(k)) return false;
    if (tuples.busy[k] !== 0 && isBare[u32(tuples.stack, k)] === 1) return false;
    if (tuples.busy[k] !== 0 && inScheduler[u32(tuples.stack, k)] === 1) return false;
    const call = systemCall(context, u32(tuples.stack, k));
    if (call === null) return true;
    if (isFor(call, Purpose.sleep) && paces.has(u32(tuples.thread, k))) return false;
    // who waits for any of several events, while other threads work, may wait for these, or for requests
    if (tuples.busy[k] !== 0 && isFor(call, Purpose.requests) && !isFor(call, Purpose.receiving)) return false;
    return !isFor(call, Purpose.signal);
  };
}

/**
 * By stack: 1 if no more is known than where the thread begins, and locks that it has taken. It may wait for anything,
 * as in a call that waits for any of several events.
 */
function bareStacks({ model, tables: { stacks } }: FindingContext): Uint8Array {
  const procedures = new Uint8Array(stacks.count);
  for (let n = 1; n < stacks.count; n++) {
    const isProcedure = item(model.entities, u32(stacks.entity, n)).kind === 'procedure';
    procedures[n] = Math.min(2, (procedures[u32(stacks.parent, n)] ?? 0) + (isProcedure ? 1 : 0));
  }
  return procedures.map((count) => (count < 2 ? 1 : 0));
}

/**
 * Input and output beside other work can only overlap with work of the same thread, so a thread that only waits for
 * requests limits nothing, nor does a thread that nobody waits for. While nothing runs, it could overlap with any work
 * of the program.
 */
export function ioLoss(context: FindingContext, locks: readonly LockLoss[]): IoLoss {
  const { model, levels } = context;
  const { tuples } = model.raw;
  const { P } = levels;
  const ioByThread = new Map<number, number>();
  const isIo = ioTuples(context);
  for (let k = 0; k < tuples.ns.length; k++) if (isIo(k)) addTo(ioByThread, u32(tuples.thread, k), f64(tuples.ns, k));
  const isAwaited = awaitedThreads(context);
  const own = (thread: number): number =>
    isAwaited(thread)
      ? Math.min(1, item(model.entities, thread).processorTimeNs / Math.max(1, ioByThread.get(thread) ?? 0))
      : 0;
  const explained = explainedByLocks(model, locks, isIo);
  const counted = (k: number): number =>
    f64(tuples.ns, k) *
    (1 - (explained.get(u32(tuples.stack, k)) ?? 0)) *
    (tuples.busy[k] === 0 ? 1 : own(u32(tuples.thread, k)));

  const threadTime = new Map<number, number>();
  for (let k = 0; k < tuples.ns.length; k++)
    if (isIo(k)) addTo(threadTime, u16(tuples.busy, k) * (P + 1) + u16(tuples.spinning, k), counted(k));
  const loss: IoLoss = {
    savingAt: new Map(),
    timeAt: new Map(),
    cost: 0,
    saving: 0,
    restNs: 0,
    perTuple: () => 0,
    counted,
  };
  let atRest = 0,
    beside = 0;
  for (const [level, ns] of threadTime) {
    const b = busyOf(levels, level),
      s = spinningOf(levels, level);
    const wait = waitAt(ns, levels.elapsed.get(level) ?? 0, 1);
    const saving = savedByRunning(wait, b, P - b - s);
    loss.savingAt.set(level, saving);
    loss.timeAt.set(level, b < P ? wait.time : 0);
    loss.cost += b < P ? wait.time : 0;
    if (b === 0) {
      atRest += saving;
      loss.restNs += wait.time;
    } else beside += saving;
  }
  // Operations that were waited for while nothing ran can overlap at most with the time during which something ran.
  loss.saving = Math.min(atRest, model.root.nptNs) + beside;
  loss.perTuple = (k) => {
    const level = u16(tuples.busy, k) * (P + 1) + u16(tuples.spinning, k);
    const total = threadTime.get(level) ?? 0;
    return isIo(k) && total > 0 ? (counted(k) / total) * (loss.savingAt.get(level) ?? 0) : 0;
  };
  return loss;
}

/**
 * By stack: the share of its input and output during which threads waited for a lock that it held. That share is
 * attributed to the lock.
 */
function explainedByLocks(
  { raw: { tuples, blame } }: Model,
  locks: readonly LockLoss[],
  isIo: (k: number) => boolean,
): Map<number, number> {
  const contended = new Set(locks.filter(({ cost }) => cost > 0).map(({ entity }) => entity));
  const ioOf = new Map<number, number>(),
    waitedFor = new Map<number, number>();
  if (contended.size === 0) return waitedFor;
  for (let k = 0; k < tuples.ns.length; k++) if (isIo(k)) addTo(ioOf, u32(tuples.stack, k), f64(tuples.ns, k));
  for (let k = 0; k < blame.ns.length; k++)
    if (ioOf.has(u32(blame.stack, k)) && contended.has(u32(blame.object, k)))
      addTo(waitedFor, u32(blame.stack, k), f64(blame.ns, k));
  for (const [stack, ns] of waitedFor) waitedFor.set(stack, Math.min(1, ns / defined(ioOf.get(stack))));
  return waitedFor;
}
