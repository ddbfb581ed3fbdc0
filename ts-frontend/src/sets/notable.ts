/** Selects the ranks whose findings a set keeps: the ones that readers ask about first. Pure functions. */
import { item } from '../model/index.js';
import type { RowOf } from './tables.js';

/** The maximum number: computing the findings of a rank takes about 50 ms. */
const mostNotable = 16;

/** All ranks of a small set; otherwise the ones with the most, the least and the median work, and the outliers. */
export function notableMembers(ranks: readonly RowOf<'ranks'>[], outliers: readonly RowOf<'outliers'>[]): number[] {
  if (ranks.length <= mostNotable) return ranks.map(({ member }) => member);
  const order = [...ranks].sort((a, b) => b.useful_ns - a.useful_ns || a.member - b.member);
  const ends = [0, order.length - 1, Math.floor(order.length / 2)].map((place) => item(order, place).member);
  return [...new Set([...ends, ...outliers.map(({ member }) => member)])].slice(0, mostNotable);
}
