/** The result of a view of a set: a table whose columns define the units of their values. */
import type { Value } from './tables.js';

/** `ns`: a time. `share`: between 0 and 1. `factor`: a number without unit. */
export type Unit = 'text' | 'count' | 'ns' | 'share' | 'factor';
export interface ViewColumn {
  name: string; // name in CSV, JSON and SQL
  head: string; // heading in text
  unit: Unit;
  hidden?: true; // omitted in text
  drop?: number; // in text, columns with higher values are omitted first if space is short
}
export interface ViewTable {
  columns: readonly ViewColumn[];
  rows: readonly Record<string, Value>[];
}
