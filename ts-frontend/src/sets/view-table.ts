/** What a view of a set gives: a table whose columns say what their numbers are. */
import type { Value } from './tables.js';

/** `ns`: a time. `share`: of 1. `factor`: a plain number. */
export type Unit = 'text' | 'count' | 'ns' | 'share' | 'factor';
export interface ViewColumn {
  name: string; // in CSV, JSON and SQL
  head: string; // in text
  unit: Unit;
  hidden?: true; // not in text
  drop?: number; // in text: the highest goes first where space is short
}
export interface ViewTable {
  columns: readonly ViewColumn[];
  rows: readonly Record<string, Value>[];
}
