/** Keys and the meaning of columns, over the screen; on several pages if they do not fit on one. */
import { Canvas, Colour, whole, wrap } from '../draw/canvas.js';
import { bindings } from '../state/keys.js';
import { columnsOf } from '../state/tables.js';
import type { Size, State } from '../state/types.js';
import { tableTab } from '../state/state.js';

interface Line {
  key: string;
  text: string;
  title?: boolean;
}

/** Wide screens have two columns of lines. */
const columnsAt = (width: number): number => (width >= 100 ? 2 : 1);

function linesOf(width: number, state: State): Line[] {
  const room = Math.floor(width / columnsAt(width)) - 13;
  const entry = (key: string, text: string): Line[] =>
    wrap(text, room).map((line, index) => ({ key: index === 0 ? key : '', text: line }));
  return [
    { key: 'Keys', text: '', title: true },
    ...bindings.flatMap(({ shown, does }) => entry(shown, does)),
    { key: 'Columns', text: '', title: true },
    ...columnsOf(tableTab(state)).flatMap(({ title, help }) => entry(title, help)),
  ];
}

const perPage = (size: Size): number => Math.max(1, size.height - 1) * columnsAt(size.width);
export const helpPages = (size: Size, state: State): number =>
  Math.ceil(linesOf(size.width, state).length / perPage(size));

export function help(size: Size, state: State): Canvas {
  const canvas = new Canvas(size.width, size.height);
  const pages = helpPages(size, state);
  const page = Math.min(state.help, pages);
  canvas.text(
    0,
    0,
    whole(
      [`Help, page ${page} of ${pages}`, page < pages ? ' (any key: next page; Esc closes)' : ' (any key closes this)'],
      size.width,
    ),
    { bold: true },
  );
  const rows = size.height - 1;
  const half = Math.floor(size.width / columnsAt(size.width));
  linesOf(size.width, state)
    .slice((page - 1) * perPage(size), page * perPage(size))
    .forEach((line, index) => {
      const x = Math.floor(index / rows) * half;
      const y = 1 + (index % rows);
      canvas.text(x + (line.title ? 0 : 1), y, line.key, line.title ? { bold: true } : { fg: Colour.cyan, bold: true });
      canvas.text(x + 12, y, line.text, undefined, half - 13);
    });
  return canvas;
}
