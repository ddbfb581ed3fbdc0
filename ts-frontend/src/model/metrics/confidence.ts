/** Confidence intervals. Formulas and justification: docs/reference/model.md, "Confidence intervals". Pure. */
import { item } from '../profile/columns.js';
import type { RawHead } from '../profile/raw-profile.js';
import type { Interval } from '../result/types.js';

const z = 1.959963985;

/**
 * The number of snapshots of equal weight that carry the same information (Kish's effective sample size): the square of
 * the sum of weights divided by the sum of their squares. A snapshot after a stall has the weight of the whole stall,
 * but is one observation.
 */
export function independentSnapshots(head: RawHead): number {
  const elapsedUs = head.elapsedNs / 1000;
  return head.weightSquaresUs2 > 0 ? (elapsedUs * elapsedUs) / head.weightSquaresUs2 : 0;
}

/**
 * Of observations of what was on the span, the number that carry the same information. Snapshots right after each
 * other, between stalls, show the same; and so do those that are taken while the span's thread waits for a CPU: in the
 * time that the span takes there are only so many snapshots.
 */
export function independentOnSpan(head: RawHead, observations: number): number {
  if (head.snapshots <= 0 || head.elapsedNs <= 0) return observations;
  const independent = independentSnapshots(head);
  return Math.min(
    observations * Math.min(1, independent / head.snapshots),
    independent * Math.min(1, head.spanNs / head.elapsedNs),
  );
}

/**
 * Wilson's 95 % interval for a mean of n values in [0, 1]; conservative, because the variance of such values is at most
 * p (1 - p).
 */
export function shareInterval(share: number, n: number): { low: number; high: number } {
  if (n <= 0) return { low: 0, high: 1 };
  const p = Math.min(1, Math.max(0, share));
  const scale = 1 + (z * z) / n;
  const centre = (p + (z * z) / (2 * n)) / scale;
  const half = (z / scale) * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  return { low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

/** Interval of an NPT. Compensation scales both ends by the same factor as the NPT. */
export function nptInterval(nptNs: number, rawNptNs: number, elapsedNs: number, n: number): Interval {
  if (elapsedNs <= 0) return { lowNs: 0, highNs: 0 };
  const { low, high } = shareInterval(rawNptNs / elapsedNs, n);
  const scale = rawNptNs > 0 ? nptNs / rawNptNs : 1;
  return { lowNs: Math.min(nptNs, low * elapsedNs * scale), highNs: Math.max(nptNs, high * elapsedNs * scale) };
}

/** The inputs for the interval of code that is observed by samples of running threads; times in ns. */
export interface Sampled {
  npt: number;
  rawNpt: number; // before hooks' costs are subtracted
  byBusy: Float64Array; // T_1, T_2, ...
  wholeTime: number; // T of the program
  wholeNpt: number;
  elapsed: number;
  snapshots: number; // effective number, of equal weight
  samples: number;
  unsampled: number; // processor time before threads' first samples
  tolerance: number; // maximum difference between the whole program's processor time and the kernel's count
}

/**
 * Interval of the NPT of code that is observed by samples of running threads, where the kernel's count determines how
 * long the program ran. The code's share of that time is a proportion of the samples; how many threads ran beside it is
 * known from the snapshots that found it running.
 */
export function sampledNptInterval(of: Sampled): Interval {
  let time = 0, // E(1), E(1/b) and E(1/b^2) over the code's running time, multiplied by that time
    once = 0,
    squares = 0;
  for (let k = 0; k < of.byBusy.length; k++) {
    time += item(of.byBusy, k);
    once += item(of.byBusy, k) / (k + 1);
    squares += item(of.byBusy, k) / (k + 1) ** 2;
  }
  if (of.elapsed <= 0 || of.samples <= 0) return { lowNs: 0, highNs: of.elapsed };
  // what the code's share of the known time stands for
  const known = Math.max(0, 1 - of.unsampled / of.wholeTime),
    atMost = (ns: number, most: number): number => (known > 0 ? Math.min(most, ns / known) : most);
  if (once <= 0)
    return {
      lowNs: 0,
      highNs: atMost(of.wholeNpt * shareInterval(0, of.samples).high, Math.min(of.elapsed, of.wholeNpt)),
    };
  const part = Math.min(1, time / of.wholeTime),
    { low, high } = shareInterval(part, of.samples),
    seen = Math.max(1, (of.snapshots * of.rawNpt) / of.elapsed),
    beside = Math.max(0, (squares * time) / once ** 2 - 1) / seen,
    whole = (of.tolerance / of.wholeTime) ** 2 / 3,
    rest = z * z * (beside + whole),
    below = Math.sqrt((1 - low / part) ** 2 + rest),
    above = Math.sqrt((high / part - 1) ** 2 + rest),
    most = Math.max(of.npt, Math.min(of.elapsed, of.wholeNpt * (1 + Math.sqrt(rest))));
  return { lowNs: Math.max(0, of.npt * (1 - below)), highNs: atMost(of.npt * (1 + above), most) };
}

/**
 * The probability that a value of Student's t with that many degrees of freedom lies between -t and t (Abramowitz and
 * Stegun, 26.7.3 and 26.7.4).
 */
function studentWithin(t: number, freedom: number): number {
  const angle = Math.atan(t / Math.sqrt(freedom)),
    square = Math.cos(angle) ** 2;
  let sum = 0,
    term = freedom % 2 === 1 ? Math.cos(angle) : 1;
  for (let k = freedom % 2 === 1 ? 3 : 2; k <= freedom; k += 2) {
    sum += term;
    term *= ((k - 1) / k) * square;
  }
  return freedom % 2 === 1 ? (2 / Math.PI) * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum;
}

const freedomMost = 30; // more degrees of freedom change little

/**
 * The quantile of Student's t, in standard errors, for an interval that misses with that probability; beyond 30 degrees
 * of freedom that of 30, which is slightly too large.
 */
export function studentQuantile(freedom: number, misses = 0.05): number {
  const n = Math.min(freedom, freedomMost);
  let [low, high] = [0, 1];
  while (studentWithin(high, n) < 1 - misses) high *= 2;
  for (let k = 0; k < 60; k++) {
    const middle = (low + high) / 2;
    if (studentWithin(middle, n) < 1 - misses) low = middle;
    else high = middle;
  }
  return high;
}

/**
 * The value that chi-square with that many degrees of freedom exceeds with a probability of 95 % (Wilson & Hilferty
 * 1931; too small by a quarter for 2 degrees of freedom, by 3 % for 4).
 */
export function chiSquareLow(freedom: number): number {
  const variance = 2 / (9 * freedom);
  return freedom * Math.max(0, 1 - variance - 1.644853627 * Math.sqrt(variance)) ** 3;
}

/** With fewer snapshots than this, every finding states its uncertainty. */
export const fewSnapshots = 100;
