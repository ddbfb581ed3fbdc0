/** The source of the selected procedure with the costs of its lines, around the line with the largest self time. */
import {
  costIndex,
  mainLine,
  pathLength,
  sourceFiles,
  type Entity,
  type Model,
  type SourceLine,
} from '../../../ts-frontend/src/model/index.js';
import { shortName } from '../../../ts-frontend/src/render/wording/short-names.js';
import { cut } from '../../../ts-frontend/src/render/format/text.js';
import { percent } from '../../../ts-frontend/src/render/format/units.js';
import { time } from '../draw/format.js';
import { Canvas, Colour, wrap, type Style } from '../draw/canvas.js';
import type { Glyphs } from '../draw/glyphs.js';
import type { Scene, Size, State } from '../state/types.js';
import { selectedEntity } from '../state/state.js';

/** The columns beside a line; the last ones are omitted on narrow screens. */
interface Column {
  head: string;
  width: number;
  from: number; // the least screen width at which it is shown
  ns: (line: SourceLine) => number;
  text: (ns: number, model: Model, pathNs: number) => string;
}
const share = (ns: number, { elapsedNs }: Model): string => percent(ns, elapsedNs);
const columns: readonly Column[] = [
  { head: 'NPT', width: 8, from: 0, ns: ({ total }) => total[costIndex.npt] ?? 0, text: time },
  { head: 'share', width: 7, from: 90, ns: ({ total }) => total[costIndex.npt] ?? 0, text: share },
  { head: 'self', width: 7, from: 50, ns: ({ self }) => self[costIndex.npt] ?? 0, text: share },
  { head: 'idle', width: 8, from: 64, ns: ({ total }) => total[costIndex.idle] ?? 0, text: time },
  {
    head: 'on path',
    width: 8,
    from: 72,
    ns: ({ total }) => total[costIndex.onPath] ?? 0,
    text: (ns, _model, pathNs) => percent(ns, pathNs),
  },
  { head: 'blocked', width: 8, from: 100, ns: ({ total }) => total[costIndex.blocked] ?? 0, text: time },
];
/** The least share of the elapsed time for which a cost is shown. */
const least = 0.001;

const costsOf = (model: Model, file: string): Map<number, SourceLine> =>
  new Map(
    sourceFiles(model)
      .find(({ path }) => path === file)
      ?.lines.map((line) => [line.line, line]),
  );
/** Rows above the text: the title, and the heads of columns if there are any. */
const above = (costs: ReadonlyMap<number, SourceLine>): number => (costs.size > 0 ? 2 : 1);

/** Why the entity has no file. The program as a whole has none, nor has what was made outside of all known code. */
function whyNone({ id, kind, detail }: Entity): string {
  if (id === 0) return 'this is the whole program; select a procedure, loop, lock or thread';
  if (detail !== '') return detail;
  if (kind === 'procedure') return 'its place is not in the profile';
  return 'it was not made by code of the program';
}
function write(canvas: Canvas, text: string, width: number, style: Style = {}): void {
  wrap(text, width).forEach((line, k) => canvas.text(0, 2 + k, line, style));
}

export function source(scene: Scene, size: Size, state: State, glyphs: Glyphs): Canvas {
  const canvas = new Canvas(size.width, size.height);
  const { model } = scene;
  const entity = model.entities[selectedEntity(state, scene)];
  if (entity === undefined) return canvas;
  const place = `${entity.file}${entity.line > 0 ? `:${entity.line}` : ''}`;
  const name = shortName(model, entity.name, Math.max(size.width >> 1, size.width - place.length - 2), glyphs);
  canvas.text(0, 0, `${name}  ${cut(place, size.width - name.length - 2, glyphs)}`, { bold: true });
  const { source: text } = scene.live;
  if (entity.file === '') {
    write(canvas, `no source known: ${whyNone(entity)}`, size.width);
    return canvas;
  }
  if (text === null || text.file !== entity.file) return canvas;
  if ('error' in text) {
    write(canvas, text.error, size.width, { fg: Colour.yellow });
    return canvas;
  }
  const costs = costsOf(model, entity.file);
  const top = above(costs);
  const shown = costs.size > 0 ? columns.filter(({ from }) => size.width >= from) : [];
  const main = mainLine(model, entity.id);
  const height = size.height - top;
  const first = firstLine(main, state.sourceScroll, text.lines.length, height);
  const digits = String(text.lines.length).length;
  const pathNs = pathLength(model);
  let left = 0;
  for (const { head, width } of shown) {
    canvas.textRight(left, 1, width, head, { fg: Colour.grey });
    left += width;
  }
  for (let row = 0; row < height && first + row < text.lines.length; row++) {
    const number = first + row + 1;
    const y = row + top;
    const line = costs.get(number);
    let x = 0;
    for (const [k, { ns, width, text: textOf }] of shown.entries()) {
      const its = line === undefined ? 0 : ns(line);
      if (its >= least * model.elapsedNs) canvas.textRight(x, y, width, textOf(its, model, pathNs), { bold: k === 0 });
      x += width;
    }
    const here = number === main || number === entity.line;
    if (here) canvas.put(left, y, '>', { bold: true });
    canvas.textRight(left + 1, y, digits, String(number), { fg: Colour.grey });
    const at = left + digits + 2;
    canvas.text(at, y, (text.lines[first + row] ?? '').replace(/\t/g, '        '), here ? { bold: true } : {});
  }
  return canvas;
}
/** The state with a scroll position that is valid for this size. */
export function settledSource(scene: Scene, size: Size, state: State): State {
  const { source: text } = scene.live;
  const id = selectedEntity(state, scene);
  const entity = scene.model.entities[id];
  if (state.sourceScroll === 0 || text === null || 'error' in text || entity === undefined) return state;
  const line = mainLine(scene.model, id);
  const height = size.height - above(costsOf(scene.model, entity.file));
  const at = (scroll: number): number => firstLine(line, scroll, text.lines.length, height);
  const sourceScroll = Math.max(at(-1e9) - at(0), Math.min(at(1e9) - at(0), state.sourceScroll));
  return { ...state, sourceScroll };
}
/** Index of the first line shown; the entity's line is in the upper third unless the user scrolled. */
export function firstLine(line: number, scroll: number, lines: number, height: number): number {
  return Math.max(0, Math.min(line - 1 - Math.floor(height / 3) + scroll, lines - height));
}
