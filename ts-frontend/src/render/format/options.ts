/** How a report is to look. Decided by the command line from the terminal; rendering knows nothing of terminals. */
export interface RenderOptions {
  width: number; // columns
  colour: boolean;
  ascii: boolean; // no character beyond ASCII
  top: number; // rows of a table at most; 0 = all
}

/** Views of calling contexts (docs/reference/views.md), and the columns that may order them. */
export type ContextView = 'tree' | 'callers' | 'flat';
export const contextViews: readonly ContextView[] = ['tree', 'callers', 'flat'];

/** Tables. */
export type View = 'procedures' | 'locks' | 'threads';
export const views: readonly View[] = ['procedures', 'locks', 'threads'];

/** Of a set of profiles (docs/reference/sets.md). */
export type SetView = 'ranks' | 'imbalance' | 'outliers' | 'mpi' | 'late' | 'job-path' | 'scaling';
export const setViews: readonly SetView[] = ['ranks', 'imbalance', 'outliers', 'mpi', 'late', 'job-path', 'scaling'];
