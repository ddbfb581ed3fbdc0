/**
 * Determines whether the recorded runs of a program fall into two modes, a fast and a slow one. The rule and its rate
 * of false alarms: docs/guide/measuring.md, "Two modes". Pure.
 */
import { item } from '../profile/columns.js';
import { dipOf } from './dip.js';
import { median } from './paired.js';
import type { Mode, Modes } from '../result/experiment.js';

/** With fewer runs two modes cannot be distinguished from chance. */
export const leastForModes = 5;
/** The least number of runs in a mode. */
const leastOfMode = 2;
/**
 * The least number of runs in a mode if modes are detected by the gap alone, which must be at least `wideGap` times as
 * wide as the larger spread of the two modes.
 */
const leastBesideGap = 3;
const wideGap = 2;
const widest = 1000;

/**
 * The dip that uniformly distributed values exceed in 1 of 20 cases, multiplied by the square root of their number;
 * determined from 6,000 to 200,000 draws for each number of values.
 */
const scaled: readonly (readonly [runs: number, critical: number])[] = [
  [5, 0.4171],
  [6, 0.4033],
  [7, 0.4232],
  [8, 0.4352],
  [9, 0.4402],
  [10, 0.4411],
  [12, 0.4507],
  [15, 0.4595],
  [20, 0.471],
  [30, 0.484],
  [50, 0.4973],
  [100, 0.5114],
  [200, 0.5255],
];

/** The critical dip for this number of runs: a larger one indicates two modes. */
export function criticalDip(runs: number): number {
  const next = scaled.findIndex(([n]) => n >= runs);
  const [n, critical] = item(scaled, next < 0 ? scaled.length - 1 : next);
  const [before, lower] = item(scaled, Math.max(0, next - 1));
  const between = next > 0 ? lower + ((critical - lower) * (runs - before)) / (n - before) : critical;
  return between / Math.sqrt(runs);
}

/**
 * Divides sorted values so that the sum of squared deviations on both sides is minimal; returns the number of values on
 * the lower side.
 */
function split(values: readonly number[]): number {
  const spread = (part: readonly number[]): number => {
    const mean = part.reduce((sum, value) => sum + value, 0) / part.length;
    return part.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  };
  let best = leastOfMode,
    least = Infinity;
  for (let k = leastOfMode; k <= values.length - leastOfMode; k++) {
    const both = spread(values.slice(0, k)) + spread(values.slice(k));
    if (both >= least) continue;
    least = both;
    best = k;
  }
  return best;
}

/**
 * The gap before a value of sorted ones, as a multiple of the larger spread (maximum minus minimum) of the two sides.
 */
function gapBefore(values: readonly number[], at: number): number {
  const spread = Math.max(item(values, at - 1) - item(values, 0), item(values, values.length - 1) - item(values, at));
  const gap = item(values, at) - item(values, at - 1);
  return gap < widest * spread ? gap / spread : gap > 0 ? widest : 0;
}

/**
 * The position of the relatively widest gap in sorted values, with enough values on both sides; undefined: there are
 * too few values.
 */
function widestGap(values: readonly number[]): number | undefined {
  const places = Array.from({ length: values.length }, (_, k) => k).slice(leastBesideGap, 1 - leastBesideGap);
  return places.sort((a, b) => gapBefore(values, b) - gapBefore(values, a))[0];
}

export interface RunForModes {
  number: number; // number of the run, in the order of execution
  elapsedNs: number; // above 0
  othersNs: number; // time for which other programs kept its threads waiting for CPUs
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The run of a mode with the median elapsed time, or the lower of the two in the middle. */
export function middleOf(runs: readonly RunForModes[]): RunForModes {
  const sorted = [...runs].sort((a, b) => a.elapsedNs - b.elapsedNs || a.number - b.number);
  return item(sorted, (sorted.length - 1) >> 1);
}

/** null: one mode, or too few runs. The caller fills in the names of profiles. */
export function modesOf(runs: readonly RunForModes[]): Modes | null {
  if (runs.length < leastForModes) return null;
  const sorted = [...runs].sort((a, b) => a.elapsedNs - b.elapsedNs);
  const logs = sorted.map(({ elapsedNs }) => Math.log(elapsedNs));
  const dip = dipOf(logs),
    critical = criticalDip(runs.length);
  const between = widestGap(logs);
  const apart = between !== undefined && gapBefore(logs, between) >= wideGap;
  if (dip <= critical && !apart) return null;
  const at = apart ? between : split(logs);
  const fast = sorted.slice(0, at),
    slow = sorted.slice(at);
  const mode = (part: readonly RunForModes[]): Mode => ({
    runs: part.map(({ number }) => number).sort((a, b) => a - b),
    medianNs: median(part.map(({ elapsedNs }) => elapsedNs)),
    profile: null,
  });
  const [quick, late] = [mode(fast), mode(slow)];
  const precedes = (first: Mode, second: Mode): boolean => Math.max(...first.runs) < Math.min(...second.runs);
  const waited = (part: readonly RunForModes[]): number => mean(part.map(({ othersNs }) => othersNs));
  return {
    dip,
    critical,
    gap: gapBefore(logs, at),
    apart,
    fast: quick,
    slow: late,
    inOrder: precedes(quick, late) || precedes(late, quick),
    othersMayCause: waited(slow) - waited(fast) >= (late.medianNs - quick.medianNs) / 2,
  };
}
