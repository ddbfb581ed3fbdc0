/**
 * The effects of the mouse: the wheel moves; a click selects a tab, a column to sort by, or a row; a second click opens
 * the row.
 */
import { bodyOf, bodyTop, tabPlaces, tableSize } from './frame.js';
import type { Action, Scene, Size, State } from './state/types.js';
import { contextIndex, contextRows } from './state/contexts.js';
import { currentIndex, currentRows, isTable, tableTab } from './state/state.js';
import { columnsThatFit } from './state/tables.js';
import { flameRows } from './views/flame.js';
import { scrollTo } from './views/table.js';

export interface MouseEvent {
  action: string;
  x: number;
  y: number;
}

/** The action for a mouse event, if any. */
export function pointed({ action, x, y }: MouseEvent, state: State, scene: Scene, size: Size): Action | null {
  if (action === 'wheelup') return { type: 'move', by: -3 };
  if (action === 'wheeldown') return { type: 'move', by: 3 };
  if (action !== 'mousedown') return null;
  if (y === 1) {
    const place = tabPlaces(size.width).find((tab) => x >= tab.x && x < tab.x + tab.width);
    return place === undefined ? null : { type: 'tab', tab: place.tab };
  }
  if (state.tab === 'tree') return contextAt(y - bodyTop, state, scene, size);
  if (state.tab === 'flame') return barAt(x, y - bodyTop, state, scene, size);
  if (!isTable(state.tab) || state.zoom) return null;
  const part = tableSize({ width: size.width, height: size.height - bodyTop - 1 });
  const row = y - bodyTop;
  if (x >= part.width || row < 0 || row >= part.height) return null;
  return row === 0 ? columnAt(x, part.width, state, scene) : rowAt(row, part.height, state, scene);
}

/** A click on the selected row opens or folds it; a click on another row selects that. */
function contextAt(row: number, state: State, scene: Scene, size: Size): Action | null {
  const rows = contextRows(scene, state);
  const index = contextIndex(state, rows);
  const height = bodyOf(size).height - 1;
  if (row < 1 || row > height) return null;
  const target = scrollTo(index, height, rows.length) + row - 1;
  if (target === index) return { type: 'enter' };
  return target < rows.length ? { type: 'move', by: target - index } : null;
}

/** A click on the selected bar gives it the whole width; a click on another bar selects that. */
function barAt(x: number, row: number, state: State, scene: Scene, size: Size): Action | null {
  const { rows, first, selectedPath } = flameRows(scene, bodyOf(size), state);
  const bar = rows[first + row - 1]?.find(({ from, to }) => x >= from && x < to);
  if (row < 1 || bar === undefined) return null;
  const same = bar.path.length === selectedPath.length && bar.path.every((entity, at) => entity === selectedPath[at]);
  return same ? { type: 'enter' } : { type: 'select-bar', path: bar.path };
}

function columnAt(x: number, width: number, state: State, scene: Scene): Action | null {
  const tab = tableTab(state);
  let start = 1;
  for (const column of columnsThatFit(tab, width, state.tables[tab].sort, currentRows(state, scene), scene.model)) {
    const end = column.width === 0 ? width : start + column.width;
    if (x >= start && x < end) return { type: 'sort-column', column: column.id };
    start = end + 1;
  }
  return null;
}

function rowAt(row: number, height: number, state: State, scene: Scene): Action | null {
  const rows = currentRows(state, scene);
  const index = currentIndex(state, scene, rows);
  const target = scrollTo(index, height - 1, rows.length) + row - 1;
  if (target === index) return { type: 'enter' };
  return target < rows.length ? { type: 'select-row', index: target } : null;
}
