/**
 * Threads of a run-time that compile the program's code while it runs on: the program waits for none of them, so that
 * beside one thread with all of the work they keep a processor busy, but lengthen nothing
 * (docs/reference/findings.md, "Background"). Pure functions.
 */
import { Purpose } from '../../profile/abi.js';
import { f64, item, u16, u32, u8 } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import { State } from '../../profile/raw-profile.js';
import { isBusy } from '../../metrics/sums.js';
import type { Background, FindingContext } from '../context.js';
import { mainThread } from './critical-threads.js';
import { isFor } from '../purposes.js';
import { workBelow } from '../code/work-below.js';

/** A thread that compiles for this share of its processor time does nothing else that matters. */
const mostly = 0.5;
/** Below this share of the elapsed time they are left as they are. */
const leastPart = 0.1;

/** The samples of compiling: of threads for it, and below procedures for it. */
export function compiling(context: FindingContext): (tuple: number) => boolean {
  const { tuples, entities } = context.model.raw;
  const { isOf } = workBelow(context, Purpose.compilation);
  return (k) =>
    isOf(k) || (tuples.state[k] === State.useful && isFor(item(entities, u32(tuples.thread, k)), Purpose.compilation));
}

export function backgroundOf(context: FindingContext): Background {
  const { model, tables } = context;
  const { tuples } = model.raw;
  const { weights } = tables;
  const isOf = compiling(context);
  const its = new Map<number, number>();
  for (let k = 0; k < weights.length; k++)
    if (isBusy(u8(tuples.state, k)) && isOf(k)) addTo(its, u32(tuples.thread, k), f64(weights, k));
  if (its.size === 0) return { threads: new Set(), ns: 0, busyOf: (k) => u16(tuples.busy, k) };
  const work = new Map<number, number>();
  for (let k = 0; k < weights.length; k++) {
    const thread = u32(tuples.thread, k);
    if (its.has(thread) && isBusy(u8(tuples.state, k))) addTo(work, thread, f64(weights, k));
  }
  const main = mainThread(model)?.id;
  const threads = new Set(
    [...its].filter(([id, ns]) => id !== main && ns >= mostly * (work.get(id) ?? 0)).map(([id]) => id),
  );
  const isBackground = (k: number): boolean => threads.has(u32(tuples.thread, k)) && isOf(k);
  // by number of busy processors: elapsed time, and the time for which threads can run whose work is no background
  const elapsed = new Map<number, number>(),
    could = new Map<number, number>(),
    byThread = new Map<string, number>();
  let ns = 0;
  for (let k = 0; k < weights.length; k++) {
    const isAtWork = isBusy(u8(tuples.state, k));
    if (!isAtWork && tuples.state[k] !== State.ready) continue;
    const busy = u16(tuples.busy, k),
      one = f64(weights, k);
    if (isAtWork) addTo(elapsed, busy, one / Math.max(1, busy));
    if (isBackground(k)) ns += one;
    else if (!threads.has(u32(tuples.thread, k))) {
      addTo(could, busy, one);
      addTo(byThread, `${u32(tuples.thread, k)} ${busy}`, one);
    }
  }
  const isMuch = ns >= leastPart * model.elapsedNs;
  const busyOf = (k: number): number => {
    const busy = u16(tuples.busy, k),
      thread = u32(tuples.thread, k);
    if (!isMuch || busy < 2 || threads.has(thread)) return busy;
    const own = item(model.entities, thread).instances <= 1 ? (byThread.get(`${thread} ${busy}`) ?? 0) : 0;
    return Math.min(busy, 1 + ((could.get(busy) ?? 0) - own) / Math.max(1, elapsed.get(busy) ?? 0));
  };
  return isMuch ? { threads, ns, busyOf } : { threads: new Set(), ns: 0, busyOf };
}
