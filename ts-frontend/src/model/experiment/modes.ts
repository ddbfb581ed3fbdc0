/**
 * Whether the recorded runs of a program fall into two modes, a fast and a slow one. Rule and its rate of false alarms:
 * docs/guide/measuring.md, "Two modes". Pure.
 */
import { item } from '../profile/columns.js';
import { dipOf } from './dip.js';
import { median } from './paired.js';
import type { Mode, Modes } from '../result/experiment.js';

/** With fewer runs two modes cannot be distinguished from chance. */
export const leastForModes = 5;
/** A mode has so many runs at least. */
const leastOfMode = 2;
/** And so many where a gap alone makes two, which is so many times as wide as the spread of either side. */
const leastBesideGap = 3;
const wideGap = 2;
const widest = 1000;

/**
 * The dip that uniform values exceed once in 20 times, times the square root of their number: by 6,000 to 200,000 draws
 * for each number of values.
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

/** The greatest dip of so many runs that is no sign of two modes. */
export function criticalDip(runs: number): number {
  const next = scaled.findIndex(([n]) => n >= runs);
  const [n, critical] = item(scaled, next < 0 ? scaled.length - 1 : next);
  const [before, lower] = item(scaled, Math.max(0, next - 1));
  const between = next > 0 ? lower + ((critical - lower) * (runs - before)) / (n - before) : critical;
  return between / Math.sqrt(runs);
}

/** The place in sorted values that leaves both sides least spread: the number of values of the lower side. */
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

/** A gap between sorted values, in spreads (greatest less least value) of the side that is spread more. */
function gapBefore(values: readonly number[], at: number): number {
  const spread = Math.max(item(values, at - 1) - item(values, 0), item(values, values.length - 1) - item(values, at));
  const gap = item(values, at) - item(values, at - 1);
  return gap < widest * spread ? gap / spread : gap > 0 ? widest : 0;
}

/** Where sorted values have the relatively widest gap with enough on both sides; undefined: there are too few. */
function widestGap(values: readonly number[]): number | undefined {
  const places = Array.from({ length: values.length }, (_, k) => k).slice(leastBesideGap, 1 - leastBesideGap);
  return places.sort((a, b) => gapBefore(values, b) - gapBefore(values, a))[0];
}

export interface RunForModes {
  number: number; // in the order in which they ran
  elapsedNs: number; // above 0
  othersNs: number; // for which other programs kept its threads waiting for CPUs
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The run of a mode whose elapsed time is the median, or the next one below. */
export function middleOf(runs: readonly RunForModes[]): RunForModes {
  const sorted = [...runs].sort((a, b) => a.elapsedNs - b.elapsedNs || a.number - b.number);
  return item(sorted, (sorted.length - 1) >> 1);
}

/** null: one mode, or too few runs to know. Names of profiles are the caller's to fill in. */
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
