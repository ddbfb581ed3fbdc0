/**
 * The icicle graph by elapsed time: below each bar what it calls, as wide as its normalized processor time; the darker,
 * the more alone it ran (`quartz flame`, for a live program). One bar is selected, and described below the graph.
 */
import { aloneness, busyBeside, item, type FlameNode } from '../../../ts-frontend/src/model/index.js';
import { icicle, type Bar } from '../../../ts-frontend/src/render/views/flame.js';
import { label, place, shortLabel } from '../../../ts-frontend/src/render/wording/names.js';
import { Canvas, Colour, whole } from '../draw/canvas.js';
import { digits, percent, time } from '../draw/format.js';
import type { Glyphs } from '../draw/glyphs.js';
import { flameShown, matchedNs, matcher, type FlameShown } from '../state/flame.js';
import type { Scene, Size, State } from '../state/types.js';

/** From "ran alone" to "all processors were busy". */
const tones = [Colour.red, Colour.yellow, Colour.magenta, Colour.cyan, Colour.blue];
/** Names are written into bars of this width or more. */
const named = 3;
/** Lines around the graph: the title above; the selected bar and the legend below. */
const around = 3;

interface FlameRows extends FlameShown {
  rows: (Bar & { path: number[] })[][]; // paths from the root of the graph, as in the state
  first: number; // index of the first row that is shown
  height: number;
}

/** The rows of bars, scrolled so far that the selected one is among them. */
export function flameRows(scene: Scene, size: Size, state: State): FlameRows {
  const shown = flameShown(scene, state);
  const height = Math.max(1, size.height - around);
  const rows = icicle(shown.top, size.width, 0).rows.map((bars) =>
    bars.map((bar) => ({ ...bar, path: [...shown.topPath, ...bar.path] })),
  );
  const depth = shown.selectedPath.length - shown.topPath.length;
  const first = Math.max(0, Math.min(rows.length - height, depth - Math.floor(height / 2)));
  return { ...shown, rows, first, height };
}

export function flame(scene: Scene, size: Size, state: State, glyphs: Glyphs): Canvas {
  const canvas = new Canvas(size.width, size.height);
  const { model } = scene;
  const { rows, first, height, top, selected, selectedPath } = flameRows(scene, size, state);
  const matches = matcher(model, state.filter);
  title(canvas, scene, state, top, matches);
  if (rows.length === 0) canvas.text(0, 2, 'nothing was seen at work there');
  rows.slice(first, first + height).forEach((bars, at) => {
    for (const { node, from, to, path } of bars) {
      // one column at the right stays empty, so that adjacent bars can be distinguished
      const room = Math.max(1, to - from - 1);
      const step = aloneness(busyBeside(node), model.processors);
      const isSelected = path.length === selectedPath.length && path.every((entity, k) => entity === selectedPath[k]);
      const style = { fg: item(tones, step), inverse: isSelected };
      canvas.fill(from, at + 1, room, 1, item(glyphs.alone, step), style);
      if (room < named) {
        if (isSelected) canvas.put(from, at + 1, '>', { inverse: true });
        continue;
      }
      const mark = isSelected ? '>' : '';
      const name = shortLabel(model, item(model.entities, node.entity), room - mark.length, glyphs);
      const text = { bold: true, inverse: isSelected, underline: matches(node) };
      const end = canvas.text(from, at + 1, mark + name, text, room);
      if (end < from + room) canvas.put(end, at + 1, ' ', { inverse: isSelected });
    }
  });
  if (rows.length > 0) facts(canvas, scene, selected, glyphs);
  legend(canvas, scene, rows.length - first - height, glyphs);
  return canvas;
}

function title(
  canvas: Canvas,
  { model }: Scene,
  { filter }: State,
  top: FlameNode,
  matches: (node: FlameNode) => boolean,
): void {
  const end = canvas.text(0, 0, 'by elapsed time', { bold: true });
  const of = (ns: number): string => `${time(ns)}, ${percent(model.elapsedNs > 0 ? ns / model.elapsedNs : 0)}`;
  const found = filter === '' ? [] : [`; in "${filter}" (underlined): ${of(matchedNs(top, matches))}`];
  canvas.text(end, 0, whole([`: ${of(top.nptNs)}`, ...found, '; Enter zooms, Backspace back'], canvas.width - end));
}

/** The selected bar, in words. */
function facts(canvas: Canvas, { model }: Scene, node: FlameNode, glyphs: Glyphs): void {
  const entity = item(model.entities, node.entity);
  const ownNs = node.nptNs - node.open().reduce((sum, { nptNs }) => sum + nptNs, 0);
  const where = node.entity === 0 ? '' : place(model, entity, glyphs);
  const y = canvas.height - 2;
  const words = [
    `${time(node.nptNs)} (${percent(model.elapsedNs > 0 ? node.nptNs / model.elapsedNs : 0)})`,
    `, itself ${time(Math.max(0, ownNs))}`,
    ...(model.processors > 1 ? [`, ${digits(busyBeside(node))} of ${model.processors} busy`] : []),
    ...(where === '' ? [] : [`  ${where}`]),
  ];
  const name = label(entity, glyphs);
  const room = Math.max(8, canvas.width - words.slice(0, 3).join('').length - 3);
  const end = canvas.text(0, y, name.length > room ? shortLabel(model, entity, room, glyphs) : name, { bold: true });
  canvas.text(end, y, `  ${whole(words, canvas.width - end - 2)}`);
}

function legend(canvas: Canvas, { model: { processors } }: Scene, deeper: number, glyphs: Glyphs): void {
  const y = canvas.height - 1;
  let x = 0;
  if (processors > 1) {
    x = canvas.text(0, y, 'ran alone ', { fg: Colour.grey });
    glyphs.alone.forEach((glyph, step) => {
      canvas.put(x++, y, glyph, { fg: item(tones, step) });
    });
    x = canvas.text(x, y, ` all ${processors} processors busy`, { fg: Colour.grey });
  }
  if (deeper > 0) canvas.text(x + (x > 0 ? 2 : 0), y, `${deeper} more rows: Down`, { fg: Colour.grey });
}
