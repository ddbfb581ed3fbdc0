/** What limits the program, and what the processors did over time. */
import { Canvas, Colour, wrap } from '../canvas.js';
import type { Glyphs } from '../glyphs.js';
import type { Scene, Size } from '../state.js';
import { digits, percent, time } from '../format.js';

const stateStyle = {
  useful: { fg: Colour.green }, overhead: { fg: Colour.yellow }, spinning: { fg: Colour.red, bold: true }, idle: { fg: Colour.grey },
  runnable: { fg: Colour.cyan },
} as const;

export function overview(scene: Scene, size: Size, glyphs: Glyphs): Canvas {
  const canvas = new Canvas(size.width, size.height);
  let y = findings(canvas, scene, size);
  y++;
  const bars = Math.max(1, size.height - y);
  const processors = scene.live.processors.length;
  // One line a processor where they fit below a chart of at least six lines, else one strip.
  const lines = processors > 0 && processors + 1 <= bars - 7 ? processors : processors > 0 ? Math.ceil(processors / Math.max(1, size.width - 12)) : 0;
  const chartHeight = Math.max(3, bars - (lines > 0 ? lines + 1 : 0));
  chart(canvas, scene, 0, y, size.width, Math.min(chartHeight, bars), glyphs);
  y += chartHeight;
  if (lines > 0 && y < size.height) {
    if (lines === processors) processorLines(canvas, scene, y, glyphs);
    else heatStrip(canvas, scene, y, glyphs);
  }
  return canvas;
}

function findings(canvas: Canvas, scene: Scene, size: Size): number {
  let y = 0;
  canvas.text(0, y++, 'What limits this program', { bold: true });
  const room = Math.max(3, Math.floor(size.height * 0.45));
  const { model } = scene;
  if (model.findings.length === 0) {
    for (const notice of model.notices.slice(0, 2)) {
      for (const line of wrap(`${notice.reason} ${notice.remedy}`, size.width - 2)) if (y <= room) canvas.text(2, y++, line);
    }
    return y;
  }
  model.findings.forEach((finding, index) => {
    const lines = wrap(`${finding.text} ${finding.remedy}`, size.width - 3);
    lines.forEach((line, at) => {
      if (y > room) return;
      if (at === 0) canvas.text(0, y, `${index + 1}.`, { bold: true });
      canvas.text(3, y++, line);
    });
  });
  return y;
}

/** Processor time by state over the run, stacked; `-` marks the mean number of runnable threads. */
export function chart(canvas: Canvas, scene: Scene, x: number, y: number, width: number, height: number, glyphs: Glyphs): void {
  const { model } = scene;
  const P = model.processors;
  canvas.text(x, y, `processors (of ${P})`, { bold: true });
  let at = x + 22;
  for (const [label, glyph, style] of [
    ['useful', glyphs.useful, stateStyle.useful], ['overhead', glyphs.overhead, stateStyle.overhead],
    ['spinning', glyphs.spinning, stateStyle.spinning], ['idle', glyphs.idle, stateStyle.idle], ['runnable threads', glyphs.runnable, stateStyle.runnable],
  ] as const) {
    const shown = at + 2 + label.length <= x + width ? label : label.split(' ')[0]!; // 80 columns: "runnable"
    if (at + 2 + shown.length > x + width) break;
    canvas.put(at, y, glyph, style);
    at = canvas.text(at + 2, y, shown) + 2;
  }
  const rows = height - 2;
  const left = String(P).length + 1;
  const columns = width - left;
  if (rows < 1 || columns < 4) return;
  const parts = resample(model.timeline, columns);
  for (let row = 0; row < rows; row++) {
    const top = rows - row;
    const level = (top / rows) * P;
    if (row === 0 || row === rows - 1 || (rows > 6 && row === rows >> 1)) canvas.textRight(x, y + 1 + row, left - 1, digits(level).replace(/\.0+$/, ''));
  }
  parts.forEach((part, column) => {
    if (part === null) return;
    const scale = rows / (P * part.ns || 1);
    const levels = [part.useful * scale, (part.useful + part.overhead) * scale, (part.useful + part.overhead + part.spinning) * scale];
    for (let row = 0; row < rows; row++) {
      const middle = rows - row - 0.5;
      const cell = middle <= levels[0]! ? 'useful' : middle <= levels[1]! ? 'overhead' : middle <= levels[2]! ? 'spinning' : 'idle';
      canvas.put(x + left + column, y + 1 + row, glyphs[cell], stateStyle[cell]);
    }
    const runnable = Math.round((part.runnable / (part.ns || 1) / P) * rows);
    if (runnable >= 1) canvas.put(x + left + column, y + 1 + rows - Math.min(rows, runnable), glyphs.runnable, stateStyle.runnable);
  });
  const span = model.timeline.length === 0 ? 0 : model.timeline[model.timeline.length - 1]!.startNs + model.timeline[model.timeline.length - 1]!.ns;
  const from = model.timeline[0]?.startNs ?? 0;
  canvas.text(x + left, y + 1 + rows, time(from));
  canvas.textRight(x + left, y + 1 + rows, columns, time(span));
  if (scene.live.shownNs < scene.live.nowNs && span > from) {
    const column = Math.floor(((scene.live.shownNs - from) / (span - from)) * (columns - 1));
    if (column >= 0 && column < columns) canvas.put(x + left + column, y + 1 + rows, '^', { bold: true });
  }
}

interface Part { ns: number; useful: number; overhead: number; spinning: number; runnable: number }
/** The timeline's stretches, spread over columns by time. */
function resample(timeline: readonly { startNs: number; ns: number; usefulNs: number; overheadNs: number; spinningNs: number; meanRunnable: number }[], columns: number): (Part | null)[] {
  const parts: (Part | null)[] = new Array<Part | null>(columns).fill(null);
  const last = timeline[timeline.length - 1];
  if (last === undefined) return parts;
  const from = timeline[0]!.startNs;
  const span = last.startNs + last.ns - from;
  if (span <= 0) return parts;
  for (const stretch of timeline) {
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

function processorLines(canvas: Canvas, scene: Scene, y: number, glyphs: Glyphs): void {
  const { processors } = scene.live;
  const label = String(processors.length - 1).length + 4;
  const width = canvas.width - label - 26;
  canvas.text(0, y, 'each processor, in the span shown', { bold: true });
  processors.forEach((processor, index) => {
    const row = y + 1 + index;
    const total = processor.usefulNs + processor.overheadNs + processor.spinningNs + processor.idleNs || 1;
    canvas.text(0, row, `P${index}`);
    let x = label;
    let sum = 0;
    for (const state of ['useful', 'overhead', 'spinning', 'idle'] as const) {
      sum += processor[`${state}Ns`];
      const end = label + Math.round((sum / total) * width);
      if (end > x) canvas.fill(x, row, end - x, 1, glyphs[state], stateStyle[state]);
      x = Math.max(x, end);
    }
    canvas.text(label + width + 1, row, `busy ${percent((processor.usefulNs + processor.overheadNs) / total).padStart(6)} spin ${percent(processor.spinningNs / total)}`);
  });
}
function heatStrip(canvas: Canvas, scene: Scene, y: number, glyphs: Glyphs): void {
  const { processors } = scene.live;
  const width = Math.max(1, canvas.width - 12);
  canvas.text(0, y, `each processor: ${glyphs.heat[0]} idle to ${glyphs.heat[glyphs.heat.length - 1]} busy, ! mostly spinning`, { bold: true });
  processors.forEach((processor, index) => {
    const total = processor.usefulNs + processor.overheadNs + processor.spinningNs + processor.idleNs || 1;
    const busy = (processor.usefulNs + processor.overheadNs) / total;
    const row = y + 1 + Math.floor(index / width);
    if (index % width === 0) canvas.text(0, row, `P${index}`);
    if (processor.spinningNs / total > 0.5) canvas.put(12 + (index % width), row, '!', stateStyle.spinning);
    else canvas.put(12 + (index % width), row, glyphs.heat[Math.min(glyphs.heat.length - 1, Math.round(busy * (glyphs.heat.length - 1)))]!, stateStyle.useful);
  });
}
