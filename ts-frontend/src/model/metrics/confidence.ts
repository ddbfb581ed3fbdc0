/** Confidence intervals. Formula and argument: docs/reference/model.md, "Confidence intervals". Pure. */
import { item } from '../profile/columns.js';
import type { RawHead } from '../profile/raw-profile.js';
import type { Interval } from '../result/types.js';

const z = 1.959963985;

/**
 * How many snapshots of equal weight the recorded ones are worth (Kish): the square of the sum of their weights over
 * the sum of the squares. A snapshot after a stall stands for all of the stall, but is one look.
 */
export function independentSnapshots(head: RawHead): number {
  const elapsedUs = head.elapsedNs / 1000;
  return head.weightSquaresUs2 > 0 ? (elapsedUs * elapsedUs) / head.weightSquaresUs2 : 0;
}

/**
 * How many snapshots a share of elapsed time is worth that comes from two draws: which part of it the whole has
 * (`share` of `whole`), by as many snapshots, and what of the whole it is, by as many samples of running threads. Both
 * variances add up.
 */
export function independentOfSamples(snapshots: number, samples: number, share: number, whole: number): number {
  if (samples <= 0 || whole >= 1 + share) return snapshots;
  const part = Math.min(1, Math.max(0, (whole - share) / Math.max(1e-9, 1 - share)));
  return 1 / (1 / snapshots + part / samples);
}

/** Wilson's 95 % interval for a mean of n values in [0, 1]; conservative, for their variance is at most p (1 - p). */
export function shareInterval(share: number, n: number): { low: number; high: number } {
  if (n <= 0) return { low: 0, high: 1 };
  const p = Math.min(1, Math.max(0, share));
  const scale = 1 + (z * z) / n;
  const centre = (p + (z * z) / (2 * n)) / scale;
  const half = (z / scale) * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  return { low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

/** Interval of an NPT. Compensation scales both ends as it scaled the NPT itself. */
export function nptInterval(nptNs: number, rawNptNs: number, elapsedNs: number, n: number): Interval {
  if (elapsedNs <= 0) return { lowNs: 0, highNs: 0 };
  const { low, high } = shareInterval(rawNptNs / elapsedNs, n);
  const scale = rawNptNs > 0 ? nptNs / rawNptNs : 1;
  return { lowNs: Math.min(nptNs, low * elapsedNs * scale), highNs: Math.max(nptNs, high * elapsedNs * scale) };
}

/** 97.5 % quantiles of Student's t by degrees of freedom, from 1. */
const quantiles = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];
/** Half of Student's 95 % interval, in standard errors; beyond the table that of its end, a little too wide. */
export const studentQuantile = (freedom: number): number => item(quantiles, Math.min(freedom, quantiles.length) - 1);

/** Of fewer snapshots than this every finding says how sure it is. */
export const fewSnapshots = 100;
