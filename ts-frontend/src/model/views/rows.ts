/** A row of a view, which opens into the rows below it. Made when they are asked for: a tree may have 100,000. */
import type { Costs } from './costs.js';

export type Subject =
  | { kind: 'entity'; entity: number } // 0: the whole program
  | { kind: 'file'; path: string } // '' = not known
  | { kind: 'module'; path: string };

export interface ViewRow {
  subject: Subject;
  /** A procedure that called itself: those calls are in this row. */
  recursive: boolean;
  total: Costs; // with all below it
  self: Costs; // without; in the view of callers: the same as total
  /** How many rows are right below. */
  readonly size: number;
  /** Those rows, the greatest `total` of that column first. */
  open: (column: number) => ViewRow[];
}

/** Sorts in place, the greatest first; rows without any cost of that kind keep their order. */
export function byCost(rows: ViewRow[], column: number): ViewRow[] {
  return rows.sort((a, b) => (b.total[column] ?? 0) - (a.total[column] ?? 0));
}
