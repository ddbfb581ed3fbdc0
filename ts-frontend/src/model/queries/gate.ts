/**
 * Gates for CI: whether a number has grown between two sets of runs by more than a floor, and by more than runs of the
 * same version differ. Rules and formulas: docs/reference/gates.md. Pure.
 */
import { chiSquareLow, studentQuantile } from '../metrics/confidence.js';
import type { Entity, Model } from '../result/types.js';

export const gateMetrics = ['elapsed', 'npt', 'self', 'time', 'idle', 'waited', 'calls'] as const;
type GateMetric = (typeof gateMetrics)[number];

export interface GateRule {
  text: string; // as the user wrote it
  metric: GateMetric;
  name: string; // name of the entity; '' for elapsed
  /** The tolerated increase: a fraction of the value before, ns, or calls. */
  floor: { of: 'before' | 'ns' | 'count'; amount: number };
}

/** Describes the mistake in a rule, as a clause. */
export class GateError extends Error {}

const units: Readonly<Record<string, number>> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 };

/** "npt(work) > 5 %", "waited(mutex queue) > 10 ms", "calls(work) > 0", "elapsed > 3 %" */
export function gateRule(text: string): GateRule {
  const parts = /^\s*(\w+)\s*(?:\((.*)\))?\s*>\s*(\d+\.?\d*)\s*(%|[nuµm]?s)?\s*$/s.exec(text);
  if (parts === null) throw new GateError('it is no rule; write METRIC(NAME) > NUMBER UNIT');
  const [, word = '', name, number = '', unit = ''] = parts;
  const metric = gateMetrics.find((one) => one === word);
  if (metric === undefined) throw new GateError(`there is no metric "${word}"; there are ${gateMetrics.join(', ')}`);
  if (metric === 'elapsed' && name !== undefined) throw new GateError('elapsed is of the whole run: it takes no name');
  if (metric !== 'elapsed' && (name ?? '').trim() === '')
    throw new GateError(`${metric} of what? write ${metric}(NAME)`);
  const amount = Number(number);
  if (unit === '' && amount !== 0 && metric !== 'calls')
    throw new GateError('its number has no unit: %, ns, us, ms or s');
  if (unit !== '' && unit !== '%' && metric === 'calls') throw new GateError('calls are counted: write % or no unit');
  const floor: GateRule['floor'] =
    unit === '%'
      ? { of: 'before', amount: amount / 100 }
      : metric === 'calls'
        ? { of: 'count', amount }
        : { of: 'ns', amount: amount * (units[unit] ?? 1) };
  return { text: text.trim(), metric, name: (name ?? '').trim(), floor };
}

export interface GateValue {
  value: number;
  // standard deviation within the run; 0 if the value is measured, counted, or its deviation is not known
  deviation: number;
}
const exactly = (value: number): GateValue => ({ value, deviation: 0 });
/** Half of a 95 % interval, in standard deviations. */
const z = 1.959963985;

const ratio = (part: number, whole: number): number => (whole > 0 ? part / whole : 0);

/** What none of n snapshots shows is with a probability of 95 % below 3 / n of the run. */
const unseen = ({ elapsedNs, samples }: Model): GateValue => ({
  value: 0,
  deviation: (elapsedNs * Math.min(1, 3 / Math.max(1, samples))) / z,
});

/** The value of a metric in one run; 0 if the entity does not exist. null: it was not counted. */
export function gateValue(model: Model, metric: GateMetric, entity: Entity | null): GateValue | null {
  // Elapsed time is uncertain by as much as other programs delayed the run.
  if (metric === 'elapsed') return { value: model.elapsedNs, deviation: model.cpuWait.othersNs };
  if (entity === null) return metric === 'calls' ? exactly(0) : unseen(model);
  const deviation = (entity.ci95.highNs - entity.ci95.lowNs) / 2 / z;
  // The same samples make up the entity's other times: they have its relative deviation; a part of it has a larger one.
  const sampled = (value: number): GateValue => ({
    value,
    deviation: deviation * ratio(value, entity.nptNs),
  });
  switch (metric) {
    case 'npt':
      return { value: entity.nptNs, deviation };
    case 'self':
      return { value: entity.nptSelfNs, deviation: deviation * Math.sqrt(ratio(entity.nptSelfNs, entity.nptNs)) };
    case 'time':
      return sampled(entity.processorTimeNs);
    case 'idle':
      return sampled(entity.idlenessNs);
    case 'waited':
      return entity.object === null ? null : exactly(entity.object.waitNs);
    case 'calls':
      return entity.callsCounted ? exactly(entity.calls) : null;
  }
}

interface GateSide {
  values: readonly number[]; // one value for each run
  mean: number;
  spread: number; // standard deviation of the values; 0 for a single one
}
/** The result of a gate: `worse`, or why it is not worse. */
export type Verdict = 'worse' | 'not-more' | 'within-floor' | 'within-spread' | 'uncertain';
export interface GateResult {
  rule: GateRule;
  before: GateSide;
  after: GateSide;
  change: number; // difference of the means
  // of the change, from the variation between runs (Welch 1947), including that of sampling
  ci95: { low: number; high: number };
  floor: number; // in the metric's unit
  verdict: Verdict;
}

/** The least number of runs on each side from which their variation can be estimated. */
export const leastRuns = 3;

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
function sideOf(runs: readonly GateValue[]): GateSide {
  const values = runs.map(({ value }) => value);
  const m = mean(values),
    n = values.length;
  const variance = n < 2 ? 0 : values.reduce((sum, value) => sum + (value - m) ** 2, 0) / (n - 1);
  return { values, mean: m, spread: Math.sqrt(variance) };
}
/**
 * Variance of the mean: that between runs, but at least that within runs, since few runs may be similar by chance. The
 * runs themselves limit it: a variance that is too large to be theirs (95 %) does not count. Equal runs are copies of
 * one, and limit nothing.
 */
function varianceOf(runs: readonly GateValue[], { spread }: GateSide): number {
  const n = runs.length,
    ofRuns = spread ** 2,
    within = mean(runs.map(({ deviation }) => deviation ** 2)),
    most = ofRuns === 0 ? Infinity : (ofRuns * (n - 1)) / chiSquareLow(n - 1);
  return Math.max(ofRuns, Math.min(within, most)) / n;
}

/**
 * Each side has at least one run; with fewer than `leastRuns`, only exact counts should be compared. `rules`: how many
 * rules are judged together; the intervals of all of them miss with a probability of 5 % (Bonferroni).
 */
export function evaluateGate(
  rule: GateRule,
  before: readonly GateValue[],
  after: readonly GateValue[],
  rules = 1,
): GateResult {
  const a = sideOf(before);
  const b = sideOf(after);
  const change = b.mean - a.mean;
  const half = halfInterval(varianceOf(before, a), before.length, varianceOf(after, b), after.length, 0.05 / rules);
  const floor = rule.floor.of === 'before' ? rule.floor.amount * a.mean : rule.floor.amount;
  const verdict: Verdict =
    change <= 0
      ? 'not-more'
      : change <= floor
        ? 'within-floor'
        : change <= Math.max(a.spread, b.spread)
          ? 'within-spread'
          : change - half <= 0
            ? 'uncertain'
            : 'worse';
  return { rule, before: a, after: b, change, ci95: { low: change - half, high: change + half }, floor, verdict };
}

/**
 * Half of Welch's interval of a difference of means that misses with that probability; degrees of freedom by
 * Satterthwaite, rounded down.
 */
function halfInterval(va: number, na: number, vb: number, nb: number, misses: number): number {
  const variance = va + vb;
  if (variance <= 0) return 0;
  const freedom = variance ** 2 / ((na > 1 ? va ** 2 / (na - 1) : 0) + (nb > 1 ? vb ** 2 / (nb - 1) : 0));
  return studentQuantile(Math.max(1, Math.floor(freedom + 1e-9)), misses) * Math.sqrt(variance);
}
