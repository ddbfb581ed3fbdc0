/** A sortable table of entities. */
import { kindTag } from '../../../ts-frontend/src/render/wording/names.js';
import { shortName } from '../../../ts-frontend/src/render/wording/short-names.js';
import { Canvas, Colour } from '../draw/canvas.js';
import type { Glyphs } from '../draw/glyphs.js';
import type { Scene, Size, State } from '../state/types.js';
import { currentIndex, currentRows, tableTab } from '../state/state.js';
import { columnsThatFit, type Column, type Row } from '../state/tables.js';
import { percent } from '../draw/format.js';

/** The first row to show so that the selected one is visible. */
export function scrollTo(index: number, rows: number, total: number): number {
  return Math.max(0, Math.min(index - (rows >> 1), total - rows));
}

export function table(scene: Scene, size: Size, state: State, glyphs: Glyphs): Canvas {
  const canvas = new Canvas(size.width, size.height);
  const tab = tableTab(state);
  const rows = currentRows(state, scene);
  const sort = state.tables[tab].sort;
  const columns = columnsThatFit(tab, size.width, sort, rows, scene.model);
  const mark = state.tables[tab].ascending ? glyphs.up : glyphs.down;
  let x = 1;
  for (const column of columns) {
    const on = column.id === sort;
    const title = (column.id === 'interval' ? glyphs.plusMinus : column.title) + (on ? mark : '');
    if (column.width > 0) canvas.textRight(x, 0, column.width, title, { bold: on, underline: on });
    else {
      const long = `${title}  (change of share since the mark)`;
      canvas.text(
        x,
        0,
        scene.compare === null ? title : x + long.length <= canvas.width ? long : `${title}  (change)`,
        { bold: on, underline: on },
      );
    }
    x += column.width + 1;
  }
  const height = size.height - 1;
  const index = currentIndex(state, scene, rows);
  const first = scrollTo(index, height, rows.length);
  if (rows.length === 0) canvas.text(1, 1, emptyReason(state, tab), { fg: Colour.yellow });
  rows.slice(first, first + height).forEach((row, at) => {
    const selected = first + at === index;
    drawRow(canvas, at + 1, row, columns, scene, glyphs, selected);
  });
  return canvas;
}
function drawRow(
  canvas: Canvas,
  y: number,
  row: Row,
  columns: Column[],
  scene: Scene,
  glyphs: Glyphs,
  selected: boolean,
): void {
  const style = selected ? { inverse: true } : {};
  if (selected) canvas.fill(0, y, canvas.width, 1, ' ', style);
  canvas.put(0, y, selected ? '>' : ' ', style);
  let x = 1;
  for (const column of columns) {
    const text = column.show(row, scene.model, glyphs.ascii);
    if (column.width > 0) canvas.textRight(x, y, column.width, text, style);
    else {
      const change = changeOf(row, scene);
      const kind = kindTag(row.whole);
      const room = Math.max(4, canvas.width - x - change.length); // the name has priority over its kind
      const suffix = row.name.length + kind.length <= room ? kind : '';
      canvas.text(x, y, shortName(scene.model, row.name, room, glyphs) + suffix + change, style);
    }
    x += column.width + 1;
  }
}
function changeOf(row: Row, scene: Scene): string {
  if (scene.compare === null) return '';
  const before = scene.compare.entities[row.entity]?.share ?? 0;
  const change = row.whole.share - before;
  return `  ${change >= 0 ? '+' : ''}${percent(change)}`;
}
function emptyReason(state: State, tab: string): string {
  if (state.filter !== '') return `no name contains "${state.filter}": Esc clears the filter`;
  if (state.focus.length > 0) return 'nothing below this: Backspace goes up';
  if (tab === 'procedures') return 'no procedures seen: compile with the flags that "quartz cflags" prints';
  if (tab === 'threads') return 'no threads seen yet';
  return 'none seen: the program has used no such object since the start of the window';
}
