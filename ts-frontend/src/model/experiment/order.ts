/** The order in which the runs of an experiment are made. Pure: the caller supplies the random numbers. */
import { item } from '../profile/columns.js';

/**
 * For each round, the versions 0 to `versions` - 1 in some order: random in every first round of a pair, and reversed
 * in the second one (ABBA), so that a steady drift cancels out. random: returns uniform values in [0, 1).
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
