/**
 * How a report is formatted. The command line derives the options from the terminal; rendering itself does not access
 * it.
 */
export interface RenderOptions {
  width: number; // maximum number of columns
  colour: boolean;
  ascii: boolean; // use ASCII characters only
  top: number; // maximum number of rows in a table; 0 = no limit
}

/** Views of calling contexts (docs/reference/views.md), and the columns by which they can be sorted. */
export type ContextView = 'tree' | 'callers' | 'flat';
export const contextViews: readonly ContextView[] = ['tree', 'callers', 'flat'];

/** Views that are tables of entities. */
export type View = 'procedures' | 'locks' | 'threads';
export const views: readonly View[] = ['procedures', 'locks', 'threads'];

/** Views of a set of profiles (docs/reference/sets.md). */
export type SetView = 'ranks' | 'imbalance' | 'outliers' | 'mpi' | 'late' | 'job-path' | 'scaling';
export const setViews: readonly SetView[] = ['ranks', 'imbalance', 'outliers', 'mpi', 'late', 'job-path', 'scaling'];
