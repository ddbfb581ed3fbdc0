/** Numbers as the live screen shows them: the reports' formats (one definition), in the widths of narrow columns. */
import * as units from '../../../ts-frontend/src/render/format/units.js';

/** A character other than ASCII takes one cell, too; on terminals without Unicode it is replaced when drawn. */
export const time = (ns: number): string => (Number.isFinite(ns) ? units.time(ns, { ascii: false }) : '-');
export const digits = units.figure;
export const rate = units.rate;
export const percent = (share: number): string =>
  Number.isFinite(share) ? `${share < 0 ? '-' : ''}${units.percent(Math.abs(share), 1)}` : '-';
/** Exact up to 99,999; larger numbers with three digits and a factor. */
export function count(value: number): string {
  if (value < 100000) return units.count(value);
  for (const [size, letter] of [
    [1e3, 'k'],
    [1e6, 'M'],
    [1e9, 'G'],
  ] as const) {
    if (value < 999.5 * size) return `${units.figure(value / size)}${letter}`;
  }
  return `${units.figure(value / 1e12)}T`;
}
