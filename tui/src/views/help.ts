/** Keys and column meanings, over the screen. */
import { Canvas, wrap } from '../canvas.js';
import { bindings } from '../keys.js';
import { columnsOf } from '../tables.js';
import { tableTab, type Size, type State } from '../state.js';
import { Colour } from '../canvas.js';

export function help(size: Size, state: State): Canvas {
  const canvas = new Canvas(size.width, size.height);
  const lines = bindings.map((binding) => [binding.shown, binding.does] as const);
  const half = size.width >= 100 ? Math.ceil(lines.length / 2) : lines.length;
  canvas.text(0, 0, 'Keys (any key closes this)', { bold: true });
  lines.forEach(([key, does], index) => {
    const column = Math.floor(index / half);
    const x = column * Math.floor(size.width / 2);
    canvas.text(x + 1, 1 + (index % half), key, { fg: Colour.cyan, bold: true });
    canvas.text(x + 12, 1 + (index % half), does, undefined, Math.floor(size.width / (half < lines.length ? 2 : 1)) - 13);
  });
  let y = half + 2;
  if (y < size.height) canvas.text(0, y++, 'Columns', { bold: true });
  for (const column of columnsOf(tableTab(state))) {
    if (y >= size.height) break;
    canvas.text(1, y, column.title, { fg: Colour.cyan, bold: true });
    for (const line of wrap(column.help, size.width - 13)) if (y < size.height) canvas.text(12, y++, line);
  }
  return canvas;
}
