/**
 * Determines whether values come from one mode or from several: the dip test (Hartigan and Hartigan 1985, The Annals of
 * Statistics 13:70; algorithm: Hartigan 1985, Applied Statistics 34:320). Pure.
 */
import { item } from '../profile/columns.js';

/** The slope of the empirical distribution from one value to a later one. */
function slope(x: readonly number[], from: number, to: number): number {
  const run = item(x, to) - item(x, from);
  return run > 0 ? (to - from) / run : Infinity;
}

/**
 * Corners, as indices, of the greatest convex function below the values from..to of the distribution (sign 1), or of
 * the least concave one above them (sign -1).
 */
function hull(x: readonly number[], from: number, to: number, sign: 1 | -1): number[] {
  const corners: number[] = [];
  for (let k = from; k <= to; k++) {
    while (corners.length >= 2) {
      const [a, b] = [item(corners, corners.length - 2), item(corners, corners.length - 1)];
      if (sign * slope(x, a, b) < sign * slope(x, b, k)) break;
      corners.pop();
    }
    corners.push(k);
  }
  return corners;
}

/** Height of a hull at value `k`, as a number of values. */
function heightAt(x: readonly number[], corners: readonly number[], k: number): number {
  const next = corners.findIndex((corner) => corner >= k);
  const b = item(corners, next);
  if (b === k) return k;
  const a = item(corners, next - 1);
  const run = item(x, b) - item(x, a);
  return run > 0 ? a + ((item(x, k) - item(x, a)) * (b - a)) / run : a;
}

/**
 * The dip of sorted values: the greatest distance between their distribution and the nearest one with a single mode,
 * from 1 / 2n to 1 / 4.
 */
export function dipOf(x: readonly number[]): number {
  const n = x.length;
  let low = 0,
    high = n - 1,
    most = 1; // twice the dip, as a number of values
  while (low < high) {
    const below = hull(x, low, high, 1),
      above = hull(x, low, high, -1);
    let gap = 0,
      from = low,
      to = high;
    for (const [own, corners] of [
      [below, below],
      [above, above],
    ] as const)
      for (const k of corners) {
        const distance = heightAt(x, above, k) + 1 - heightAt(x, below, k);
        if (distance <= gap) continue;
        gap = distance;
        from =
          own === below
            ? k
            : item(
                below,
                below.findLastIndex((corner) => corner <= k),
              );
        to =
          own === above
            ? k
            : item(
                above,
                above.findIndex((corner) => corner >= k),
              );
      }
    if (gap <= most) break;
    for (let k = low; k <= from; k++) most = Math.max(most, k + 1 - heightAt(x, below, k));
    for (let k = to; k <= high; k++) most = Math.max(most, heightAt(x, above, k) + 1 - k);
    if (from === low && to === high) break;
    low = from;
    high = to;
  }
  return n === 0 ? 0 : most / (2 * n);
}
