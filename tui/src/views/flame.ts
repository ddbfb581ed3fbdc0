/**
 * The icicle graph of the selected context by elapsed time: below each bar what it calls, as wide as its normalized
 * processor time; the darker, the more alone it ran (`quartz flame`, for a live program).
 */
import { aloneness, flameOf, item } from '../../../ts-frontend/src/model/index.js';
import { icicle } from '../../../ts-frontend/src/render/views/flame.js';
import { shortLabel } from '../../../ts-frontend/src/render/wording/names.js';
import { Canvas, Colour, whole } from '../draw/canvas.js';
import { percent, time } from '../draw/format.js';
import type { Glyphs } from '../draw/glyphs.js';
import { contextEntity } from '../state/contexts.js';
import type { Scene, Size, State } from '../state/types.js';

/** From "ran alone" to "all processors were busy". */
const tones = [Colour.red, Colour.yellow, Colour.magenta, Colour.cyan, Colour.blue];
/** Names are written into bars of this width or more. */
const named = 3;

export function flame(scene: Scene, size: Size, state: State, glyphs: Glyphs): Canvas {
  const canvas = new Canvas(size.width, size.height);
  const { model } = scene;
  const root = flameOf(model, contextEntity(state, scene));
  const { rows, deeper } = icicle(root, canvas.width, Math.max(1, size.height - 2));
  const share = model.elapsedNs > 0 ? root.nptNs / model.elapsedNs : 0;
  const title = canvas.text(0, 0, 'by elapsed time', { bold: true });
  const facts = [
    `: ${time(root.nptNs)}, ${percent(share)}`,
    '; z: the tree',
    ...(deeper ? ['; deeper ones do not fit'] : []),
  ];
  canvas.text(title, 0, whole(facts, canvas.width - title));
  if (rows.length === 0) canvas.text(0, 2, 'nothing was seen at work there');
  rows.forEach((bars, row) => {
    for (const { node, from, to } of bars) {
      // one column at the right stays empty, so that adjacent bars can be distinguished
      const room = Math.max(1, to - from - 1);
      const step = aloneness(node.nptNs > 0 ? node.timeNs / node.nptNs : 1, model.processors);
      const fg = item(tones, step);
      canvas.fill(from, row + 1, room, 1, item(glyphs.alone, step), { fg });
      if (room < named) continue;
      const name = shortLabel(model, item(model.entities, node.entity), room, glyphs);
      const end = canvas.text(from, row + 1, name, { bold: true }, room);
      if (end < from + room) canvas.put(end, row + 1, ' ');
    }
  });
  legend(canvas, model.processors, glyphs);
  return canvas;
}

function legend(canvas: Canvas, processors: number, glyphs: Glyphs): void {
  if (processors <= 1) return;
  const y = canvas.height - 1;
  let x = canvas.text(0, y, 'ran alone ', { fg: Colour.grey });
  glyphs.alone.forEach((glyph, step) => {
    canvas.put(x++, y, glyph, { fg: item(tones, step) });
  });
  canvas.text(x, y, ` all ${processors} processors busy`, { fg: Colour.grey });
}
