/** Extracts from a model the data for the page's script (page-data.ts). Pure functions. */
import {
  aloneness,
  costIndex,
  focusOn,
  item,
  viewOf,
  type Focus,
  type Model,
  type ViewRow,
} from '../../model/index.js';
import { bins } from '../../render/parts/histogram.js';
import { orderOf, shownRows } from '../../render/views/view-rows.js';
import { place, shortLabel } from '../../render/wording/names.js';
import { cut } from '../../render/format/text.js';
import type { Figure, FlameColumns, Layer, NamedPlace, PageData } from './page-data.js';

const mostNodes = 2000;
const leastNodes = 100;
/** Figures may take one byte in this many of the data. */
const figureShare = 14;
const mostBins = 16;
const mostLayers = 5;
const mostLetters = 80;
const letters = { ascii: false };

/** Numbers the entities that the page names, in order of first use. */
class Named {
  private readonly places: NamedPlace[] = [];
  private readonly known = new Map<number, number>();
  constructor(private readonly model: Model) {}
  of(id: number): number {
    let at = this.known.get(id);
    if (at === undefined) {
      const entity = item(this.model.entities, id);
      at =
        this.places.push({
          name: shortLabel(this.model, entity, mostLetters, letters),
          where: id === 0 ? '' : cut(place(this.model, entity, letters), mostLetters, letters),
        }) - 1;
      this.known.set(id, at);
    }
    return at;
  }
  get all(): readonly NamedPlace[] {
    return this.places;
  }
}

/**
 * `before`: the profile that changes refer to. Contains as many nodes and figures as there is room for in `mostBytes`;
 * the fewest take more, if names are long.
 */
export function pageData(model: Model, before: Model | null, mostBytes: number): PageData {
  const known = new Map<number, Focus>();
  const focus = (id: number): Focus => {
    const its = known.get(id) ?? focusOn(model, id);
    known.set(id, its);
    return its;
  };
  for (let nodes = mostNodes; ; nodes = Math.floor(nodes * 0.7)) {
    const data = dataWith(model, before, nodes, focus);
    if (nodes < leastNodes || Buffer.byteLength(JSON.stringify(data)) <= mostBytes) return data;
  }
}

function dataWith(model: Model, before: Model | null, nodes: number, focus: (id: number) => Focus): PageData {
  const named = new Named(model);
  named.of(0);
  const flame = flameOf(model, named, before, nodes);
  const bounds = bins(model.root.byBusyNs, mostBins).map(({ from, to }) => ({ from, to }));
  const figures = idsOfFigures(model, Math.floor(nodes / figureShare)).map((id) =>
    figureOf(focus(id), named, bounds.length),
  );
  return {
    processors: model.processors,
    elapsedNs: Math.round(model.elapsedNs),
    entities: named.all,
    flame,
    bins: bounds,
    figures,
  };
}

const entityOf = ({ subject }: ViewRow): number => (subject.kind === 'entity' ? subject.entity : 0);

function flameOf(model: Model, named: Named, before: Model | null, nodes: number): FlameColumns {
  const { npt, time } = costIndex;
  const root = viewOf(model, 'tree');
  const { rows } = shownRows(root, orderOf('npt'), nodes);
  const shown = rows.filter(({ row, depth }) => depth === 0 || (row.total[npt] ?? 0) > 0);
  const place = new Map(shown.map(({ row }, at) => [row, at]));
  const parents = shown.map(({ parent }) => (parent < 0 ? 0 : (place.get(item(rows, parent).row) ?? 0)));
  return {
    entity: shown.map(({ row }) => named.of(entityOf(row))),
    parent: parents,
    nptNs: shown.map(({ row }) => Math.round(row.total[npt] ?? 0)),
    timeNs: shown.map(({ row }) => Math.round(row.total[time] ?? 0)),
    alone: shown.map(({ row }) => aloneness((row.total[time] ?? 0) / (row.total[npt] || 1), model.processors)),
    changeNs: before === null ? null : changesOf(model, before, shown, parents),
    complete: rows.length < nodes,
  };
}

/** For each node the difference of its NPT to the node with the same call path in the other profile. */
function changesOf(
  model: Model,
  before: Model,
  shown: readonly { row: ViewRow }[],
  parents: readonly number[],
): number[] {
  const { npt } = costIndex;
  const counterparts: (ReadonlyMap<string, ViewRow> | null)[] = [];
  const keyIn = (of: Model, row: ViewRow): string => {
    const { kind, name } = item(of.entities, entityOf(row));
    return `${kind} ${name}`;
  };
  const below = (row: ViewRow): ReadonlyMap<string, ViewRow> => {
    const found = new Map<string, ViewRow>();
    for (const one of row.open(npt)) if (!found.has(keyIn(before, one))) found.set(keyIn(before, one), one);
    return found;
  };
  return shown.map(({ row }, at) => {
    const its = at === 0 ? viewOf(before, 'tree') : counterparts[parents[at] ?? 0]?.get(keyIn(model, row));
    counterparts[at] = its === undefined ? null : below(its);
    return Math.round((row.total[npt] ?? 0) - (its?.total[npt] ?? 0));
  });
}

/**
 * The entities that get a figure: the program, and all that account for at least a thousandth of it, if there is room.
 */
const idsOfFigures = (model: Model, most: number): number[] =>
  [0, ...model.ranking.filter((id) => item(model.entities, id).nptNs >= model.elapsedNs / 1000)].slice(0, most);

function figureOf(focus: Focus, named: Named, binCount: number): Figure {
  const some = focus.rows.filter(({ nptNs }) => nptNs > 0);
  const own = some.slice(0, some.length > mostLayers ? mostLayers - 1 : mostLayers);
  const exact = (byBusy: ArrayLike<number>): number[] => bins(byBusy, binCount).map(({ ns }) => Math.round(ns));
  const layers: Layer[] = own.map((row) => ({
    of: !row.self ? named.of(row.entity) : focus.entity === 0 ? 'outside any known procedure' : 'itself',
    ns: exact(row.byBusyNs),
  }));
  if (some.length > own.length) {
    const all = exact(focus.byBusyNs);
    layers.push({
      of: `${some.length - own.length} others`,
      ns: all.map((ns, at) => Math.max(0, ns - layers.reduce((sum, layer) => sum + (layer.ns[at] ?? 0), 0))),
    });
  }
  return { entity: named.of(focus.entity), nptNs: Math.round(focus.nptNs), layers };
}
