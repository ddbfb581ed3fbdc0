/**
 * Ratios of times that were measured in pairs. Method and justification: docs/guide/measuring.md, "The interval". Pure.
 */
import { item } from '../profile/columns.js';
import { studentQuantile } from '../metrics/confidence.js';
import type { PairedTimes, Ratio, RunTimes } from '../result/experiment.js';

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? item(sorted, half) : (item(sorted, half - 1) + item(sorted, half)) / 2;
}

/**
 * The geometric mean of after / before over pairs, with Student's 95 % interval of the mean of their logarithms. null:
 * fewer than two pairs, or a time that is 0.
 */
export function ratioOf(before: readonly number[], after: readonly number[]): Ratio | null {
  if (before.length < 2 || [...before, ...after].some((value) => value <= 0)) return null;
  const logs = before.map((value, k) => Math.log(item(after, k) / value));
  const centre = mean(logs);
  const variance = logs.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (logs.length - 1);
  const half = studentQuantile(logs.length - 1) * Math.sqrt(variance / logs.length);
  return { ratio: Math.exp(centre), low: Math.exp(centre - half), high: Math.exp(centre + half) };
}

/** At least one pair; before[k] and after[k] ran in the same round. */
export function pairedTimes(before: readonly RunTimes[], after: readonly RunTimes[]): PairedTimes {
  const elapsed = (runs: readonly RunTimes[]): number[] => runs.map(({ elapsedNs }) => elapsedNs);
  const processor = (runs: readonly RunTimes[]): number[] => runs.map(({ userNs, systemNs }) => userNs + systemNs);
  return {
    rounds: before.length,
    beforeNs: median(elapsed(before)),
    afterNs: median(elapsed(after)),
    elapsed: ratioOf(elapsed(before), elapsed(after)),
    processor: ratioOf(processor(before), processor(after)),
  };
}
