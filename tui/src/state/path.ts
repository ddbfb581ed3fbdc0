/** The rows of the tab of the time path: its stretches in time order, and its total times by place. Pure. */
import {
  item,
  recentNs,
  recentPathOf,
  type Entity,
  type Model,
  type PathLeg,
  type RecentPath,
  type RecentPlace,
} from '../../../ts-frontend/src/model/index.js';
import type { PathTabState, Scene, State, TableTab } from './types.js';

/** The part of the path that is shown: the last ten seconds, or less if a shorter window is selected. */
export const shownPath = (scene: Scene, { windowNs }: State): RecentPath | null =>
  recentPathOf(scene.model, windowNs ?? recentNs);

const nameOf = (model: Model, id: number): string => (id === 0 ? '' : (model.entities[id]?.name ?? ''));

/** Stretches of one thread whose names match the filter. */
export function stretchRows(scene: Scene, state: State): PathLeg[] {
  const legs = shownPath(scene, state)?.legs ?? [];
  const wanted = state.filter.toLowerCase();
  if (wanted === '') return legs;
  return legs.filter(({ thread, procedure, by }) =>
    [thread, procedure, by].some((id) => nameOf(scene.model, id).toLowerCase().includes(wanted)),
  );
}
export function placeRows(scene: Scene, state: State): RecentPlace[] {
  const wanted = state.filter.toLowerCase();
  const places = shownPath(scene, state)?.places ?? [];
  return wanted === ''
    ? places
    : places.filter(({ entity }) => nameOf(scene.model, entity).toLowerCase().includes(wanted));
}
const placeKey = ({ entity, waited }: RecentPlace): string => `${entity}${waited ? ' waited' : ''}`;

/** The index of the selected stretch; the newest one until the user selects another, or if that has left the window. */
export function stretchIndex({ timePath: { stretch } }: State, rows: readonly PathLeg[]): number {
  const at = stretch === null ? -1 : rows.findIndex(({ startNs, ns }) => startNs <= stretch && stretch < startNs + ns);
  return at >= 0 ? at : rows.length - 1;
}
export function placeIndex({ timePath }: State, rows: readonly RecentPlace[]): number {
  return Math.max(
    0,
    rows.findIndex((row) => placeKey(row) === timePath.place),
  );
}

const changed = (state: State, timePath: Partial<PathTabState>): State => ({
  ...state,
  timePath: { ...state.timePath, ...timePath },
});

export function selectOnPath(state: State, scene: Scene, by: number): State {
  const bounded = (at: number, count: number): number => Math.max(0, Math.min(at + by, count - 1));
  if (state.timePath.list === 'stretches') {
    const rows = stretchRows(scene, state);
    const at = bounded(stretchIndex(state, rows), rows.length);
    const row = rows[at];
    // If the newest one is selected, the selection moves on to newer ones.
    return changed(state, { stretch: row === undefined || at === rows.length - 1 ? null : row.startNs });
  }
  const rows = placeRows(scene, state);
  const row = rows[bounded(placeIndex(state, rows), rows.length)];
  return changed(state, { place: row === undefined ? '' : placeKey(row) });
}

export const nextPathList = (state: State): State =>
  changed(state, { list: state.timePath.list === 'stretches' ? 'places' : 'stretches' });

/** The entity of the selected row; 0: none. */
export function pathEntity(state: State, scene: Scene): number {
  if (state.timePath.list === 'places') {
    const rows = placeRows(scene, state);
    return rows[placeIndex(state, rows)]?.entity ?? 0;
  }
  const rows = stretchRows(scene, state);
  const leg = rows[stretchIndex(state, rows)];
  return leg === undefined ? 0 : leg.procedure !== 0 ? leg.procedure : leg.thread;
}

const tableOf = ({ kind }: Entity): TableTab =>
  kind === 'procedure' ? 'procedures' : kind === 'thread' ? 'threads' : kind === 'lock' ? 'locks' : 'objects';

/** Shows the selected entity in its own tab. */
export function openOnPath(state: State, scene: Scene): State {
  const id = pathEntity(state, scene);
  if (id === 0) return { ...state, message: 'nothing is known about this' };
  const { entities } = scene.model;
  const entity = item(entities, id);
  const shown = entity.group === 0 ? entity : item(entities, entity.group);
  const tab = tableOf(shown);
  return {
    ...state,
    tab,
    tables: { ...state.tables, [tab]: { ...state.tables[tab], selected: shown.id } },
    filter: '',
    focus: [],
    focusIndex: 0,
    zoom: true,
  };
}
