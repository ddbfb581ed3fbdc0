/** Renders the result of a gate: one line per rule, and JSON. */
import type { GateResult, Verdict } from '../model/index.js';
import type { RenderOptions } from './format/options.js';
import { clean } from './format/text.js';
import { count, percent, time } from './format/units.js';

const reasons: Record<Verdict, string> = {
  worse: 'more than allowed, and more than runs of one version vary',
  'not-more': 'not more than before',
  'within-floor': 'not more than allowed',
  'within-spread': 'no more than runs of one version vary',
  uncertain: 'the interval contains 0',
};

const signed = (part: number, whole: number): string =>
  `${part < 0 ? '-' : '+'}${whole > 0 ? percent(Math.abs(part), whole) : 'new'}`;

export function gateLine(result: GateResult, options: Pick<RenderOptions, 'ascii'>): string {
  const { rule, before, after, change, ci95, verdict } = result;
  const value = (number: number): string => (rule.metric === 'calls' ? count(number) : time(number, options));
  const arrow = options.ascii ? '->' : '→';
  const runs = before.values.length + after.values.length;
  const part = (number: number): string => signed(number, before.mean);
  const spread = percent(Math.max(before.spread, after.spread), before.mean || after.mean);
  const sure = runs > 2 ? `, 95 % interval ${part(ci95.low)} to ${part(ci95.high)}, runs vary by ${spread}` : '';
  const values = `${value(before.mean)} ${arrow} ${value(after.mean)} (${part(change)}${sure})`;
  return clean(`${verdict === 'worse' ? 'FAIL' : 'ok  '} ${rule.text}: ${values}: ${reasons[verdict]}`, options);
}

export const gateSchema = 'quartz-gate-1';

export const gatesJson = (results: readonly GateResult[]): string =>
  `${JSON.stringify({
    schema: gateSchema,
    failed: results.filter(({ verdict }) => verdict === 'worse').length,
    rules: results.map(({ rule, before, after, change, ci95, floor, verdict }) => ({
      rule: rule.text,
      metric: rule.metric,
      name: rule.name,
      before: before.values,
      after: after.values,
      change,
      ci95,
      floor,
      verdict,
    })),
  })}\n`;
