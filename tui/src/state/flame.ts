/**
 * The icicle graph of the live screen: which context fills its width, and which bar is selected. Contexts are found by
 * the entities on the path to them, so that a selection outlasts a refresh. Pure.
 */
import { flameOf, type FlameNode, type Model } from '../../../ts-frontend/src/model/index.js';
import type { FlameState, Scene, State } from './types.js';

/** The contexts from the root of the graph to the one that a path of entities leads to, or as far as they are there. */
function along(root: FlameNode, path: readonly number[]): FlameNode[] {
  const nodes = [root];
  let node: FlameNode | undefined = root;
  for (const entity of path) {
    node = barsBelow(node).find((one) => one.entity === entity);
    if (node === undefined) break;
    nodes.push(node);
  }
  return nodes;
}
const barsBelow = (node: FlameNode): FlameNode[] => node.open().filter(({ nptNs }) => nptNs > 0);

export interface FlameShown {
  top: FlameNode; // fills the width
  selected: FlameNode;
  /** Entities from the root of the graph to `top` and to `selected`, the root's own left out. */
  topPath: number[];
  selectedPath: number[];
}

/** `selected` is `top` or below it. */
export function flameShown({ model }: Scene, { flame }: State): FlameShown {
  const root = flameOf(model, flame.of);
  const tops = along(root, flame.top);
  const topPath = tops.slice(1).map(({ entity }) => entity);
  const within = topPath.every((entity, at) => flame.selected[at] === entity);
  const nodes = within ? along(root, flame.selected) : tops;
  return {
    top: tops[tops.length - 1] ?? root,
    selected: nodes[nodes.length - 1] ?? root,
    topPath,
    selectedPath: nodes.slice(1).map(({ entity }) => entity),
  };
}

const changed = (state: State, flame: Partial<FlameState>): State => ({
  ...state,
  flame: { ...state.flame, ...flame },
  sourceScroll: 0,
});

/** Down: to the widest bar below, so along the hot path; up: to the caller. */
export function selectBar(state: State, scene: Scene, by: number): State {
  const { selected, selectedPath, topPath } = flameShown(scene, state);
  const path = [...selectedPath];
  if (by < 0) path.length = Math.max(topPath.length, path.length + by);
  let node = selected;
  for (let left = by; left > 0; left--) {
    const [widest] = barsBelow(node);
    if (widest === undefined) break;
    node = widest;
    path.push(node.entity);
  }
  return changed(state, { selected: path });
}

/** The next narrower (by > 0) or wider bar with the same caller. */
export function selectBeside(state: State, scene: Scene, by: number): State {
  const { selectedPath, topPath } = flameShown(scene, state);
  const above = selectedPath.slice(0, -1);
  const nodes = along(flameOf(scene.model, state.flame.of), above);
  const caller = nodes[nodes.length - 1];
  if (selectedPath.length <= topPath.length || caller === undefined)
    return { ...state, message: 'nothing beside this' };
  const bars = barsBelow(caller);
  const at = bars.findIndex(({ entity }) => entity === selectedPath[selectedPath.length - 1]);
  const next = bars[at + by];
  return next === undefined
    ? { ...state, message: `no ${by > 0 ? 'narrower' : 'wider'} one beside this` }
    : changed(state, { selected: [...above, next.entity] });
}

/** The bar that a path of entities leads to. */
export const pointAtBar = (state: State, path: readonly number[]): State => changed(state, { selected: path });

/** The selected bar fills the width. */
export function zoomIn(state: State, scene: Scene): State {
  const { selectedPath, topPath } = flameShown(scene, state);
  return selectedPath.length === topPath.length
    ? { ...state, message: 'this fills the width already; Backspace: its caller does' }
    : changed(state, { top: selectedPath });
}
/** The caller of the bar that fills the width does; above the root of one entity's contexts, the whole program does. */
export function zoomOut(state: State, scene: Scene): State {
  const { topPath } = flameShown(scene, state);
  return topPath.length === 0 ? wholeFlame(state) : changed(state, { top: topPath.slice(0, -1) });
}

/** All contexts of an entity as one; 0: the whole program. */
export const flameOfEntity = (state: State, entity: number): State =>
  changed({ ...state, tab: 'flame' }, { of: entity, top: [], selected: [] });
export const wholeFlame = (state: State): State => changed(state, { of: 0, top: [], selected: [] });
export const isZoomed = ({ tab, flame }: State): boolean => tab === 'flame' && (flame.of !== 0 || flame.top.length > 0);

/** The entity of the selected bar; 0: the whole program. */
export const flameEntity = (state: State, scene: Scene): number => flameShown(scene, state).selected.entity;

/** The maximum number of contexts that a search examines. */
const searchedMost = 20_000;

/** Whether a context's name contains the filter's words. */
export function matcher(model: Model, filter: string): (node: FlameNode) => boolean {
  const words = filter.toLowerCase();
  return ({ entity }) => words !== '' && (model.entities[entity]?.name ?? '').toLowerCase().includes(words);
}
/** The elapsed time of contexts that match, each counted once: that of the outermost ones. */
export function matchedNs(top: FlameNode, matches: (node: FlameNode) => boolean): number {
  let left = searchedMost;
  const of = (node: FlameNode): number => {
    if (matches(node)) return node.nptNs;
    return --left < 0 ? 0 : barsBelow(node).reduce((sum, below) => sum + of(below), 0);
  };
  return of(top);
}
