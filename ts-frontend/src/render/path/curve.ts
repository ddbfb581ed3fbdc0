/** A prediction and its bounds as a picture: one line of a curve of time over processors. */
import type { Prediction } from '../../model/index.js';
import type { RenderOptions } from '../format/options.js';

const columns = 24; // so that the table has room in 80

/** On an axis from 0 to `wholeNs`: the time, between its two bounds. */
export function curveLine(
  { ns, lowNs, highNs }: Prediction,
  wholeNs: number,
  { ascii }: Pick<RenderOptions, 'ascii'>,
): string {
  if (wholeNs <= 0) return '';
  const [point, line, left, right] = ascii ? ['o', '-', '|', '|'] : ['●', '─', '├', '┤'];
  const at = (time: number): number => Math.max(0, Math.min(columns - 1, Math.round((time / wholeNs) * (columns - 1))));
  const [low, high] = [at(lowNs), at(highNs)];
  const cells = Array.from({ length: high + 1 }, (_, k) => (k < low ? ' ' : line));
  cells[low] = left;
  cells[high] = right;
  cells[at(ns)] = point;
  return cells.join('');
}
