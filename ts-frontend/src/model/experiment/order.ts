/** In which order the runs of an experiment are made. Pure: the caller gives the random numbers. */
import { item } from '../profile/columns.js';

/**
 * For each round the versions 0 to `versions` - 1 in some order: at random in every first round, the other way round in
 * the one that follows it (ABBA), so that what drifts evenly while they run cancels out. random: uniform in [0, 1).
 */
export function orderOf(rounds: number, versions: number, random: () => number): number[][] {
  const orders: number[][] = [];
  while (orders.length < rounds) {
    const order = Array.from({ length: versions }, (_, k) => k);
    for (let k = versions - 1; k > 0; k--) {
      const other = Math.floor(random() * (k + 1));
      [order[k], order[other]] = [item(order, other), item(order, k)];
    }
    orders.push(order, [...order].reverse());
  }
  return orders.slice(0, rounds);
}
