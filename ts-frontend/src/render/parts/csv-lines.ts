/** Writes a table as comma-separated values (RFC 4180). */
import { defined } from '../../model/index.js';

export type Value = string | number;

function field(value: Value): string {
  if (typeof value === 'number')
    return Number.isInteger(value) ? value.toString() : String(Number(value.toPrecision(12)));
  // Spreadsheets interpret text that begins with one of these characters as a formula.
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A column's name for a field of the JSON: "nptSelfNs" is npt_self_ns. */
export const columnName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const csvLines = (rows: readonly Record<string, Value>[], columns: readonly string[]): string =>
  [columns, ...rows.map((row) => columns.map((name) => defined(row[name])))]
    .map((row) => `${row.map(field).join(',')}\r\n`)
    .join('');
