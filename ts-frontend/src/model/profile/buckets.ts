/** The buckets in which the sampler counts threads, queue lengths and times (abi/profile_rows.h), as ranges. Pure. */
import { f64, item } from './columns.js';
import { queueBuckets, runnableBuckets } from './abi.js';

/**
 * Elapsed time (times threads) for values from `from` to `to`, both included. `to` is Infinity in a last, open bucket.
 */
export interface Bucket {
  from: number;
  to: number;
  ns: number;
}
/** How many events took from `from` to below `to` ns. */
export interface TimeBucket {
  from: number;
  to: number;
  count: number;
}

/** The range of the bucket that begins at `lower`. */
function rangeFrom(lower: number, { exact, parts }: { exact: number; parts: number }): { from: number; to: number } {
  const width = lower < exact ? 1 : 2 ** Math.floor(Math.log2(lower)) / parts;
  return { from: lower, to: lower + width - 1 };
}

/** Range of a bucket of runnable threads, which is identified by its lower bound. */
export const runnableRange = (lower: number): { from: number; to: number } => rangeFrom(lower, runnableBuckets);

/** Range of a bucket of queue lengths, which is identified by its index; the last one is open. */
function queueRange(index: number, count: number): { from: number; to: number } {
  const { exact, parts } = queueBuckets;
  const beyond = index - exact;
  const lower = beyond < 0 ? index : (exact * 2 ** Math.floor(beyond / parts) * (parts + (beyond % parts))) / parts;
  const range = rangeFrom(lower, queueBuckets);
  return index === count - 1 ? { ...range, to: Infinity } : range;
}

export function queueDistribution(ns: Float64Array): Bucket[] {
  const out: Bucket[] = [];
  for (let k = 0; k < ns.length; k++) if (f64(ns, k) > 0) out.push({ ...queueRange(k, ns.length), ns: f64(ns, k) });
  return out;
}

/** The distribution of times: bucket k holds [2^k, 2^(k+1)) ns, the first also 0, the last everything above. */
export function timeDistribution(counts: ArrayLike<number>): TimeBucket[] {
  const out: TimeBucket[] = [];
  for (let k = 0; k < counts.length; k++) {
    if (item(counts, k) === 0) continue;
    out.push({
      from: k === 0 ? 0 : 2 ** k,
      to: k === counts.length - 1 ? Infinity : 2 ** (k + 1),
      count: item(counts, k),
    });
  }
  return out;
}
