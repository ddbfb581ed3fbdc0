/** Tables of sets as text, CSV and JSON. Pure functions. */
import type { RenderOptions } from '../render/format/options.js';
import { clean } from '../render/format/text.js';
import { count, figure, signedPercent, time } from '../render/format/units.js';
import { csvLines } from '../render/parts/csv-lines.js';
import { limited, table, type Column } from '../render/parts/table.js';
import type { Value } from './tables.js';
import type { Unit, ViewColumn, ViewTable } from './view-table.js';

function textOf(value: Value, unit: Unit, options: RenderOptions): string {
  if (value === null) return '-';
  if (typeof value === 'string') return clean(value, options);
  switch (unit) {
    case 'ns':
      return time(value, options);
    case 'share':
      return signedPercent(value);
    case 'factor':
      return figure(value);
    case 'count':
      return count(value);
    case 'text':
      return String(value);
  }
}

type Row = Record<string, Value>;
/** The columns in the form that tables of reports have, for text and HTML; without hidden columns. */
export function viewColumnsOf(columns: readonly ViewColumn[], options: RenderOptions): Column<Row>[] {
  const visible = columns.filter(({ hidden }) => hidden !== true);
  const last = visible.at(-1);
  return visible.map((column) => ({
    head: column.head,
    text: (row) => textOf(row[column.name] ?? null, column.unit, options),
    ...(column.unit === 'text' ? { align: 'left' as const } : {}),
    ...(column.drop === undefined ? {} : { drop: column.drop }),
    ...(column === last ? { name: true } : {}),
  }));
}

export function viewText({ columns, rows }: ViewTable, options: RenderOptions): string {
  if (rows.length === 0) return '  nothing\n';
  const shown = limited(rows, options);
  return `${[...table(shown.rows, viewColumnsOf(columns, options), options), ...shown.more].join('\n')}\n`;
}

export const viewCsv = ({ columns, rows }: ViewTable): string =>
  csvLines(
    rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? '']))),
    columns.map(({ name }) => name),
  );

export function viewJson({ columns, rows }: ViewTable, view: string, quartz: string): string {
  const about = columns.map(({ name, unit }) => ({ name, unit }));
  return `${JSON.stringify({ schema: 'quartz-set-view-1', quartz, view, columns: about, rows }, null, 1)}\n`;
}
