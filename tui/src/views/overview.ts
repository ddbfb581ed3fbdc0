/** The findings, what the processors did over time, and, if there is room, what threads waited for. */
import { isNearlyOthers, item } from '../../../ts-frontend/src/model/index.js';
import { Canvas, Colour, whole, wrap } from '../draw/canvas.js';
import { findingSentences } from '../../../ts-frontend/src/render/findings/index.js';
import { noticeLine } from '../../../ts-frontend/src/render/notices/index.js';
import { objectRows } from '../../../ts-frontend/src/render/locks.js';
import { kindTag } from '../../../ts-frontend/src/render/wording/names.js';
import { shortName } from '../../../ts-frontend/src/render/wording/short-names.js';
import type { Glyphs } from '../draw/glyphs.js';
import type { Model } from '../../../ts-frontend/src/model/index.js';
import type { Scene, Size, State } from '../state/types.js';
import { percent, time } from '../draw/format.js';
import { histogram } from './histogram.js';
import { legend, stateStyle, timeline } from './timeline.js';

/** The least height of a useful chart, including title and axis. */
const leastChart = 6;

export function overview(scene: Scene, size: Size, state: State, glyphs: Glyphs): Canvas {
  const canvas = new Canvas(size.width, size.height);
  let y = findings(canvas, scene.model, size, state, glyphs) + 1;
  const left = (): number => size.height - y;
  if (state.zoom || left() < 4) return canvas;
  const processors = scene.live.processors.length;
  const chart = Math.min(left(), Math.max(leastChart, Math.floor(size.height / 3)));
  timeline(canvas, scene, y, chart, glyphs);
  y += chart;
  if (processors > 0 && processors < Math.min(left(), size.height / 3)) y += processorLines(canvas, scene, y, glyphs);
  else if (processors > 0 && left() > 1) y += heatStrip(canvas, scene, y, left(), glyphs);
  y++;
  if (left() >= 5) blocks(canvas, scene.model, y, state, glyphs);
  return canvas;
}

// ---- findings ----

interface Line {
  finding: number;
  first: boolean;
  text: string;
}

/** In Unicode; on other terminals letters are replaced one by one when drawn, so that the lines are the same. */
function linesOf(model: Model, width: number): Line[] {
  if (model.findings.length === 0) {
    return model.notices.slice(0, 2).flatMap((notice, finding) =>
      wrap(noticeLine(model, notice, { ascii: false }), width - 3).map((text) => ({
        finding,
        first: false,
        text,
      })),
    );
  }
  return model.findings.flatMap((finding, index) => {
    const { text, remedy } = findingSentences(model, finding, { ascii: false });
    return wrap(`${text} ${remedy}`, width - 3).map((line, at) => ({
      finding: index,
      first: at === 0,
      text: line,
    }));
  });
}

/**
 * The number of lines for the findings below their title: all of them if that leaves room for a chart, else less than
 * half of the screen.
 */
function roomFor(lines: number, size: Size, zoom: boolean): number {
  if (zoom || lines <= size.height - 2 - leastChart) return Math.min(lines, size.height - 1);
  return Math.max(Math.floor(size.height * 0.45), Math.min(4, size.height - 2));
}

/** The state with a scroll position that is valid for this size, and the finding at the top of the shown lines. */
export function settledOverview(model: Model, size: Size, state: State): State {
  const lines = linesOf(model, size.width);
  const room = roomFor(lines.length, size, state.zoom);
  const scroll = Math.max(0, Math.min(state.scroll, lines.length - room));
  const finding = lines[scroll]?.finding ?? 0;
  return scroll === state.scroll && finding === state.finding ? state : { ...state, scroll, finding };
}

function findings(canvas: Canvas, model: Model, size: Size, state: State, glyphs: Glyphs): number {
  const lines = linesOf(model, size.width);
  const room = roomFor(lines.length, size, state.zoom);
  const hidden = lines.length - room - state.scroll;
  const shown = lines.slice(state.scroll, state.scroll + room - (hidden > 0 ? 1 : 0));
  let end = canvas.text(0, 0, 'What limits this program', { bold: true });
  if (isNearlyOthers(model.cpuWait)) end = canvas.text(end, 0, ' (may be wrong: other programs have the CPUs)');
  if (state.scroll > 0) canvas.text(end + 2, 0, `${glyphs.up} ${linesText(state.scroll)} above`, { fg: Colour.grey });
  shown.forEach((line, at) => {
    if (line.first) canvas.text(0, 1 + at, `${line.finding + 1}.`, { bold: true });
    canvas.text(3, 1 + at, line.text);
  });
  if (hidden > 0)
    canvas.text(
      3,
      shown.length + 1,
      whole(
        [`${glyphs.down} ${linesText(hidden + 1)} more`, ': Down, PgDn', state.zoom ? '' : '; z shows all'],
        canvas.width - 3,
      ),
      { fg: Colour.grey },
    );
  return 1 + Math.min(room, lines.length);
}
const linesText = (count: number): string => `${count} line${count === 1 ? '' : 's'}`;

// ---- processors ----

function processorLines(canvas: Canvas, scene: Scene, y: number, glyphs: Glyphs): number {
  const { processors } = scene.live;
  const label = String(processors.length - 1).length + 4;
  const width = canvas.width - label - 26;
  // without dots, the stacked chart above has already shown what the cells mean
  if (!glyphs.dots) canvas.text(0, y, 'each processor, in the span shown', { bold: true });
  else
    legend(
      canvas,
      'each processor, in the span shown',
      (['useful', 'overhead', 'spinning', 'idle'] as const).map(
        (state) => [state, glyphs[state], stateStyle[state]] as const,
      ),
      y,
    );
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
    canvas.text(
      label + width + 1,
      row,
      `busy ${percent((processor.usefulNs + processor.overheadNs) / total).padStart(6)} spin ` +
        percent(processor.spinningNs / total),
    );
  });
  return 1 + processors.length;
}
function heatStrip(canvas: Canvas, scene: Scene, y: number, room: number, glyphs: Glyphs): number {
  const { processors } = scene.live;
  const label = 6;
  const width = Math.max(1, canvas.width - label);
  const rows = Math.min(room - 1, Math.ceil(processors.length / width));
  canvas.text(0, y, `each processor: ${glyphs.heat[0]} idle to ${glyphs.heat.at(-1)} busy, ! mostly spinning`, {
    bold: true,
  });
  processors.slice(0, rows * width).forEach((processor, index) => {
    const total = processor.usefulNs + processor.overheadNs + processor.spinningNs + processor.idleNs || 1;
    const busy = (processor.usefulNs + processor.overheadNs) / total;
    const row = y + 1 + Math.floor(index / width);
    if (index % width === 0) canvas.text(0, row, `P${index}`);
    if (processor.spinningNs / total > 0.5) canvas.put(label + (index % width), row, '!', stateStyle.spinning);
    else
      canvas.put(
        label + (index % width),
        row,
        item(glyphs.heat, Math.min(glyphs.heat.length - 1, Math.round(busy * (glyphs.heat.length - 1)))),
        stateStyle.useful,
      );
  });
  return 1 + rows;
}

// ---- what else there is room for ----

/** What threads waited for, and when the first shown finding's code ran: side by side, or one below the other. */
function blocks(canvas: Canvas, model: Model, y: number, state: State, glyphs: Glyphs): void {
  const height = canvas.height - y;
  const entity = model.entities[model.findings[state.finding]?.entity ?? -1];
  const draw = [
    (on: Canvas): boolean => waits(on, model, glyphs),
    (on: Canvas): boolean => {
      if (entity === undefined || entity.id === 0 || entity.nptNs <= 0) return false;
      const head = `finding ${state.finding + 1}: `;
      on.text(0, 0, head + shortName(model, entity.name, on.width - head.length, glyphs), { bold: true });
      histogram(on, entity, 0, 1, on.width, Math.min(14, on.height - 1), glyphs);
      return true;
    },
  ];
  const beside = canvas.width >= 100;
  const rows = Math.min(height, beside || height < 14 ? height : height >> 1);
  let place = 0;
  for (const one of draw) {
    if (!beside && place * rows + rows > height) return;
    const part = new Canvas(
      beside ? (canvas.width >> 1) - 1 : canvas.width,
      beside ? height : rows - (place === 0 ? 1 : 0),
    );
    if (!one(part)) continue;
    canvas.blit(beside ? place * ((canvas.width >> 1) + 1) : 0, y + (beside ? 0 : place * rows), part);
    place++;
  }
}

function waits(canvas: Canvas, model: Model, glyphs: Glyphs): boolean {
  const rows = objectRows(model)
    .filter(({ object }) => object.waitNs > 0)
    .slice(0, canvas.height - 2);
  if (rows.length === 0) return false;
  canvas.text(0, 0, 'what threads waited for longest', { bold: true });
  canvas.text(0, 1, '  waited  contended   NPT    name', { fg: Colour.grey });
  rows.forEach(({ entity, object }, at) => {
    canvas.textRight(0, 2 + at, 8, time(object.waitNs));
    canvas.textRight(
      9,
      2 + at,
      9,
      object.counted && object.acquisitions > 0 ? percent(object.contended / object.acquisitions) : '-',
    );
    canvas.textRight(19, 2 + at, 6, percent(entity.share));
    const kind = kindTag(entity);
    canvas.text(27, 2 + at, shortName(model, entity.name, canvas.width - 27 - kind.length, glyphs) + kind);
  });
  return true;
}
