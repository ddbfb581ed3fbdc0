/** Zoom, search and keyboard navigation in the icicle graph. */
import { percent, time } from '../../render/format/units.js';
import type { PageData } from '../data/page-data.js';
import { childrenOf, describe, flameSvg } from '../drawing/flame.js';
import { byId, draw } from './elements.js';

const mostRows = 400;

export function flameGraph(data: PageData): void {
  const { flame } = data;
  const children = childrenOf(flame);
  const graph = byId('graph');
  const search = byId('search') as HTMLInputElement;
  let root = 0;
  let selected = 0;
  let found = new Set<number>();

  const redraw = (): void => {
    const width = Math.max(300, Math.floor(graph.clientWidth));
    draw(graph, flameSvg(data, children, { root, width, most: mostRows, found, selected, titles: true }).svg);
  };
  const select = (node: number): void => {
    selected = node;
    byId('readout').textContent = describe(data, node);
  };
  const zoom = (node: number): void => {
    root = node;
    select(node);
    redraw();
  };
  const nodeAt = (event: Event): number | undefined => {
    const bar = event.target instanceof Element ? event.target.closest('[data-n]') : null;
    return bar === null ? undefined : Number(bar.getAttribute('data-n'));
  };
  const lookFor = (text: string): void => {
    found = entitiesLike(data, text);
    redraw();
    const ns = coveredBy(data, children, found);
    byId('found').textContent =
      text === ''
        ? ''
        : found.size === 0
          ? 'nothing is called so'
          : `${time(ns)}, ${percent(ns, data.elapsedNs)} of elapsed time is in it`;
  };

  graph.addEventListener('click', (event) => {
    const node = nodeAt(event);
    if (node !== undefined) zoom(node);
  });
  graph.addEventListener('pointerover', (event) => {
    const node = nodeAt(event);
    if (node !== undefined) byId('readout').textContent = describe(data, node);
  });
  graph.addEventListener('keydown', (event) => {
    const next = stepTo(event.key, selected, data, children, root);
    if (event.key === 'Enter') zoom(selected);
    else if (event.key === 'Escape') zoom(flame.parent[root] ?? 0);
    else if (next !== undefined) {
      select(next);
      redraw();
    } else return;
    event.preventDefault();
  });
  document.addEventListener('keydown', (event) => {
    const into = event.target;
    if (event.key !== '/' || into instanceof HTMLInputElement || into instanceof HTMLSelectElement) return;
    event.preventDefault();
    search.focus();
  });
  search.addEventListener('input', () => {
    lookFor(search.value.trim());
  });
  byId('reset').addEventListener('click', () => {
    zoom(0);
  });
  addEventListener('resize', redraw);
  graph.tabIndex = 0;
  graph.setAttribute('role', 'application');
  graph.setAttribute('aria-label', 'Icicle graph of calling contexts: arrow keys move, Enter zooms, Escape zooms out');
  graph.setAttribute('aria-describedby', 'readout');
  byId('flame-controls').hidden = false;
  redraw();
}

/** The bar that an arrow key selects: the widest callee, the caller, or a neighbour. */
function stepTo(
  key: string,
  from: number,
  data: PageData,
  children: readonly number[][],
  root: number,
): number | undefined {
  const up = data.flame.parent[from] ?? 0;
  const beside = children[up] ?? [];
  switch (key) {
    case 'ArrowDown':
      return children[from]?.[0] ?? from;
    case 'ArrowUp':
      return up;
    case 'ArrowLeft':
      return beside[beside.indexOf(from) - 1] ?? from;
    case 'ArrowRight':
      return beside[beside.indexOf(from) + 1] ?? from;
    case 'Home':
      return root;
    default:
      return undefined;
  }
}

function entitiesLike(data: PageData, text: string): Set<number> {
  const found = new Set<number>();
  const wanted = text.toLowerCase();
  if (wanted === '') return found;
  data.entities.forEach(({ name, where }, at) => {
    if (`${name} ${where}`.toLowerCase().includes(wanted)) found.add(at);
  });
  return found;
}

/** Elapsed time of contexts whose path contains one of the entities; nested ones are not counted twice. */
function coveredBy(data: PageData, children: readonly number[][], found: ReadonlySet<number>): number {
  const { flame } = data;
  let sum = 0;
  const waiting = [0];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (found.has(flame.entity[node] ?? 0) && node !== 0) sum += flame.nptNs[node] ?? 0;
    else waiting.push(...(children[node] ?? []));
  }
  return sum;
}
