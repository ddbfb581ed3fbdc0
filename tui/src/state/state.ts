/**
 * The user's choices, and how each action changes them. Pure: reduce(state, action, context) returns the next state.
 * What involves the outside world (editor, snapshot, quit) is an effect that the terminal side performs.
 */
import { item } from '../../../ts-frontend/src/model/index.js';
import { contextAbove, contextEntity, nextContextView, selectContext, sortContexts, turnContext } from './contexts.js';
import {
  flameEntity,
  flameOfEntity,
  isZoomed,
  pointAtBar,
  selectBar,
  selectBeside,
  wholeFlame,
  zoomIn,
  zoomOut,
} from './flame.js';
import { nextPathList, openOnPath, pathEntity, selectOnPath } from './path.js';
import { columnsOf, rowsOf } from './tables.js';
import {
  tabs,
  type Action,
  type Scene,
  type BottleOf,
  type State,
  type Tab,
  type TableState,
  type TableTab,
} from './types.js';

export const windows: (number | null)[] = [null, 1e9, 5e9, 30e9, 120e9];

export function initialState(): State {
  const table = (sort: string): TableState => ({ sort, ascending: false, selected: 0, index: 0 });
  return {
    tab: 'overview',
    tables: { procedures: table('npt'), locks: table('wait'), threads: table('npt'), objects: table('blocked') },
    inclusive: true,
    filter: '',
    editing: null,
    focus: [],
    focusIndex: 0,
    bottleOf: 'threads',
    windowNs: null,
    refreshSeconds: null,
    frozen: null,
    mark: null,
    zoom: false,
    scroll: 0,
    finding: 0,
    from: 'procedures',
    contexts: { view: 'tree', sort: 'npt', turned: [], selected: '' },
    timePath: { list: 'stretches', stretch: null, place: '' },
    flame: { of: 0, top: [], selected: [] },
    sourceScroll: 0,
    disassembly: false,
    help: 0,
    message: '',
  };
}
export const isTable = (tab: Tab): tab is TableTab =>
  tab === 'procedures' || tab === 'locks' || tab === 'threads' || tab === 'objects';

/** The entity that the views beside the table describe: that of the selected row; 0: none. */
export function selectedEntity(state: State, scene: Scene): number {
  if (state.tab === 'tree' || (state.tab === 'source' && state.from === 'tree')) return contextEntity(state, scene);
  if (state.tab === 'path' || (state.tab === 'source' && state.from === 'path')) return pathEntity(state, scene);
  if (state.tab === 'flame' || (state.tab === 'source' && state.from === 'flame')) return flameEntity(state, scene);
  const rows = currentRows(state, scene);
  return rows[currentIndex(state, scene, rows)]?.entity ?? state.focus[state.focus.length - 1] ?? 0;
}
export function tableTab(state: State): TableTab {
  return isTable(state.tab)
    ? state.tab
    : state.tab === 'bottle' && state.bottleOf !== 'procedures'
      ? state.bottleOf
      : 'procedures';
}
export function currentRows(state: State, scene: Scene): ReturnType<typeof rowsOf> {
  return rowsOf(scene, tableTab(state), state);
}
/** The selection stays with its entity if the order of the rows changes. */
export function currentIndex(state: State, scene: Scene, rows = currentRows(state, scene)): number {
  const table = state.tables[tableTab(state)];
  const index =
    state.focus.length > 0
      ? state.focusIndex
      : table.selected === 0
        ? table.index
        : rows.findIndex((row) => row.entity === table.selected);
  return Math.max(0, Math.min(index < 0 ? table.index : index, rows.length - 1));
}

function select(state: State, scene: Scene, index: number): State {
  const rows = currentRows(state, scene);
  const at = Math.max(0, Math.min(index, rows.length - 1));
  if (state.focus.length > 0) return { ...state, focusIndex: at, sourceScroll: 0 };
  const tab = tableTab(state);
  const table = { ...state.tables[tab], index: at, selected: rows[at]?.entity ?? 0 };
  return { ...state, tables: { ...state.tables, [tab]: table }, sourceScroll: 0 };
}

export function reduce(before: State, action: Action, scene: Scene): State {
  const state = before.message === '' ? before : { ...before, message: '' };
  switch (action.type) {
    case 'tab':
      return {
        ...state,
        tab: action.tab,
        from: action.tab === 'source' && state.tab !== 'source' ? state.tab : state.from,
        focus: action.tab === 'source' || action.tab === state.tab ? state.focus : [],
        focusIndex: 0,
        help: 0,
      };
    case 'next-tab': {
      const at = (tabs.indexOf(state.tab) + action.by + tabs.length) % tabs.length;
      return reduce(state, { type: 'tab', tab: item(tabs, at) }, scene);
    }
    case 'move':
      if (state.tab === 'source') return { ...state, sourceScroll: state.sourceScroll + action.by };
      if (state.tab === 'overview') return { ...state, scroll: state.scroll + action.by };
      if (state.tab === 'tree') return selectContext(state, scene, action.by);
      if (state.tab === 'path') return selectOnPath(state, scene, action.by);
      if (state.tab === 'flame') return selectBar(state, scene, action.by);
      return select(state, scene, currentIndex(state, scene) + action.by);
    case 'home':
      return toEnd(state, scene, -1e9);
    case 'end':
      return toEnd(state, scene, 1e9);
    case 'select-row':
      return select(state, scene, action.index);
    case 'select-bar':
      return pointAtBar(state, action.path);
    case 'enter': {
      if (state.tab === 'overview') {
        const finding = scene.model.findings[state.finding];
        return finding === undefined
          ? state
          : { ...state, tab: 'procedures', zoom: false, focus: [finding.entity], focusIndex: 0 };
      }
      if (state.tab === 'tree') return turnContext(state, scene);
      if (state.tab === 'path') return openOnPath(state, scene);
      if (state.tab === 'flame') return zoomIn(state, scene);
      const entity = selectedEntity(state, scene);
      const row = currentRows(state, scene)[currentIndex(state, scene)];
      if (row === undefined || row.self || state.focus[state.focus.length - 1] === entity)
        return { ...state, message: 'nothing below this' };
      return {
        ...state,
        tab: isTable(state.tab) ? state.tab : 'procedures',
        focus: [...state.focus, entity],
        focusIndex: 0,
      };
    }
    case 'back':
      if (state.tab === 'tree') return contextAbove(state, scene);
      if (state.tab === 'flame') return zoomOut(state, scene);
      return state.focus.length === 0 ? state : { ...state, focus: state.focus.slice(0, -1), focusIndex: 0 };
    case 'escape':
      if (state.help > 0) return { ...state, help: 0 };
      if (state.editing !== null) return { ...state, editing: null };
      if (isZoomed(state)) return wholeFlame(state);
      if (state.zoom) return { ...state, zoom: false };
      if (state.focus.length > 0) return { ...state, focus: [], focusIndex: 0 };
      if (state.filter !== '') return { ...state, filter: '' };
      if (state.frozen !== null) return { ...state, frozen: null };
      return { ...state, mark: null };
    case 'sort': {
      if (state.tab === 'tree') return sortContexts(state, action.by);
      if (state.tab === 'flame') return selectBeside(state, scene, action.by);
      const tab = tableTab(state);
      const columns = columnsOf(tab);
      const at = columns.findIndex((column) => column.id === state.tables[tab].sort);
      return withSort(state, tab, item(columns, (at + action.by + columns.length) % columns.length).id);
    }
    case 'sort-column':
      return withSort(state, tableTab(state), action.column);
    case 'reverse': {
      const tab = tableTab(state);
      return {
        ...state,
        tables: { ...state.tables, [tab]: { ...state.tables[tab], ascending: !state.tables[tab].ascending } },
      };
    }
    case 'zoom':
      if (state.tab === 'tree') return flameOfEntity(state, contextEntity(state, scene));
      if (state.tab === 'flame') return wholeFlame(state);
      return isTable(state.tab) || state.tab === 'overview'
        ? { ...state, zoom: !state.zoom }
        : { ...state, message: 'only in tables, in the tree and on the overview' };
    case 'self':
      return { ...state, inclusive: !state.inclusive };
    case 'bottle': {
      const order: BottleOf[] = ['threads', 'procedures', 'locks'];
      return { ...state, bottleOf: item(order, (order.indexOf(state.bottleOf) + 1) % order.length) };
    }
    case 'disassembly':
      return state.tab === 'source'
        ? { ...state, disassembly: !state.disassembly, sourceScroll: 0 }
        : { ...state, message: 'only in the source tab' };
    case 'view':
      if (state.tab === 'path') return nextPathList(state);
      return state.tab === 'tree' ? nextContextView(state) : { ...state, message: 'only in the tree and on the path' };
    case 'freeze':
      return { ...state, frozen: state.frozen === null ? scene.live.nowNs : null };
    case 'step': {
      const history = scene.live.history;
      if (history.length === 0) return { ...state, message: 'no earlier moments yet' };
      const shown = state.frozen ?? scene.live.nowNs;
      let at = history.findIndex((moment) => moment >= shown);
      if (at < 0) at = history.length;
      const next = at + action.by;
      return next >= history.length
        ? { ...state, frozen: null }
        : { ...state, frozen: item(history, Math.max(0, next)) };
    }
    case 'mark':
      return state.mark === null
        ? {
            ...state,
            mark: scene.live.shownNs,
            message: 'marked: changes since then are shown beside the figures; m again ends this',
          }
        : { ...state, mark: null };
    case 'window': {
      const at = windows.indexOf(state.windowNs);
      return { ...state, windowNs: item(windows, (at + 1) % windows.length) };
    }
    case 'reset':
      return { ...state, windowNs: null, message: 'counting from now; R again counts from the start' };
    case 'help':
      return { ...state, help: action.pages !== undefined && state.help >= action.pages ? 0 : state.help + 1 };
    case 'filter':
      return { ...state, editing: state.filter };
    case 'filter-text':
      return { ...state, editing: action.text };
    case 'filter-done':
      return { ...state, filter: state.editing ?? '', editing: null, focus: [], focusIndex: 0 };
    case 'message':
      return { ...state, message: action.text };
  }
}
function toEnd(state: State, scene: Scene, far: number): State {
  if (state.tab === 'source') return { ...state, sourceScroll: far };
  if (state.tab === 'tree') return selectContext(state, scene, far);
  if (state.tab === 'path') return selectOnPath(state, scene, far);
  if (state.tab === 'flame') return selectBar(state, scene, far);
  return state.tab === 'overview' ? { ...state, scroll: far } : select(state, scene, far);
}
function withSort(state: State, tab: TableTab, sort: string): State {
  const table = state.tables[tab];
  const ascending = table.sort === sort ? !table.ascending : sort === 'name';
  return { ...state, tables: { ...state.tables, [tab]: { ...table, sort, ascending } } };
}
