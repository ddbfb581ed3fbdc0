/** Histograms over the number of concurrently busy processors: in one table cell, or as in the paper's Figure 1. */
import { defined, item } from '../../model/index.js';
import type { RenderOptions } from '../format/options.js';
import { cut, paint, type Tone } from '../format/text.js';
import { time } from '../format/units.js';

const blocks = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const plain = [' ', '.', ':', '-', '=', '+', '*', '#', '@'];

/** Merges adjacent bins so that at most `most` remain. `from` and `to` are numbers of processors. */
export function bins(byBusy: ArrayLike<number>, most: number): { from: number; to: number; ns: number }[] {
  const size = Math.max(1, Math.ceil(byBusy.length / Math.max(1, most)));
  const result: { from: number; to: number; ns: number }[] = [];
  for (let start = 0; start < byBusy.length; start += size) {
    const end = Math.min(start + size, byBusy.length);
    let ns = 0;
    for (let index = start; index < end; index++) ns += item(byBusy, index);
    result.push({ from: start + 1, to: end, ns });
  }
  return result;
}

/** One character per bin, scaled to the highest one; bins that are not zero are always visible. */
export function spark(byBusy: ArrayLike<number>, most: number, options: Pick<RenderOptions, 'ascii'>): string {
  const all = bins(byBusy, most);
  const top = Math.max(...all.map(({ ns }) => ns));
  const glyphs = options.ascii ? plain : blocks;
  return all.map(({ ns }) => item(glyphs, ns <= 0 ? 0 : Math.max(1, Math.round((8 * ns) / top)))).join('');
}

export interface Layer {
  name: string;
  byBusyNs: ArrayLike<number>;
}
const fills = ['█', '▒', '▓', '░', '▞', '▪'];
const plainFills = ['#', 'o', '+', '.', '=', '*'];
export const mostLayers = fills.length;
const tones: Tone[] = ['part0', 'part1', 'part2', 'part3', 'part4', 'part5'];

/** The character that a layer is drawn with, in the chart and in the legend of the table below it. */
export const sign = (layer: number, options: RenderOptions): string =>
  paint((options.ascii ? plainFills : fills)[layer] ?? ' ', tones[layer] ?? 'dim', options);

/** A bar chart of NPT_i; each bar consists of layers, from the bottom up. */
export function chart(layers: readonly Layer[], height: number, options: RenderOptions): string[] {
  const processors = layers[0]?.byBusyNs.length ?? 0;
  if (processors === 0) return [];
  const axis = 9;
  const binned = layers.map(({ byBusyNs }) => bins(byBusyNs, Math.max(1, Math.floor((options.width - axis - 2) / 2))));
  const spans = item(binned, 0);
  const totals = spans.map((_, bar) => binned.reduce((sum, layer) => sum + item(layer, bar).ns, 0));
  const top = Math.max(...totals);
  if (top <= 0) return [];
  const cell = Math.max(2, Math.min(8, Math.floor((options.width - axis - 2) / spans.length)));
  const bar = Math.max(1, cell - 1);
  // The layers' upper bounds in cells. Rounding the cumulative sums keeps rounding errors from adding up.
  const columns = totals.map((total, index) => {
    const cells = Math.round((height * total) / top);
    const filled: number[] = [];
    let below = 0;
    binned.forEach((layer, number) => {
      below += item(layer, index).ns;
      const upTo = total <= 0 ? 0 : Math.round((cells * below) / total);
      while (filled.length < upTo) filled.push(number);
    });
    return filled;
  });
  const vertical = options.ascii ? '|' : '│';
  const lines: string[] = [];
  for (let row = height - 1; row >= 0; row--) {
    const mark =
      row === height - 1
        ? time(top, options)
        : row === Math.floor(height / 2) - 1
          ? time((top * (row + 1)) / height, options)
          : '';
    const cells = columns.map((filled, index) => {
      const layer = filled[row];
      // A bar that is not zero but less than a cell is drawn as a line on the axis.
      if (row === 0 && layer === undefined && item(totals, index) > 0)
        return ' '.repeat(cell - bar) + (options.ascii ? '_' : '▁').repeat(bar);
      return (
        ' '.repeat(cell - bar) +
        (layer === undefined
          ? ' '.repeat(bar)
          : sign(layer, options).replace(/[^\u001b[\];0-9m]/u, (one) => one.repeat(bar)))
      );
    });
    lines.push(`${mark.padStart(axis - 1)} ${vertical}${cells.join('').trimEnd()}`);
  }
  const horizontal = options.ascii ? '-' : '─';
  lines.push(`${' '.repeat(axis)}${options.ascii ? '+' : '└'}${horizontal.repeat(cell * spans.length)}`);
  lines.push(`${' '.repeat(axis + 1)}${axisLabels(spans, cell)}`);
  lines.push(' '.repeat(axis + 1) + cut('concurrently busy processors', options.width - axis - 1, options));
  return lines;
}

/** As many labels as fit without touching; always the first and the last. */
function axisLabels(spans: readonly { from: number; to: number }[], cell: number): string {
  const texts = spans.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`));
  const line = Array.from({ length: cell * spans.length }, () => ' ');
  const put = (index: number): boolean => {
    const text = item(texts, index);
    const end = (index + 1) * cell;
    const start = Math.max(0, end - text.length);
    for (let at = Math.max(0, start - 1); at < Math.min(line.length, end + 1); at++) if (line[at] !== ' ') return false;
    for (let at = 0; at < text.length; at++) line[start + at] = defined(text[at]);
    return true;
  };
  put(0);
  put(spans.length - 1);
  for (let index = 1; index < spans.length - 1; index++) put(index);
  return line.join('').trimEnd();
}
