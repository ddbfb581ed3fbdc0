/** Calling contexts as a tree that opens and folds: from the top down, by callers, or by module, file and procedure. */
import {
  baseName,
  costIndex,
  pathLength,
  type CostName,
  type Model,
  type ViewName,
  type ViewRow,
} from '../../../ts-frontend/src/model/index.js';
import { label, place, shortLabel } from '../../../ts-frontend/src/render/wording/names.js';
import { cut } from '../../../ts-frontend/src/render/format/text.js';
import { Canvas, Colour } from '../draw/canvas.js';
import { percent, time } from '../draw/format.js';
import type { Glyphs } from '../draw/glyphs.js';
import { contextIndex, contextRows, type ContextRow } from '../state/contexts.js';
import type { Scene, Size, State } from '../state/types.js';
import { scrollTo } from './table.js';

const titles: Record<ViewName, string> = {
  tree: 'context, from the top down',
  callers: 'what costs time by itself, and its callers',
  flat: 'module, file, procedure',
};

interface Column {
  head: string;
  width: number;
  from: number; // the least screen width at which the column is shown
  text: (row: ViewRow, model: Model, pathNs: number) => string;
  sort?: CostName;
}
const total = (row: ViewRow, name: CostName): number => row.total[costIndex[name]] ?? 0;
const some = (head: string, name: CostName, from: number): Column => ({
  head,
  width: 8,
  from,
  sort: name,
  text: (row, model) => (total(row, name) >= model.elapsedNs / 1000 ? time(total(row, name)) : ''),
});
const columns: readonly Column[] = [
  { head: 'NPT', width: 8, from: 0, sort: 'npt', text: (row) => time(total(row, 'npt')) },
  { head: 'share', width: 6, from: 50, text: (row, model) => percent(share(total(row, 'npt'), model)) },
  { head: 'self', width: 6, from: 60, text: (row, model) => percent(share(row.self[costIndex.npt] ?? 0, model)) },
  some('time', 'time', 90),
  some('idle', 'idle', 76),
  some('spin', 'spin', 120),
  some('overhead', 'overhead', 130),
  some('blocked', 'blocked', 100),
  some('io', 'io', 140),
  {
    head: 'on path',
    width: 8,
    from: 110,
    sort: 'onPath',
    text: (row, _model, pathNs) =>
      pathNs > 0 && total(row, 'onPath') >= pathNs / 1000 ? percent(total(row, 'onPath') / pathNs) : '',
  },
];
const share = (ns: number, model: Model): number => (model.elapsedNs > 0 ? ns / model.elapsedNs : 0);

export function contexts(scene: Scene, size: Size, state: State, glyphs: Glyphs): Canvas {
  const canvas = new Canvas(size.width, size.height);
  const { sort, view } = state.contexts;
  const pathNs = pathLength(scene.model);
  const shown = columns.filter(
    ({ from, sort: by }) => (size.width >= from && (by !== 'onPath' || pathNs > 0)) || by === sort,
  );
  let x = 1;
  for (const column of shown) {
    const on = column.sort === sort;
    canvas.textRight(x, 0, column.width, column.head + (on ? glyphs.down : ''), { bold: on, underline: on });
    x += column.width + 1;
  }
  canvas.text(x, 0, titles[view]);
  const rows = contextRows(scene, state);
  const index = contextIndex(state, rows);
  const height = size.height - 1;
  const first = scrollTo(index, height, rows.length);
  if (rows.length === 1 && state.filter !== '')
    canvas.text(1, 2, `no context contains "${state.filter}": Esc clears the filter`, { fg: Colour.yellow });
  rows.slice(first, first + height).forEach((one, at) => {
    const selected = first + at === index;
    const style = selected ? { inverse: true } : {};
    const y = at + 1;
    if (selected) canvas.fill(0, y, canvas.width, 1, ' ', style);
    canvas.put(0, y, selected ? '>' : ' ', style);
    let left = 1;
    for (const column of shown) {
      canvas.textRight(left, y, column.width, column.text(one.row, scene.model, pathNs), style);
      left += column.width + 1;
    }
    canvas.text(left, y, nameOf(scene.model, one, size.width - left, glyphs), style);
  });
  return canvas;
}

/**
 * Indented, with a mark for rows that can be opened (+) or folded (-); followed by the place of its definition, if
 * there is room.
 */
function nameOf(model: Model, { row, depth, open }: ContextRow, room: number, glyphs: Glyphs): string {
  const deepest = Math.max(0, Math.min(depth, Math.floor(room / 4)));
  const mark = row.size === 0 ? ' ' : open ? '-' : '+';
  const indent = `${' '.repeat(deepest)}${deepest < depth ? `[${depth}] ` : ''}${mark} `;
  const left = Math.max(1, room - indent.length);
  const { subject } = row;
  const entity = subject.kind === 'entity' ? model.entities[subject.entity] : undefined;
  if (entity === undefined) {
    const path = subject.kind === 'entity' ? '?' : subject.path;
    return indent + cut(path === '' ? '(not known)' : baseName(path), left, glyphs);
  }
  const recursive = row.recursive ? ' (recursive)' : '';
  const whole = label(entity, glyphs) + recursive;
  const where = entity.id === 0 || entity.rawKind === 'code-loop' ? '' : place(model, entity, glyphs);
  if (whole.length > left) return indent + shortLabel(model, entity, left, glyphs);
  return indent + whole + (where !== '' && whole.length + 2 + where.length <= left ? `  ${where}` : '');
}
