/**
 * Tables that fit the terminal: if space is short, the least important columns are omitted, then the names are
 * shortened.
 */
import { item } from '../../model/index.js';
import type { RenderOptions } from '../format/options.js';
import { cut, pad, paint, width, type Tone } from '../format/text.js';

export interface Column<Row> {
  head: string;
  text: (row: Row) => string;
  align?: 'left' | 'right'; // right by default
  drop?: number; // omitted before columns of lower value if space is short; undefined: never omitted
  name?: boolean; // takes the remaining width
  short?: (row: Row, columns: number) => string; // shortens the text if it is too long; by default it is truncated
  tone?: Tone;
}

const gap = 2;
const leastName = 16;

/** The lines of a table, indented by two spaces. Columns that are empty in all rows are left out. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], options: RenderOptions): string[] {
  let shown = columns
    .map((column) => {
      const cells = rows.map((row) => column.text(row));
      return { column, cells, width: Math.max(width(column.head), ...cells.map(width)) };
    })
    .filter(({ column, cells }) => column.drop === undefined || cells.some((cell) => cell !== ''));
  const needed = (): number =>
    shown.reduce((sum, { column, width: own }) => sum + gap + (column.name ? Math.min(own, leastName) : own), 0);
  while (needed() > options.width) {
    const last = Math.max(...shown.map(({ column }) => column.drop ?? -1));
    if (last < 0) break;
    shown = shown.filter(({ column }) => column.drop !== last);
  }
  const fixed = shown.reduce((sum, { column, width: own }) => sum + gap + (column.name ? 0 : own), 0);
  const nameWidth = Math.max(4, options.width - fixed);
  const sizes = shown.map(({ column, width: own }) => (column.name ? Math.min(own, nameWidth) : own));
  const line = (texts: string[], row?: Row, tone?: Tone): string => {
    const cells = texts.map((text, index) => {
      const { column } = item(shown, index);
      const align = column.align ?? 'right';
      const size = item(sizes, index);
      const fit = cut(
        row !== undefined && column.short !== undefined && width(text) > size ? column.short(row, size) : text,
        size,
        options,
      );
      const padded = align === 'left' && index === texts.length - 1 ? fit : pad(fit, size, align);
      const own = tone ?? column.tone;
      return own === undefined ? padded : paint(padded, own, options);
    });
    return `  ${cells.join('  ')}`;
  };
  return [
    line(
      shown.map(({ column }) => column.head),
      undefined,
      'dim',
    ),
    ...rows.map((row, index) =>
      line(
        shown.map(({ cells }) => item(cells, index)),
        row,
      ),
    ),
  ];
}

/** The first `options.top` rows, and a line with the number of rows that are not shown. */
export function limited<Row>(rows: readonly Row[], options: RenderOptions): { rows: readonly Row[]; more: string[] } {
  if (options.top === 0 || rows.length <= options.top) return { rows, more: [] };
  const left = rows.length - options.top;
  return { rows: rows.slice(0, options.top), more: [paint(`  ${left} more; --top 0 shows all`, 'dim', options)] };
}
