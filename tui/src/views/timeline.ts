/** What the processors did over time: lines of dots if the terminal supports them, else stacked cells. */
import { defined, item } from '../../../ts-frontend/src/model/index.js';
import { Canvas, Colour, type Plot, type Style } from '../draw/canvas.js';
import type { Glyphs } from '../draw/glyphs.js';
import type { Model } from '../../../ts-frontend/src/model/index.js';
import type { Scene } from '../state/types.js';
import { digits, time } from '../draw/format.js';

export const stateStyle = {
  useful: { fg: Colour.green },
  overhead: { fg: Colour.yellow },
  spinning: { fg: Colour.red, bold: true },
  idle: { fg: Colour.grey },
  runnable: { fg: Colour.cyan },
} as const satisfies Record<string, Style>;

/** The maximum of the scale as a multiple of the number of processors, for showing runnable threads. */
const mostLines = 4,
  mostCells = 2;

/** Draws it at `y` over the whole width; `height` with its title and its axis. */
export function timeline(canvas: Canvas, scene: Scene, y: number, height: number, glyphs: Glyphs): void {
  if (glyphs.dots) lines(canvas, scene.model, y, height, glyphs);
  else cells(canvas, scene, y, height, glyphs);
}

/** A title, and as much of the legend as fits. */
export function legend(
  canvas: Canvas,
  title: string,
  entries: readonly (readonly [string, string, Style])[],
  y: number,
): void {
  let at = canvas.text(0, y, title, { bold: true }) + 2;
  for (const [label, glyph, style] of entries) {
    if (at + 2 + label.length > canvas.width) return;
    canvas.put(at, y, glyph, style);
    at = canvas.text(at + 2, y, label) + 2;
  }
}

// ---- lines ----

interface Series {
  label: string;
  short: string;
  style: Style;
  value: (part: Part) => number;
}

/** The topmost series first. If there is no spinning, the series for it is omitted. */
function seriesOf(model: Model): Series[] {
  const spins = model.timeline.some((stretch) => stretch.spinningNs > 0.01 * stretch.ns);
  return [
    { label: 'runnable threads', short: 'runnable', style: stateStyle.runnable, value: (part) => part.runnable },
    ...(spins
      ? [
          {
            label: 'busy or spinning',
            short: '+ spinning',
            style: stateStyle.spinning,
            value: (part: Part): number => part.useful + part.overhead + part.spinning,
          },
        ]
      : []),
    { label: 'busy', short: 'busy', style: stateStyle.overhead, value: (part) => part.useful + part.overhead },
    { label: 'useful', short: 'useful', style: stateStyle.useful, value: (part) => part.useful },
  ];
}

function lines(canvas: Canvas, model: Model, y: number, height: number, glyphs: Glyphs): void {
  const series = seriesOf(model);
  const narrow = canvas.width < 80;
  const title = `processors (of ${model.processors})${narrow ? '' : ', top down'}`;
  const rows = height - 1;
  const top = topOf(model, mostLines);
  const axis = String(top).length + 1;
  const points = (canvas.width - axis - 1) * 2;
  if (rows < 3 || points < 8) return;
  const parts = resample(model.timeline, points);
  const most = Math.max(0, ...model.timeline.map((stretch) => stretch.meanRunnable));
  legend(
    canvas,
    title,
    series.map(
      ({ label, short, style }, at) =>
        [
          (canvas.width < 100 ? short : label) + (at === 0 && most > top ? ` (to ${digits(most)}, cut)` : ''),
          glyphs.line,
          style,
        ] as const,
    ),
    y,
  );
  const { from, to } = spanOf(model);
  const values = (value: Series['value']): number[] => {
    let last = 0;
    return parts.map((part) => (last = part === null ? last : Math.min(top, value(part) / (part.ns || 1))));
  };
  const plot: Plot = {
    x: 0,
    y: y + 1,
    width: canvas.width,
    height: rows,
    axis,
    top,
    step: Math.min(top, niceStep(top, Math.max(1, Math.min(5, (rows - 2) >> 1)))), // at most the end of the scale
    series: series.map(({ style, value }) => ({ colour: defined(style.fg), values: values(value) })),
    ...timeMarks(from, to, points, canvas.width),
  };
  canvas.plot = plot;
}

/** The labels of the time axis, at round times, and the number of points between them. */
function timeMarks(from: number, to: number, points: number, width: number): { labels: string[]; every: number } {
  const step = niceStep(to - from, Math.max(2, Math.min(8, Math.floor(width / 16))));
  const every = Math.max(1, Math.min(points, Math.round((step / Math.max(1, to - from)) * points)));
  return { every, labels: Array.from({ length: points }, (_, k) => time(Math.round(k / every) * step + from)) };
}

/** The smallest step of the form 1, 2 or 5 times a power of ten such that at most `most` steps cover `whole`. */
function niceStep(whole: number, most: number): number {
  const least = Math.max(1, whole) / most;
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => Math.max(1, factor * power)).find((step) => step >= least - 1e-9) ?? 10 * power;
}

// ---- cells ----

/** Processor time by state, stacked, with a mark where there were more runnable threads than busy processors. */
function cells(canvas: Canvas, scene: Scene, y: number, height: number, glyphs: Glyphs): void {
  const { model } = scene;
  const P = model.processors;
  legend(
    canvas,
    `processors (of ${P})`,
    [
      ['useful', glyphs.useful, stateStyle.useful],
      ['overhead', glyphs.overhead, stateStyle.overhead],
      ['spinning', glyphs.spinning, stateStyle.spinning],
      ['idle', glyphs.idle, stateStyle.idle],
      [canvas.width < 84 ? 'runnable' : 'runnable threads', glyphs.runnable, stateStyle.runnable],
    ],
    y,
  );
  const rows = height - 2;
  const top = topOf(model, mostCells);
  const left = String(top).length + 1;
  const columns = canvas.width - left;
  if (rows < 1 || columns < 4) return;
  for (const level of new Set([top, P, ...(rows > 6 ? [Math.ceil(P / 2)] : [])]))
    canvas.textRight(0, y + 1 + rows - Math.max(1, Math.round((level / top) * rows)), left - 1, String(level));
  resample(model.timeline, columns).forEach((part, column) => {
    if (part === null) return;
    const scale = rows / (top * part.ns || 1);
    const busy = part.useful + part.overhead;
    const levels = [part.useful * scale, busy * scale, (busy + part.spinning) * scale, P * part.ns * scale];
    const runnable = Math.min(rows - 1, Math.round(part.runnable * scale) - 1);
    const waiting = part.runnable * scale - item(levels, 2) >= 0.5;
    for (let up = 0; up < rows; up++) {
      const at = levels.findIndex((level) => up + 0.5 <= level);
      const state = at < 0 ? undefined : (['useful', 'overhead', 'spinning', 'idle'] as const)[at];
      const cell = up === runnable && waiting && (state === undefined || state === 'idle') ? 'runnable' : state;
      if (cell !== undefined) canvas.put(left + column, y + rows - up, glyphs[cell], stateStyle[cell]);
    }
  });
  const { from, to } = spanOf(model);
  canvas.text(left, y + 1 + rows, time(from));
  canvas.textRight(left, y + 1 + rows, columns, time(to));
  if (scene.live.shownNs < scene.live.nowNs && to > from) {
    const column = Math.floor(((scene.live.shownNs - from) / (to - from)) * (columns - 1));
    if (column >= 0 && column < columns) canvas.put(left + column, y + 1 + rows, '^', { bold: true });
  }
}

// ---- both ----

/** The end of the scale: all processors, and runnable threads beyond that, up to `most` times as many. */
function topOf(model: Model, most: number): number {
  const runnable = Math.max(0, ...model.timeline.map((stretch) => stretch.meanRunnable));
  return Math.ceil(Math.min(most * model.processors, Math.max(model.processors, runnable - 0.05)));
}
function spanOf({ timeline: stretches }: Model): { from: number; to: number } {
  const last = stretches.at(-1);
  return { from: stretches[0]?.startNs ?? 0, to: last === undefined ? 0 : last.startNs + last.ns };
}

interface Part {
  ns: number;
  useful: number;
  overhead: number;
  spinning: number;
  runnable: number;
}
/** The timeline's stretches, distributed over columns by time. */
function resample(stretches: Model['timeline'], columns: number): (Part | null)[] {
  const parts: (Part | null)[] = new Array<Part | null>(columns).fill(null);
  const last = stretches.at(-1);
  if (last === undefined) return parts;
  const from = item(stretches, 0).startNs;
  const span = last.startNs + last.ns - from;
  if (span <= 0) return parts;
  for (const stretch of stretches) {
    if (stretch.ns <= 0) continue;
    const begin = ((stretch.startNs - from) / span) * columns;
    const end = ((stretch.startNs + stretch.ns - from) / span) * columns;
    for (let column = Math.floor(begin); column < Math.min(columns, Math.ceil(end)); column++) {
      const share = (Math.min(end, column + 1) - Math.max(begin, column)) / (end - begin);
      const part = (parts[column] ??= { ns: 0, useful: 0, overhead: 0, spinning: 0, runnable: 0 });
      part.ns += stretch.ns * share;
      part.useful += stretch.usefulNs * share;
      part.overhead += stretch.overheadNs * share;
      part.spinning += stretch.spinningNs * share;
      part.runnable += stretch.meanRunnable * stretch.ns * share;
    }
  }
  return parts;
}
