/** The buckets in which the sampler counts threads, queue lengths and times (abi/profile.h), as ranges. Pure. */

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

/** Runnable threads: exact up to 64, then 8 buckets for each power of two, known by their lower bound. */
export function runnableRange(lower: number): { from: number; to: number } {
  if (lower < 64) return { from: lower, to: lower };
  const width = 2 ** (Math.floor(Math.log2(lower)) - 3);
  return { from: lower, to: lower + width - 1 };
}

/** Queue lengths: 0..15 exactly, then two buckets for each power of two; the last is open. */
function queueRange(index: number, count: number): { from: number; to: number } {
  if (index < 16) return { from: index, to: index };
  const base = 16 * 2 ** ((index - 16) >> 1);
  const from = (index - 16) % 2 === 0 ? base : base * 1.5;
  return { from, to: index === count - 1 ? Infinity : from + base / 2 - 1 };
}

export function queueDistribution(ns: Float64Array): Bucket[] {
  const out: Bucket[] = [];
  for (let k = 0; k < ns.length; k++) if (ns[k]! > 0) out.push({ ...queueRange(k, ns.length), ns: ns[k]! });
  return out;
}

/** Times: bucket k holds [2^k, 2^(k+1)) ns, the first also 0, the last everything above. */
export function timeDistribution(counts: ArrayLike<number>): TimeBucket[] {
  const out: TimeBucket[] = [];
  for (let k = 0; k < counts.length; k++) {
    if (counts[k]! === 0) continue;
    out.push({ from: k === 0 ? 0 : 2 ** k, to: k === counts.length - 1 ? Infinity : 2 ** (k + 1), count: counts[k]! });
  }
  return out;
}
