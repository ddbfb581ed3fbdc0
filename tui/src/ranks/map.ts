/**
 * Draws the ranks of a set as a map, with the selected rank in words below, as a pure function of scene, size and
 * state.
 */
import { item } from '../../../ts-frontend/src/model/index.js';
import { count, percent, time } from '../../../ts-frontend/src/render/format/units.js';
import { cut } from '../../../ts-frontend/src/render/format/text.js';
import { columnsOf, farthest, labelsOf, longestOf, stepOf } from '../../../ts-frontend/src/sets/heat.js';
import { coresOf, rankOf } from '../../../ts-frontend/src/sets/views.js';
import { Canvas, Colour, wrap, type Style } from '../draw/canvas.js';
import { plainLetters, type Glyphs } from '../draw/glyphs.js';
import type { Size } from '../state/types.js';
import { rankKeys, type RankScene, type RankState } from './state.js';

export const smallest: Size = { width: 40, height: 10 };
/** The first line of the map. */
const mapTop = 3;
const widest = 8; // maximum number of columns of cells for one rank
/** The maximum number of lines for what limits the job. */
const limitLines = 2;
const labelShare = 0.35; // maximum share of the width for labels
const colours = [Colour.brightBlue, Colour.cyan, Colour.grey, Colour.yellow, Colour.brightRed] as const;
const meanings = ['5 % less', '1 % less', 'near it', '1 % more', '5 % more'] as const;

/** Positions on the map, also used for keys and mouse. */
interface MapPlaces {
  left: number; // column at which the first rank begins
  wide: number; // width of each rank, in columns of cells
  columns: readonly (readonly number[])[]; // for each column of the map: its ranks, as indices into `members`
  firstRow: number;
  rows: number; // number of rows that fit
}

export function placesOf({ rows }: RankScene, size: Size, state: RankState): MapPlaces {
  const longest = rows.reduce((most, row) => Math.max(most, labelsOf(row).label.length), 12);
  const left = 2 + Math.min(longest, Math.floor(size.width * labelShare)) + 1;
  const columns = columnsOf(
    state.members.map((_, place) => place),
    size.width - left,
  );
  const wide = Math.max(1, Math.min(widest, Math.floor((size.width - left) / columns.length)));
  const room = Math.max(1, Math.min(rows.length, size.height - mapTop - 1 - Math.min(8, Math.floor(size.height / 3))));
  const firstRow = Math.max(0, Math.min(rows.length - room, state.row - Math.floor(room / 2)));
  return { left, wide, columns, firstRow, rows: room };
}

/** The column that contains the selected rank. */
const columnOf = ({ columns }: MapPlaces, state: RankState): number =>
  Math.floor(state.place / Math.max(1, columns[0]?.length ?? 1));

/** The members in the selected column. */
export const selectedMembers = (places: MapPlaces, state: RankState): number[] =>
  (places.columns[columnOf(places, state)] ?? []).map((place) => item(state.members, place));

export function rankMap(scene: RankScene, size: Size, state: RankState, glyphs: Glyphs): Canvas {
  const canvas = new Canvas(size.width, size.height);
  if (size.width < smallest.width || size.height < smallest.height) {
    canvas.text(0, 0, `quartz top needs ${smallest.width}x${smallest.height}`);
    canvas.text(0, 1, 'q quits');
    return canvas;
  }
  header(canvas, scene);
  if (state.help) help(canvas);
  else if (scene.rows.length === 0)
    wrap('The ranks differ in nothing by 1 % of their elapsed time.', size.width).forEach((line, y) => {
      canvas.text(0, 2 + y, line);
    });
  else {
    const places = placesOf(scene, size, state);
    legend(canvas, scene, state, places, glyphs);
    cells(canvas, scene, state, places, glyphs);
    details(canvas, scene, state, places, mapTop + places.rows + 1);
  }
  footer(canvas, state);
  if (glyphs.ascii) canvas.replace(plainLetters);
  return canvas;
}

function header(canvas: Canvas, { set }: RankScene): void {
  const hosts = new Set(set.ranks.map(({ host }) => host)).size;
  const all = [
    ` ${set.head.programs.join(', ')}`,
    `${count(set.ranks.length)} ranks`,
    hosts === 1 ? '1 host' : `${count(hosts)} hosts`,
    `${count(coresOf(set))} cores`,
    `longest rank ${time(longestOf(set))}`,
  ];
  // drop facts until all fit, rather than cut one off
  while (all.length > 1 && all.join('  ').length > canvas.width) all.pop();
  canvas.fill(0, 0, canvas.width, 1, ' ', { inverse: true });
  canvas.text(0, 0, all.join('  '), { inverse: true });
}

/** The legend of the signs, and the range of ranks that the columns show. */
function legend(canvas: Canvas, { set }: RankScene, state: RankState, places: MapPlaces, glyphs: Glyphs): void {
  let x = canvas.text(0, 1, 'from the median: ', { fg: Colour.grey });
  meanings.forEach((meaning, step) => {
    x = canvas.text(x, 1, item(glyphs.steps, step), { fg: item(colours, step) });
    x = canvas.text(x, 1, ` ${meaning}  `, { fg: Colour.grey });
  });
  const { left, wide, columns } = places;
  const nameAt = (place: number): string => String(rankOf(item(set.ranks, item(state.members, place))));
  const width = wide * columns.length;
  const [first, last] = [nameAt(0), nameAt(state.members.length - 1)];
  canvas.text(0, 2, cut(`rank${state.sorted === null ? '' : ', sorted'}`, left - 1, glyphs), { fg: Colour.grey });
  canvas.text(left, 2, first, { fg: Colour.grey });
  if (width > first.length + last.length) canvas.textRight(left, 2, width, last, { fg: Colour.grey });
  const selected = nameAt(state.place);
  const at = left + columnOf(places, state) * wide;
  canvas.text(Math.min(at, canvas.width - selected.length), 2, selected, { bold: true });
}

function cells(canvas: Canvas, { set, rows }: RankScene, state: RankState, places: MapPlaces, glyphs: Glyphs): void {
  const { left, wide, columns, firstRow } = places;
  const longest = longestOf(set);
  const selected = columnOf(places, state);
  for (let k = 0; k < places.rows; k++) {
    const row = item(rows, firstRow + k);
    const y = mapTop + k;
    const on = firstRow + k === state.row;
    canvas.text(0, y, `${on ? '>' : ' '} ${cut(labelsOf(row).label, left - 3, glyphs)}`, on ? { bold: true } : {});
    columns.forEach((members, column) => {
      const value = item(
        row.values,
        farthest(
          row,
          members.map((place) => item(state.members, place)),
        ),
      );
      const step = stepOf((value - row.median) / longest);
      const style: Style = { fg: item(colours, step), ...(on && column === selected ? { inverse: true } : {}) };
      const drawn = wide > 2 ? wide - 1 : wide; // with a gap if there is room
      canvas.fill(left + column * wide, y, drawn, 1, item(glyphs.steps, step), style);
    });
  }
}

/**
 * What limits the job; of the selected rank its value in the selected row, its totals, and the first findings of its
 * report.
 */
function details(
  canvas: Canvas,
  { set, rows, limit }: RankScene,
  state: RankState,
  places: MapPlaces,
  top: number,
): void {
  const row = item(rows, state.row);
  const members = selectedMembers(places, state);
  const member = farthest(row, members);
  const rank = item(set.ranks, member);
  const value = item(row.values, member);
  const distance = (value - row.median) / longestOf(set);
  const who = `rank ${rankOf(rank)} on ${rank.host}`;
  const several = members.length > 1 ? `, the farthest of ${members.length} in this column` : '';
  const findings = set.findings.filter((finding) => finding.member === member).sort((a, b) => a.nth - b.nth);
  const lines: [string, Style][] = [
    [`${who}${several}`, { bold: true }],
    [
      `${labelsOf(row).title}: ${time(value)}; the median is ${time(row.median)}, ` +
        `${percent(Math.abs(distance), 1)} of the longest rank's elapsed time ${distance > 0 ? 'less' : 'more'}`,
      {},
    ],
    [
      `elapsed ${time(rank.elapsed_ns)}: useful ${time(rank.useful_ns)} on ${rank.processors} ` +
        `${rank.processors === 1 ? 'processor' : 'processors'}, spinning ${time(rank.spinning_ns)}, nothing ran ` +
        `${time(rank.nothing_ran_ns)}, in MPI ${time(rank.mpi_ns)}, for CPUs ${time(rank.cpu_wait_ns)}`,
      { fg: Colour.grey },
    ],
    ...findings.map(({ nth, text }): [string, Style] => [`${nth}. ${text}`, {}]),
  ];
  let y = top;
  if (limit !== null) {
    const said = wrap(limit, canvas.width);
    said.slice(0, limitLines).forEach((line, k) => {
      const more = k === limitLines - 1 && said.length > limitLines;
      canvas.text(0, y++, more ? `${line} …` : line, { fg: Colour.yellow });
    });
  }
  for (const [text, style] of lines)
    for (const line of wrap(text, canvas.width)) {
      if (y >= canvas.height - 1) return;
      canvas.text(0, y++, line, style);
    }
}

function help(canvas: Canvas): void {
  canvas.text(0, 2, 'Keys (any key closes this)', { bold: true });
  let y = 3;
  for (const { shown, does } of rankKeys)
    wrap(does, canvas.width - 13).forEach((line, k) => {
      if (y >= canvas.height - 1) return;
      if (k === 0) canvas.text(1, y, shown, { fg: Colour.cyan, bold: true });
      canvas.text(12, y++, line);
    });
}

function footer(canvas: Canvas, state: RankState): void {
  const y = canvas.height - 1;
  if (state.message !== '') {
    canvas.text(0, y, state.message, { bold: true });
    return;
  }
  const keys = ['? help', 'q quit', 'Enter its report', 'arrows choose', 's sort'];
  if (state.outer.length > 0) keys.splice(2, 0, 'Esc all before');
  while (keys.join('  ').length > canvas.width) keys.pop();
  canvas.text(0, y, keys.join('  '), { fg: Colour.grey });
}

/** The cell at a position on the screen: row, and index into `members`; null: there is none. */
export function cellAt(
  scene: RankScene,
  size: Size,
  state: RankState,
  x: number,
  y: number,
): { row: number; place: number } | null {
  const { left, wide, columns, firstRow, rows } = placesOf(scene, size, state);
  const place = columns[Math.floor((x - left) / wide)]?.[0];
  return x < left || y < mapTop || y >= mapTop + rows || place === undefined
    ? null
    : { row: firstRow + y - mapTop, place };
}
