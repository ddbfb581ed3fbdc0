/**
 * Draws an icicle graph: the calling context tree from the top down. The width of a bar is the elapsed time that the
 * context accounts for; the colour shows how few processors were busy. Used by the page's script, and for the
 * static picture in the page. Pure functions.
 */
import { percent, time } from '../../render/format/units.js';
import { figure } from '../../render/format/units.js';
import type { FlameColumns, PageData } from '../data/page-data.js';
import { escape } from './escape.js';

const rowHeight = 18;
/** Bars narrower than this (px) are not drawn. */
const leastWidth = 1.5;
/** Width of a character in px, as an upper bound for most fonts. */
const letter = 6.7;

export interface Bar {
  node: number;
  depth: number; // relative to the node at full width
  x: number; // from 0 to 1
  width: number;
}

export const childrenOf = ({ parent }: FlameColumns): number[][] => {
  const children: number[][] = parent.map(() => []);
  parent.forEach((up, node) => {
    if (node > 0) children[up]?.push(node);
  });
  return children;
};

/** The bars of `root` and its descendants, with its ancestors at full width above them. */
export function barsOf(flame: FlameColumns, children: readonly number[][], root: number, leastShare: number): Bar[] {
  const above: number[] = [];
  for (let node = root; node !== 0;) above.unshift((node = flame.parent[node] ?? 0));
  const bars: Bar[] = above.map((node, depth) => ({ node, depth, x: 0, width: 1 }));
  const whole = flame.nptNs[root] ?? 0;
  const waiting: Bar[] = [{ node: root, depth: above.length, x: 0, width: 1 }];
  for (let bar = waiting.pop(); bar !== undefined; bar = waiting.pop()) {
    bars.push(bar);
    let { x } = bar;
    for (const node of children[bar.node] ?? []) {
      const width = whole > 0 ? (flame.nptNs[node] ?? 0) / whole : 0;
      if (width >= leastShare) waiting.push({ node, depth: bar.depth + 1, x, width });
      x += width;
    }
  }
  return bars;
}

/** 0: much less than before, 2: no change, 4: much more; relative to the elapsed time. */
function changeStep(changeNs: number, elapsedNs: number): number {
  const share = elapsedNs > 0 ? changeNs / elapsedNs : 0;
  const step = Math.abs(share) < 0.002 ? 0 : Math.abs(share) < 0.03 ? 1 : 2;
  return 2 + Math.sign(share) * step;
}

/** Describes a bar in words. */
export function describe({ entities, flame, elapsedNs }: PageData, node: number): string {
  const { name = '?', where = '' } = entities[flame.entity[node] ?? 0] ?? {};
  const ns = flame.nptNs[node] ?? 0;
  const busy = ns > 0 ? (flame.timeNs[node] ?? 0) / ns : 0;
  const change = flame.changeNs?.[node];
  return [
    `${name}${where === '' ? '' : ` (${where})`}: ${time(ns)}, ${percent(ns, elapsedNs)} of elapsed time`,
    `${figure(busy)} processors busy at that time`,
    ...(change === undefined ? [] : [`${change > 0 ? '+' : ''}${time(change)} against before`]),
  ].join('; ');
}

interface FlameOptions {
  root: number;
  width: number; // px
  most: number; // maximum number of rows
  found?: ReadonlySet<number>; // entities that match a search
  selected?: number;
  titles: boolean; // whether each bar has a title element, which browsers show as a tooltip
  mostBytes?: number; // of markup: the narrowest bars are left out if it would be longer
}

const encoder = new TextEncoder();

/** As many of the bars as there is room for, the widest first, each with its ancestors, which are as wide at least. */
function fitting(bars: readonly Bar[], texts: ReadonlyMap<Bar, string>, most: number): Bar[] {
  let left = most;
  const narrowest = [...bars]
    .sort((one, other) => other.width - one.width)
    .find((bar) => (left -= encoder.encode(texts.get(bar) ?? '').length) < 0);
  return narrowest === undefined ? [...bars] : bars.filter(({ width }) => width > narrowest.width);
}

function barSvg(data: PageData, bar: Bar, { width, found, selected, titles }: FlameOptions): string {
  const { flame, entities, elapsedNs } = data;
  const { node } = bar;
  const entity = flame.entity[node] ?? 0;
  const colour =
    flame.changeNs !== null ? `c${changeStep(flame.changeNs[node] ?? 0, elapsedNs)}` : `a${flame.alone[node] ?? 4}`;
  const x = bar.x * width;
  const wide = Math.max(0.5, bar.width * width - 0.5);
  const y = bar.depth * rowHeight;
  const name = entities[entity]?.name ?? '?';
  const room = Math.floor((wide - 4) / letter);
  const text = room < 3 ? '' : name.length <= room ? name : `${name.slice(0, room - 1)}…`;
  const marks = `${found?.has(entity) ? ' found' : ''}${node === selected ? ' chosen' : ''}`;
  return (
    `<g data-n="${node}" class="${colour}${marks}"><rect x="${x.toFixed(1)}" y="${y}" width="${wide.toFixed(1)}" ` +
    `height="${rowHeight - 1}"/>` +
    (text === '' ? '' : `<text x="${(x + 2).toFixed(1)}" y="${y + 13}">${escape(text)}</text>`) +
    `${titles ? `<title>${escape(describe(data, node))}</title>` : ''}</g>`
  );
}

/** The picture, and whether all bars are in it that are wide enough to be seen. */
interface Drawing {
  svg: string;
  complete: boolean;
}

export function flameSvg(data: PageData, children: readonly number[][], options: FlameOptions): Drawing {
  const { root, width, most, mostBytes = Infinity } = options;
  const bars = barsOf(data.flame, children, root, leastWidth / width).filter(({ depth }) => depth < most);
  const texts = new Map(bars.map((bar) => [bar, barSvg(data, bar, options)]));
  const drawn = mostBytes === Infinity ? bars : fitting(bars, texts, mostBytes);
  const depth = drawn.reduce((deepest, bar) => Math.max(deepest, bar.depth), 0);
  const height = (depth + 1) * rowHeight;
  return {
    complete: drawn.length === bars.length,
    svg:
      `<svg class="flame" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" ` +
      'aria-label="Icicle graph of calling contexts by elapsed time">' +
      `${drawn.map((bar) => texts.get(bar) ?? '').join('')}</svg>`,
  };
}
