/**
 * Threads that keep a pace: their sleeps end at equal intervals although they are not equally long, so each lasts until
 * a point in time (the next frame), however long the work before it took (docs/reference/findings.md, "Paces"). Pure
 * functions.
 */
import type { RawProfile, RawThread } from '../../profile/raw-profile.js';
import type { FindingContext } from '../context.js';
import { mainThread } from './critical-threads.js';

export interface Pace {
  count: number; // number of intervals
  everyNs: number; // mean interval between the ends of two sleeps, and its standard deviation
  everySdNs: number;
  lengthNs: number; // mean length of the sleeps, and its standard deviation
  lengthSdNs: number;
}

/** With fewer intervals, nothing is known of how they vary. */
const leastIntervals = 20;
/**
 * Lengths must vary by more than this multiple of what looking at them only now and then adds to their variance, and
 * intervals by less than this part of the variance of the lengths.
 */
const leastVaried = 2,
  mostVaried = 1 / 9;

function varianceOf(count: number, sum: number, squares: number): number {
  return Math.max(0, squares / count - (sum / count) ** 2);
}

/**
 * Each begin and end is known to half the time between two looks: both are uniformly distributed, so that their
 * difference has the variance `lookUs`^2 / 6 besides its own.
 */
function paceOf({ sleeps, intervalUs, intervalUs2, lengthUs, lengthUs2 }: RawThread, lookUs: number): Pace | null {
  if (sleeps < leastIntervals) return null;
  const seen = lookUs ** 2 / 6;
  const interval = Math.max(0, varianceOf(sleeps, intervalUs, intervalUs2) - seen),
    length = Math.max(0, varianceOf(sleeps, lengthUs, lengthUs2) - seen);
  if (length < leastVaried * seen || interval > mostVaried * length) return null;
  return {
    count: sleeps,
    everyNs: (intervalUs / sleeps) * 1000,
    everySdNs: Math.sqrt(interval) * 1000,
    lengthNs: (lengthUs / sleeps) * 1000,
    lengthSdNs: Math.sqrt(length) * 1000,
  };
}

/** By thread. */
export function pacesOf({ threads, head }: Pick<RawProfile, 'threads' | 'head'>): Map<number, Pace> {
  const lookUs = head.elapsedNs / Math.max(1, head.snapshots) / 1000;
  const paces = new Map<number, Pace>();
  for (const thread of threads) {
    const pace = paceOf(thread, lookUs);
    if (pace) paces.set(thread.entity, pace);
  }
  return paces;
}

/** The least share of the run that the pace covers, or for which main waits while another thread keeps one. */
const nearlyAll = 0.9;

/**
 * The thread that keeps a pace for nearly all of the run: main, or one while main waits. As long as it is not late, no
 * work that becomes less shortens the run. 0: there is none.
 */
export function setByPace({ model }: FindingContext): number {
  const main = mainThread(model);
  const waits = (main?.states.blocked.ns ?? 0) >= nearlyAll * model.elapsedNs;
  for (const [thread, { count, everyNs }] of pacesOf(model.raw))
    if (count * everyNs >= nearlyAll * model.elapsedNs && (thread === main?.id || waits)) return thread;
  return 0;
}
