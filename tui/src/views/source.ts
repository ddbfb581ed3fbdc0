/** The source of the selected procedure, around its line. */
import { item } from '../../../ts-frontend/src/model/index.js';
import { shortName } from '../../../ts-frontend/src/render/wording/short-names.js';
import { cut } from '../../../ts-frontend/src/render/format/text.js';
import { Canvas, Colour } from '../draw/canvas.js';
import type { Glyphs } from '../draw/glyphs.js';
import type { Scene, Size, State } from '../state/types.js';
import { selectedEntity } from '../state/state.js';

export function source(scene: Scene, size: Size, state: State, glyphs: Glyphs): Canvas {
  const canvas = new Canvas(size.width, size.height);
  const entity = scene.model.entities[selectedEntity(state, scene)];
  if (entity === undefined) return canvas;
  const place = `${entity.file}${entity.line > 0 ? `:${entity.line}` : ''}`;
  const name = shortName(scene.model, entity.name, Math.max(size.width >> 1, size.width - place.length - 2), glyphs);
  canvas.text(0, 0, `${name}  ${cut(place, size.width - name.length - 2, glyphs)}`, { bold: true });
  const { source: text } = scene.live;
  if (entity.file === '') {
    canvas.text(0, 2, `no source known: ${entity.detail === '' ? 'compile with -g' : entity.detail}`);
    return canvas;
  }
  if (text === null || text.file !== entity.file) return canvas;
  if ('error' in text) {
    canvas.text(0, 2, text.error, { fg: Colour.yellow });
    return canvas;
  }
  const height = size.height - 1;
  const first = firstLine(entity.line, state.sourceScroll, text.lines.length, height);
  const digits = String(text.lines.length).length;
  for (let row = 0; row < height && first + row < text.lines.length; row++) {
    const number = first + row + 1;
    const here = number === entity.line;
    canvas.textRight(1, row + 1, digits, String(number), { fg: Colour.grey });
    if (here) canvas.put(0, row + 1, '>', { bold: true });
    canvas.text(
      digits + 2,
      row + 1,
      item(text.lines, first + row).replace(/\t/g, '        '),
      here ? { bold: true } : {},
    );
  }
  return canvas;
}
/** The state with a scroll that this size allows. */
export function settledSource(scene: Scene, size: Size, state: State): State {
  const { source: text } = scene.live;
  const line = scene.model.entities[selectedEntity(state, scene)]?.line ?? 0;
  if (state.sourceScroll === 0 || text === null || 'error' in text) return state;
  const at = (scroll: number): number => firstLine(line, scroll, text.lines.length, size.height - 1);
  const sourceScroll = Math.max(at(-1e9) - at(0), Math.min(at(1e9) - at(0), state.sourceScroll));
  return { ...state, sourceScroll };
}
/** Index of the line at the top; the entity's line stands in the upper third unless scrolled. */
export function firstLine(line: number, scroll: number, lines: number, height: number): number {
  return Math.max(0, Math.min(line - 1 - Math.floor(height / 3) + scroll, lines - height));
}
