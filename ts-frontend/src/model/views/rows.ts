/**
 * A row of a view, which can be opened into the rows below it. Rows are created on demand, because a tree may have
 * 100,000.
 */
import type { Costs } from './costs.js';

export type Subject =
  | { kind: 'entity'; entity: number } // 0: the whole program
  | { kind: 'file'; path: string } // '' = not known
  | { kind: 'module'; path: string };

export interface ViewRow {
  subject: Subject;
  /** The procedure called itself directly; those calls are in this row. */
  recursive: boolean;
  total: Costs; // including all rows below it
  self: Costs; // excluding them; in the view of callers, the same as total
  /** Number of rows directly below. */
  readonly size: number;
  /** The rows directly below, sorted by `total` of that column, largest first. */
  open: (column: number) => ViewRow[];
}

/** Sorts in place, largest first; rows without any cost of that kind keep their order. */
export function byCost(rows: ViewRow[], column: number): ViewRow[] {
  return rows.sort((a, b) => (b.total[column] ?? 0) - (a.total[column] ?? 0));
}
