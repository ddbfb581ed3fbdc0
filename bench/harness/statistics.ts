/**
 * Medians and their intervals. Nothing here assumes a distribution: timings have long tails.
 *
 * Sources: order statistics as limits of a median, and the Mann-Whitney interval for two samples, as in W. J. Conover,
 * Practical Nonparametric Statistics, 3rd ed., sections 3.1 and 5.4.
 */

/**
 * An estimate, its limits, and the probability with which the limits hold (0.95 or more if there are enough samples).
 */
export interface Estimate {
  value: number;
  low: number;
  high: number;
  coverage: number;
}

export const ascending = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

export function median(values: readonly number[]): number {
  const sorted = ascending(values);
  const half = sorted.length >> 1;
  if (sorted.length === 0) return NaN;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

export const geometricMean = (values: readonly number[]): number =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

/**
 * How many values to leave out at each end of n sorted ones so that the rest still spans the median with the wanted
 * probability, and that probability. If even the whole range does not reach it, none are left out.
 */
export function medianRank(n: number, wanted = 0.95): { skip: number; coverage: number } {
  let tail = 2 ** -n; // P(binomial(n, 1/2) <= skip)
  let term = tail;
  let skip = 0;
  let coverage = 1 - 2 * tail;
  for (let k = 1; 2 * k < n; k++) {
    term = (term * (n - k + 1)) / k;
    tail += term;
    if (1 - 2 * tail < wanted) break;
    skip = k;
    coverage = 1 - 2 * tail;
  }
  return { skip, coverage: Math.max(0, coverage) };
}

/** The median and its interval from order statistics. */
export function estimate(values: readonly number[], wanted = 0.95): Estimate {
  const sorted = ascending(values);
  const { skip, coverage } = medianRank(sorted.length, wanted);
  return { value: median(sorted), low: sorted[skip] ?? NaN, high: sorted[sorted.length - 1 - skip] ?? NaN, coverage };
}

/** a over b, where a[k] and b[k] were measured side by side: the median of their ratios. */
export const pairedRatio = (a: readonly number[], b: readonly number[], wanted = 0.95): Estimate =>
  estimate(
    Array.from({ length: Math.min(a.length, b.length) }, (_, k) => a[k]! / b[k]!),
    wanted,
  );

/** P(U <= u) for u = 0, 1, ..., if two samples of n and m come from one distribution (Mann-Whitney's U). */
export function mannWhitney(n: number, m: number): number[] {
  // ways[j][u]: orders of the first i of one sample with j of the other that give u; grown by one of the first at a
  // time
  let ways: number[][] = Array.from({ length: m + 1 }, () => [1]);
  for (let i = 1; i <= n; i++) {
    const next: number[][] = [[1]];
    for (let j = 1; j <= m; j++) {
      // The last in order is either one of the first sample, above j of the other, or one of the other.
      const row = new Array<number>(i * j + 1).fill(0);
      ways[j]!.forEach((count, u) => {
        row[u + j]! += count;
      });
      next[j - 1]!.forEach((count, u) => {
        row[u]! += count;
      });
      next.push(row);
    }
    ways = next;
  }
  const counts = ways[m]!;
  const all = counts.reduce((sum, count) => sum + count, 0);
  let sum = 0;
  return counts.map((count) => (sum += count) / all);
}

/** a over b, if they were measured separately: the median of all ratios, and the Mann-Whitney interval. */
export function independentRatio(a: readonly number[], b: readonly number[], wanted = 0.95): Estimate {
  const ratios = ascending(a.flatMap((x) => b.map((y) => x / y)));
  const tails = mannWhitney(a.length, b.length);
  let skip = 0;
  while (2 * (skip + 1) < ratios.length && 1 - 2 * tails[skip + 1]! >= wanted) skip++;
  const coverage = Math.max(0, 1 - 2 * tails[skip]!);
  return { value: median(ratios), low: ratios[skip] ?? NaN, high: ratios[ratios.length - 1 - skip] ?? NaN, coverage };
}
