/**
 * Normalized processor time over the number of concurrently busy processors, with self time and children in different
 * shades (Anderson & Lazowska 1990, Figure 1).
 */
import { addAt, item } from '../../../ts-frontend/src/model/index.js';
import { Canvas, Colour } from '../draw/canvas.js';
import type { Glyphs } from '../draw/glyphs.js';
import type { Entity } from '../../../ts-frontend/src/model/index.js';
import { time } from '../draw/format.js';

export function histogram(
  canvas: Canvas,
  entity: Entity,
  x: number,
  y: number,
  width: number,
  height: number,
  glyphs: Glyphs,
): void {
  canvas.text(x, y, 'NPT by busy processors', { bold: true }, width);
  if (width > 42) {
    canvas.put(x + 24, y, glyphs.self, { fg: Colour.blue });
    canvas.text(x + 26, y, 'self');
    canvas.put(x + 32, y, glyphs.children, { fg: Colour.cyan });
    canvas.text(x + 34, y, 'children');
  }
  const rows = height - 2;
  const left = 9;
  const columns = width - left;
  const P = entity.byBusyNs.length;
  if (rows < 1 || columns < 2 || P === 0) return;
  // Several values of b share a bar if there is no room for one each.
  const bins = Math.min(P, columns);
  const cell = Math.max(1, Math.min(6, Math.floor(columns / bins)));
  const total = new Float64Array(bins);
  const self = new Float64Array(bins);
  for (let i = 0; i < P; i++) {
    const bin = Math.floor((i * bins) / P);
    addAt(total, bin, item(entity.byBusyNs, i));
    addAt(self, bin, item(entity.byBusySelfNs, i));
  }
  const most = Math.max(...total, 0);
  canvas.textRight(x, y + 1, left - 1, most > 0 ? time(most) : '0', undefined);
  for (let bin = 0; bin < bins; bin++) {
    const own = most > 0 ? Math.round((item(self, bin) / most) * rows) : 0;
    let all = most > 0 ? Math.round((item(total, bin) / most) * rows) : 0;
    if (all === 0 && item(total, bin) > 0) all = 1;
    for (let row = 0; row < all; row++) {
      const isSelf = row < own;
      const inner = cell > 1 ? cell - 1 : 1;
      canvas.fill(x + left + bin * cell, y + rows - row, inner, 1, isSelf ? glyphs.self : glyphs.children, {
        fg: isSelf ? Colour.blue : Colour.cyan,
      });
    }
  }
  canvas.text(x, y + 1 + rows, 'busy', undefined, left - 1);
  let free = x + left;
  for (let bin = 0; bin < bins; bin++) {
    const label = String(Math.floor((bin * P) / bins) + 1);
    const at = x + left + bin * cell;
    if (at >= free && at + label.length <= x + width) {
      canvas.text(at, y + 1 + rows, label);
      free = at + label.length + 1;
    }
  }
}

/** Bars for a distribution, each with its label and amount. */
export function bars(
  canvas: Canvas,
  title: string,
  rows: { label: string; value: number; text: string }[],
  x: number,
  y: number,
  width: number,
  height: number,
  glyphs: Glyphs,
): number {
  if (height < 2) return 0;
  canvas.text(x, y, title, { bold: true }, width);
  const shown = rows.slice(0, height - 1);
  const most = Math.max(...shown.map((row) => row.value), 0);
  const label = Math.max(0, ...shown.map((row) => row.label.length)) + 1;
  const amount = Math.max(0, ...shown.map((row) => row.text.length)) + 1;
  const room = Math.max(1, width - label - amount);
  shown.forEach((row, at) => {
    canvas.textRight(x, y + 1 + at, label - 1, row.label);
    const length = most > 0 ? Math.max(row.value > 0 ? 1 : 0, Math.round((row.value / most) * room)) : 0;
    canvas.fill(x + label, y + 1 + at, length, 1, glyphs.bar, { fg: Colour.blue });
    canvas.text(x + label + length + 1, y + 1 + at, row.text, undefined, amount);
  });
  return shown.length + 1;
}
