/**
 * The last seconds of the time path: a row for each thread on it with its states, the hand-overs between threads, the
 * path's stretches in time order, and its total times by place.
 */
import { type Model, type PathLeg, type RecentPath, type RecentPlace } from '../../../ts-frontend/src/model/index.js';
import { noPathText, cameText, stateText } from '../../../ts-frontend/src/render/path/path.js';
import { label, shortLabel, threadNumbers } from '../../../ts-frontend/src/render/wording/names.js';
import { shortName } from '../../../ts-frontend/src/render/wording/short-names.js';
import { Canvas, Colour, whole, wrap, type Style } from '../draw/canvas.js';
import { count, percent, time } from '../draw/format.js';
import type { Glyphs } from '../draw/glyphs.js';
import { placeIndex, placeRows, shownPath, stretchIndex, stretchRows } from '../state/path.js';
import type { Scene, Size, State } from '../state/types.js';
import { pathLanes, type CellState, type Lanes } from './path-lanes.js';
import { scrollTo } from './table.js';
import { stateStyle } from './timeline.js';

const styles: Record<CellState, Style> = {
  useful: stateStyle.useful,
  overhead: stateStyle.overhead,
  spinning: stateStyle.spinning,
  ready: stateStyle.runnable,
  blocked: { fg: Colour.magenta },
  io: { fg: Colour.blue },
  unknown: { fg: Colour.grey },
};
const glyphOf = (state: CellState, glyphs: Glyphs): string => (state === 'ready' ? glyphs.runnable : glyphs[state]);

export function timePath(scene: Scene, size: Size, state: State, glyphs: Glyphs): Canvas {
  const canvas = new Canvas(size.width, size.height);
  const path = shownPath(scene, state);
  if (path === null) {
    const why = scene.live.finished ? noPathText(scene.model) : 'no time path yet: it is computed about once a second';
    wrap(why, size.width).forEach((line, y) => {
      canvas.text(0, y, line, { fg: Colour.yellow });
    });
    return canvas;
  }
  let y = head(canvas, path, glyphs);
  const rows = Math.max(1, Math.floor((size.height - y - 5) * 0.45));
  const name = Math.max(8, Math.min(24, Math.floor(size.width * 0.2)));
  const lanes = pathLanes(path, Math.max(1, size.width - name - 8), rows);
  y = drawLanes(canvas, scene.model, path, lanes, y, name, glyphs);
  y = axis(canvas, path, lanes, y, name + 8, selectedLeg(scene, state), glyphs);
  lists(canvas, scene, path, y, state, glyphs);
  return canvas;
}

function selectedLeg(scene: Scene, state: State): PathLeg | null {
  const rows = stretchRows(scene, state);
  return state.timePath.list === 'stretches' ? (rows[stretchIndex(state, rows)] ?? null) : null;
}

/** Draws what is shown, how certain it is, and the legend. Returns the next free row. */
function head(canvas: Canvas, path: RecentPath, glyphs: Glyphs): number {
  const { ns, startNs, undecidedNs, inferredNs, unknownNs } = path;
  const hands = `${count(path.handOvers)} ${path.handOvers === 1 ? 'hand-over' : 'hand-overs'}`;
  canvas.text(
    0,
    0,
    whole(
      [`the last ${time(ns)} of the time path`, `, ${hands}`, `, from ${time(startNs)} to ${time(startNs + ns)}`],
      canvas.width,
    ),
    { bold: true },
  );
  const undecided =
    undecidedNs >= ns
      ? `none of it is decided yet ${glyphs.undecided}`
      : `its last ${time(undecidedNs)} are not decided yet ${glyphs.undecided}`;
  const sure = [
    ...(undecidedNs > 0 ? [undecided] : []),
    `inferred ${percent(inferredNs / ns)}`,
    ...(unknownNs > 0 ? [`not known ${percent(unknownNs / ns)}`] : []),
    ...(path.joined > 0 ? [`${count(path.joined)} stretches stand for several`] : []),
  ];
  const unsure = undecidedNs > 0 || inferredNs > 0 || unknownNs > 0 || path.joined > 0;
  canvas.text(0, 1, sure.join('; '), unsure ? { fg: Colour.yellow } : { fg: Colour.grey });
  if (canvas.height < 14) return 2;
  let x = 0;
  const states = (Object.keys(stateText) as CellState[]).filter((name) => path.states[name] > 0);
  for (const name of states.sort((a, b) => path.states[b] - path.states[a])) {
    const text = ` ${stateText[name]}  `;
    if (x + 1 + text.trimEnd().length > canvas.width) break;
    canvas.put(x, 2, glyphOf(name, glyphs), styles[name]);
    x = canvas.text(x + 1, 2, text);
  }
  const less = ' less than another thread';
  if (path.threads.length > 1 && x + less.length < canvas.width) canvas.text(x, 2, glyphs.less + less);
  return 3;
}

/** With the thread's number if another thread on the path has the same name. */
function threadName(model: Model, path: RecentPath, id: number, room: number, glyphs: Glyphs): string {
  const number = threadNumbers(
    model,
    path.threads.map(({ thread }) => thread),
  )(id);
  return shortName(model, model.entities[id]?.name ?? '?', Math.max(1, room - number.length), glyphs) + number;
}

/** Returns the next free row. */
function drawLanes(
  canvas: Canvas,
  model: Model,
  path: RecentPath,
  lanes: Lanes,
  y: number,
  name: number,
  glyphs: Glyphs,
): number {
  const left = name + 8;
  lanes.rows.forEach((lane, at) => {
    const row = y + at;
    const text =
      lane.threads > 1
        ? `(${count(lane.threads)} others)`
        : lane.thread === 0
          ? '(not known)'
          : threadName(model, path, lane.thread, name, glyphs);
    canvas.text(0, row, text, {}, name);
    canvas.textRight(name, row, 7, percent(lane.share));
    lane.cells.forEach((cell, x) => {
      if (cell === null) return;
      if (cell.most) canvas.put(left + x, row, glyphOf(cell.state, glyphs), styles[cell.state]);
      else canvas.put(left + x, row, glyphs.less, { fg: Colour.grey });
    });
  });
  // Connects the row of a thread to that of the next one with a line, where cells are empty.
  lanes.main.forEach((lane, x) => {
    const before = lanes.main[x - 1];
    if (before === undefined || before < 0 || lane < 0 || before === lane) return;
    for (let at = Math.min(before, lane) + 1; at < Math.max(before, lane); at++)
      if (lanes.rows[at]?.cells[x] === null) canvas.put(left + x, y + at, glyphs.vertical, { fg: Colour.grey });
  });
  const row = y + lanes.rows.length;
  if (lanes.rows.length < 2) return row;
  canvas.text(0, row, 'hand-overs', { fg: Colour.grey }, name);
  lanes.handOvers.forEach((some, x) => {
    if (some > 0) canvas.put(left + x, row, some > 9 ? '+' : String(some));
  });
  return row + 1;
}

/** Draws the times below the rows, marks the undecided part, and the selected stretch. Returns the next free row. */
function axis(
  canvas: Canvas,
  path: RecentPath,
  lanes: Lanes,
  y: number,
  left: number,
  leg: PathLeg | null,
  glyphs: Glyphs,
): number {
  const { width } = lanes;
  const cellOf = (ns: number): number =>
    Math.max(0, Math.min(width, Math.floor(((ns - path.startNs) / path.ns) * width)));
  canvas.fill(left, y, width, 1, glyphs.horizontal, { fg: Colour.grey });
  if (leg !== null) {
    const from = Math.min(width - 1, cellOf(leg.startNs));
    canvas.fill(left + from, y, Math.max(1, cellOf(leg.startNs + leg.ns) - from), 1, '^', { bold: true });
  }
  if (path.undecidedNs > 0) {
    const from = Math.min(width - 1, cellOf(path.startNs + path.ns - path.undecidedNs));
    canvas.fill(left + from, y, width - from, 1, glyphs.undecided, { fg: Colour.yellow });
  }
  const first = time(path.startNs);
  canvas.text(Math.max(0, left - first.length - 1), y, first, { fg: Colour.grey });
  return y + 1;
}

/** Draws both lists: side by side if there is room, else one below the other. */
function lists(canvas: Canvas, scene: Scene, path: RecentPath, y: number, state: State, glyphs: Glyphs): void {
  const height = canvas.height - y;
  if (height < 2) return;
  if (canvas.width >= 110) {
    const width = Math.floor(canvas.width * 0.62);
    canvas.blit(0, y, stretches(scene, path, { width, height }, state, glyphs));
    canvas.fill(width, y, 1, height, glyphs.vertical, { fg: Colour.grey });
    canvas.blit(width + 2, y, places(scene, path, { width: canvas.width - width - 2, height }, state, glyphs));
    return;
  }
  const above = height < 7 ? height : Math.ceil(height * 0.55);
  const { width } = canvas;
  const first = state.timePath.list === 'stretches' || above < height;
  if (first) canvas.blit(0, y, stretches(scene, path, { width, height: above }, state, glyphs));
  if (!first || above < height)
    canvas.blit(
      0,
      first ? y + above : y,
      places(scene, path, { width, height: first ? height - above : height }, state, glyphs),
    );
}

interface Column<Row> {
  head: string;
  width: number;
  right: boolean;
  text: (row: Row, room: number) => string;
}

/** The title is marked if the selection can be moved in this list. */
function list<Row>(
  size: Size,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  index: number,
  on: boolean,
): Canvas {
  const canvas = new Canvas(size.width, size.height);
  const fixed = columns.reduce((sum, column) => sum + (column.width > 0 ? column.width + 1 : 0), 1);
  const widthOf = (column: Column<Row>): number => (column.width > 0 ? column.width : Math.max(1, size.width - fixed));
  const draw = (y: number, textOf: (column: Column<Row>, room: number) => string, style: Style): void => {
    let x = 1;
    for (const column of columns) {
      const room = widthOf(column);
      const text = textOf(column, room);
      if (column.right) canvas.textRight(x, y, room, text, style);
      else canvas.text(x, y, text, style, room);
      x += room + 1;
    }
  };
  draw(0, (column) => column.head, on ? { bold: true, underline: true } : { fg: Colour.grey });
  const height = size.height - 1;
  const first = scrollTo(index, height, rows.length);
  rows.slice(first, first + height).forEach((row, at) => {
    const selected = on && first + at === index;
    const style = selected ? { inverse: true } : {};
    if (selected) canvas.fill(0, at + 1, canvas.width, 1, ' ', style);
    if (selected) canvas.put(0, at + 1, '>', style);
    draw(at + 1, (column, room) => column.text(row, room), style);
  });
  return canvas;
}

function stretches(scene: Scene, path: RecentPath, size: Size, state: State, glyphs: Glyphs): Canvas {
  const { model } = scene;
  const rows = stretchRows(scene, state);
  const columns: Column<PathLeg>[] = [
    { head: 'from', width: 8, right: true, text: ({ startNs }) => time(startNs) },
    { head: 'time', width: 8, right: true, text: ({ ns }) => time(ns) },
    {
      head: 'thread',
      width: Math.max(8, Math.floor(size.width * 0.16)),
      right: false,
      text: ({ thread }, room) => (thread === 0 ? '(not known)' : threadName(model, path, thread, room, glyphs)),
    },
    {
      head: 'came',
      width: Math.max(10, Math.floor(size.width * 0.24)),
      right: false,
      text: (leg) => cameText(model, leg, glyphs),
    },
    { head: 'did, mostly in', width: 0, right: false, text: (leg, room) => did(model, leg, room, glyphs) },
  ];
  const canvas = list(size, columns, rows, stretchIndex(state, rows), state.timePath.list === 'stretches');
  if (rows.length === 0) canvas.text(1, 1, noneText(state, path), { fg: Colour.yellow });
  return canvas;
}

/** The most frequent state, unless it is work, and the procedure with most of the time. */
function did(model: Model, leg: PathLeg, room: number, glyphs: Glyphs): string {
  const states = (Object.keys(leg.states) as CellState[]).sort((a, b) => leg.states[b] - leg.states[a]);
  const [most = 'unknown'] = states;
  const mark = `${glyphOf(most, glyphs)} `;
  const entity = model.entities[leg.procedure];
  if (leg.procedure === 0 || entity === undefined) return mark + stateText[most];
  return mark + shortLabel(model, entity, room - mark.length, glyphs);
}

function places(scene: Scene, path: RecentPath, size: Size, state: State, glyphs: Glyphs): Canvas {
  const { model } = scene;
  const rows = placeRows(scene, state);
  const columns: Column<RecentPlace>[] = [
    { head: 'in all', width: 8, right: true, text: ({ ns }) => time(ns) },
    { head: 'share', width: 6, right: true, text: ({ ns }) => percent(ns / path.ns) },
    {
      head: 'procedure, or what was waited for',
      width: 0,
      right: false,
      text: ({ entity, waited }, room) => {
        const its = model.entities[entity];
        if (entity === 0 || its === undefined) return '(not known)';
        const before = waited && its.kind === 'procedure' ? 'waited for ' : '';
        const name = label(its, glyphs);
        return (
          before + (name.length + before.length <= room ? name : shortLabel(model, its, room - before.length, glyphs))
        );
      },
    },
  ];
  const canvas = list(size, columns, rows, placeIndex(state, rows), state.timePath.list === 'places');
  if (rows.length === 0) canvas.text(1, 1, noneText(state, path), { fg: Colour.yellow });
  return canvas;
}

const noneText = (state: State, path: RecentPath): string =>
  state.filter === '' ? `nothing in ${time(path.ns)}` : `no name contains "${state.filter}": Esc clears the filter`;
