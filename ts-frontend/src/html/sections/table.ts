/** Renders tables of the text report as HTML, with the same columns and texts. Pure functions. */
import type { Column } from '../../render/parts/table.js';
import { escape } from '../drawing/escape.js';

const mostLetters = 40;
const textOf = <Row>({ text, short }: Column<Row>, row: Row): string => {
  const whole = text(row);
  return whole.length > mostLetters && short !== undefined ? short(row, mostLetters) : whole;
};

/** Columns that are empty in all rows are left out. Shows at most `most` rows, and how many are left out. */
export function htmlTable<Row>(
  caption: string,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  most: number,
): string {
  const some = rows.slice(0, most);
  const cells = columns
    .map((column) => ({ column, texts: some.map((row) => textOf(column, row)) }))
    .filter(({ column, texts }) => column.drop === undefined || texts.some((text) => text.trim() !== ''));
  const aligned = (column: Column<Row>): string => (column.align === 'left' ? ' class="left"' : '');
  const head = cells.map(({ column }) => `<th scope="col"${aligned(column)}>${escape(column.head)}</th>`).join('');
  const body = some.map(
    (_, at) =>
      `<tr>${cells.map(({ column, texts }) => `<td${aligned(column)}>${escape(texts[at] ?? '')}</td>`).join('')}</tr>`,
  );
  const left = rows.length - some.length;
  return (
    `<div class="wide"><table><caption>${escape(caption)}</caption><thead><tr>${head}</tr></thead>` +
    `<tbody>${body.join('')}</tbody></table></div>${left > 0 ? `<p class="dim">${left} more are not shown.</p>` : ''}`
  );
}
