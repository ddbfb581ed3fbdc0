/**
 * The rows of the tab of calling contexts: which are open, and which one is selected. The hot path is open until the
 * user folds it; all other rows are folded until the user opens them. With a filter, the paths to all matches are open.
 * Pure.
 */
import {
  costIndex,
  viewOf,
  type CostName,
  type Model,
  type ViewName,
  type ViewRow,
} from '../../../ts-frontend/src/model/index.js';
import type { ContextsState, Scene, State } from './types.js';

export const contextViews: readonly ViewName[] = ['tree', 'callers', 'flat'];
/** The columns that rows can be sorted by, in the order in which the key cycles through them. */
const contextSorts: readonly CostName[] = ['npt', 'time', 'idle', 'spin', 'overhead', 'blocked', 'io', 'onPath'];

export interface ContextRow {
  /** The subjects on the path to the row; the same row of a later model has the same key. */
  key: string;
  row: ViewRow;
  depth: number;
  open: boolean;
}

/**
 * A child is on the hot path if it has at least this share of its parent's cost (Adhianto et al. 2010, section 7.2).
 */
const hotShare = 0.5;
/** The maximum number of rows that a filter examines. */
const searchedMost = 20_000;

const subjectKey = ({ subject }: ViewRow): string =>
  subject.kind === 'entity' ? String(subject.entity) : `${subject.kind}:${subject.path}`;

function nameOf(model: Model, { subject }: ViewRow): string {
  return subject.kind === 'entity' ? (model.entities[subject.entity]?.name ?? '') : subject.path;
}

/** The keys of rows that match the filter, and of all their ancestors; null: there is no filter. */
function wanted(model: Model, root: ViewRow, filter: string, column: number): Set<string> | null {
  if (filter === '') return null;
  const words = filter.toLowerCase();
  const keys = new Set<string>();
  let left = searchedMost;
  const search = (row: ViewRow, key: string): boolean => {
    let found = nameOf(model, row).toLowerCase().includes(words);
    for (const below of row.open(column)) {
      if (--left < 0) break;
      if (search(below, `${key}/${subjectKey(below)}`)) found = true;
    }
    if (found) keys.add(key);
    return found;
  };
  search(root, '');
  return keys;
}

/** All rows that are shown, parents before their children. */
export function contextRows(scene: Scene, { contexts, filter }: State): ContextRow[] {
  const { model } = scene;
  const column = costIndex[contexts.sort];
  const cost = (row: ViewRow): number => row.total[column] ?? 0;
  const root = viewOf(model, contexts.view);
  const shown = wanted(model, root, filter, column);
  const turned = new Set(contexts.turned);
  const rows: ContextRow[] = [];
  const add = (row: ViewRow, key: string, depth: number, hot: boolean): void => {
    const open = row.size > 0 && (shown !== null || hot) !== turned.has(key);
    rows.push({ key, row, depth, open });
    if (!open) return;
    row.open(column).forEach((below, rank) => {
      const its = `${key}/${subjectKey(below)}`;
      if (shown !== null && !shown.has(its)) return;
      if (cost(below) <= 0 && cost(row) > 0) return;
      add(below, its, depth + 1, hot && rank === 0 && cost(below) >= hotShare * cost(row) && cost(below) > 0);
    });
  };
  add(root, '', 0, true);
  return rows;
}

export function contextIndex({ contexts }: State, rows: readonly ContextRow[]): number {
  // If the selected row is no longer shown, its nearest ancestor that is shown.
  for (let key = contexts.selected; key !== ''; key = key.slice(0, key.lastIndexOf('/'))) {
    const at = rows.findIndex((row) => row.key === key);
    if (at >= 0) return at;
  }
  return 0;
}

/** The entity of the selected row; 0: it is a module, a file or the whole program. */
export function contextEntity(state: State, scene: Scene): number {
  const rows = contextRows(scene, state);
  const subject = rows[contextIndex(state, rows)]?.row.subject;
  return subject?.kind === 'entity' ? subject.entity : 0;
}

const changed = (state: State, contexts: Partial<ContextsState>): State => ({
  ...state,
  contexts: { ...state.contexts, ...contexts },
  sourceScroll: 0,
});

export function selectContext(state: State, scene: Scene, by: number): State {
  const rows = contextRows(scene, state);
  const at = Math.max(0, Math.min(contextIndex(state, rows) + by, rows.length - 1));
  return changed(state, { selected: rows[at]?.key ?? '' });
}

/** Opens the selected row, or folds it if it is open. */
export function turnContext(state: State, scene: Scene): State {
  const rows = contextRows(scene, state);
  const one = rows[contextIndex(state, rows)];
  if (one === undefined || one.row.size === 0) return { ...state, message: 'nothing below this' };
  const { turned } = state.contexts;
  return changed(state, {
    selected: one.key,
    turned: turned.includes(one.key) ? turned.filter((key) => key !== one.key) : [...turned, one.key],
  });
}

/** Selects the parent of the selected row. */
export function contextAbove(state: State, scene: Scene): State {
  const rows = contextRows(scene, state);
  const key = rows[contextIndex(state, rows)]?.key ?? '';
  return changed(state, { selected: key.slice(0, Math.max(0, key.lastIndexOf('/'))) });
}

export function nextContextView(state: State): State {
  const { view } = state.contexts;
  const next = contextViews[(contextViews.indexOf(view) + 1) % contextViews.length] ?? 'tree';
  return changed(state, { view: next, turned: [], selected: '' });
}

export function sortContexts(state: State, by: number): State {
  const { sort } = state.contexts;
  const count = contextSorts.length;
  return changed(state, { sort: contextSorts[(contextSorts.indexOf(sort) + by + count) % count] ?? 'npt' });
}
