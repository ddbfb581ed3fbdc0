/**
 * Access to DuckDB if it is installed (ts-frontend/duckdb pins the version). `npm ci` does not install it, because it
 * takes 70 MB, more than all of Quartz. Loaded only for SQL. No other file uses its package.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Value } from './tables.js';
import type { Unit, ViewTable } from './view-table.js';

interface Reader {
  columnNames(): string[];
  getRowsJS(): unknown[][];
}
interface Connection {
  run(sql: string): Promise<unknown>;
  runAndReadAll(sql: string): Promise<Reader>;
}
interface Package {
  DuckDBInstance: { create(path: string): Promise<{ connect(): Promise<Connection> }> };
}

const packageName = '@duckdb/node-api';

/** The directory for `npm install --prefix`. */
export const duckDbFolder = (root: string): string => join(root, 'ts-frontend/duckdb');

/** The package in that directory, in the current directory, or beside Node.js (npm install -g). */
function placeOf(root: string): string | undefined {
  const places = [duckDbFolder(root), process.cwd(), join(dirname(process.execPath), '../lib')];
  for (const place of places)
    try {
      return createRequire(join(place, 'package.json')).resolve(packageName);
    } catch {
      // not there
    }
  return undefined;
}

/** Converts DuckDB's values to the numbers and texts of the other tables. */
function valueOf(value: unknown): Value {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number' || typeof value === 'string') return value;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (value instanceof Date) return value.toISOString();
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? part.toString() : part));
}

/** Returns null if DuckDB is not installed; throws DuckDB's error for invalid SQL. */
export async function askDuckDb(root: string, schema: readonly string[], sql: string): Promise<ViewTable | null> {
  const place = placeOf(root);
  if (place === undefined) return null;
  const { DuckDBInstance } = (await import(pathToFileURL(place).href)) as Package;
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  for (const statement of schema) await connection.run(statement);
  const reader = await connection.runAndReadAll(sql);
  const names = reader.columnNames();
  const rows = reader
    .getRowsJS()
    .map((row) => Object.fromEntries(row.map((value, k) => [names[k] ?? '', valueOf(value)])));
  return { columns: names.map((name) => ({ name, head: name, unit: unitOf(name, rows) })), rows };
}

/** Derives a column's unit from its name, by the naming scheme of the other tables. */
function unitOf(name: string, rows: readonly Record<string, Value>[]): Unit {
  if (name.endsWith('_ns')) return 'ns';
  if (name.endsWith('_share')) return 'share';
  const values = rows.map((row) => row[name] ?? null).filter((value) => value !== null);
  if (values.some((value) => typeof value === 'string')) return 'text';
  return values.every((value) => Number.isInteger(value)) ? 'count' : 'factor';
}
