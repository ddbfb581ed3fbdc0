/** The selected entity beside the table: its histogram, its states, and for objects the waiters and holders. */
import { item, stateNames } from '../../../ts-frontend/src/model/index.js';
import { byPath } from '../../../ts-frontend/src/render/locks.js';
import { kindTag, path, whereabouts } from '../../../ts-frontend/src/render/wording/names.js';
import { shortName } from '../../../ts-frontend/src/render/wording/short-names.js';
import { Canvas, wrap } from '../draw/canvas.js';
import type { Glyphs } from '../draw/glyphs.js';
import type { Entity, Model, PathTime } from '../../../ts-frontend/src/model/index.js';
import type { Scene, Size, State } from '../state/types.js';
import { selectedEntity } from '../state/state.js';
import { count, digits, percent, time } from '../draw/format.js';
import { bars, histogram } from './histogram.js';

export function detail(scene: Scene, size: Size, state: State, glyphs: Glyphs): Canvas {
  const canvas = new Canvas(size.width, size.height);
  const { model } = scene;
  const entity = model.entities[selectedEntity(state, scene)];
  if (entity === undefined) return canvas;
  let y = heading(canvas, model, entity, glyphs);
  const rows = size.height - y;
  const sections = (on: Canvas): Section[] => [...objectSections(on, entity, model, glyphs), stateSection(on, entity)];
  if (size.width >= 76 && rows < 24) {
    // A wide and low area: the histogram on the left, figures on the right, and the sections that do not fit there
    // below the histogram.
    const width = Math.floor(size.width / 2) - 1;
    const plot = Math.max(4, rows < 12 ? rows : Math.floor(rows / 2));
    histogram(canvas, entity, 0, y, width, plot, glyphs);
    const left = new Canvas(width, Math.max(0, rows - plot - 1)),
      right = new Canvas(size.width - width - 2, rows);
    stack([
      { canvas: right, sections: sections(right) },
      { canvas: left, sections: sections(left) },
    ]);
    canvas.blit(width + 2, y, right);
    canvas.blit(0, y + plot + 1, left);
    return canvas;
  }
  const plot = Math.max(4, Math.min(14, entity.object === null ? rows - 8 : Math.floor(rows / 3)));
  histogram(canvas, entity, 0, y, size.width, plot, glyphs);
  y += plot + 1;
  const rest = new Canvas(size.width, Math.max(0, size.height - y));
  stack([{ canvas: rest, sections: sections(rest) }]);
  canvas.blit(0, y, rest);
  return canvas;
}
/** Draws sections one below the other in the first column, and the remaining ones in the next. */
function stack(columns: readonly { canvas: Canvas; sections: readonly Section[] }[]): void {
  let next = 0;
  for (const { canvas, sections } of columns) {
    let y = 0;
    for (; next < sections.length && canvas.height - y >= 3; next++) {
      const used = item(sections, next)(y, canvas.height - y);
      y += used === 0 ? 0 : used + (columns.length > 1 && canvas.height < 12 ? 0 : 1);
    }
  }
}
function heading(canvas: Canvas, model: Model, entity: Entity, glyphs: Glyphs): number {
  const kind = kindTag(entity);
  canvas.text(0, 0, shortName(model, entity.name, canvas.width - kind.length, glyphs) + kind, { bold: true });
  const interval = `[${time(entity.ci95.lowNs)}, ${time(entity.ci95.highNs)}]`;
  const lines = [
    [
      `NPT ${time(entity.nptNs)} ${percent(entity.share)} ${interval}`,
      `par ${digits(entity.parallelism)}`,
      whereabouts(model, entity, glyphs),
    ],
    [
      `idle ${time(entity.idlenessNs)}`,
      `spin ${time(entity.spinBlameNs)}`,
      `in parallel, saves ${time(entity.parallelizeNs)}`,
    ],
  ].flatMap((facts) => inLines(facts, canvas.width));
  lines.forEach((line, at) => {
    canvas.text(0, 1 + at, line);
  });
  return 1 + lines.length;
}
/** Distributes facts over lines without breaking any of them. */
function inLines(facts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const fact of facts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 2 + fact.length <= width) lines[lines.length - 1] = `${last}  ${fact}`;
    else if (fact !== '') lines.push(fact);
  }
  return lines;
}
type Section = (y: number, room: number) => number;

function stateSection(canvas: Canvas, entity: Entity): Section {
  return (y, room) => {
    canvas.text(0, y, `its threads spend        runnable`, { bold: true });
    let row = 1;
    for (const name of stateNames) {
      const state = entity.states[name];
      if (state.ns <= 0 || row >= room) continue;
      canvas.text(1, y + row, name);
      canvas.textRight(11, y + row, 9, time(state.ns));
      canvas.text(25, y + row, digits(state.meanRunnable));
      row++;
    }
    return row;
  };
}
function objectSections(canvas: Canvas, entity: Entity, model: Model, glyphs: Glyphs): Section[] {
  const object = entity.object;
  if (object === null) return [];
  const width = canvas.width;
  const sections: Section[] = [
    (y, room) => {
      const lines = [
        !object.counted
          ? object.waitsCounted
            ? `threads waited ${count(object.contended)} times; acquisitions are not counted`
            : 'seen from outside: acquisitions are not counted, waiting is sampled'
          : `acquired ${count(object.acquisitions)}, contended ${count(object.contended)} ` +
            `(${percent(object.acquisitions > 0 ? object.contended / object.acquisitions : 0)})`,
        `waited ${time(object.waitNs)} in all, mean ${time(object.waitMeanNs)}, longest ${time(object.waitMaxNs)}; ` +
          `held ${time(object.holdNs)}${object.holdExact ? '' : ' (sampled)'}`,
      ]
        .flatMap((text) => wrap(text, width))
        .slice(0, room);
      lines.forEach((line, at) => {
        canvas.text(0, y + at, line);
      });
      return lines.length;
    },
    (y, room) =>
      bars(
        canvas,
        'queue length over time',
        object.queueLength
          .filter((bucket) => bucket.ns > 0)
          .map((bucket) => ({
            label:
              bucket.to === bucket.from
                ? String(bucket.from)
                : bucket.to === Infinity
                  ? `${bucket.from}+`
                  : `${bucket.from}-${bucket.to}`,
            value: bucket.ns,
            text: percent(object.queueObservedNs > 0 ? bucket.ns / object.queueObservedNs : 0),
          })),
        0,
        y,
        width,
        Math.min(room, 7),
        glyphs,
      ),
    (y, room) => paths(canvas, 'who waits', object.waiters, entity, model, y, Math.min(room, 5), glyphs),
    (y, room) =>
      object.waitOverlap.length > 0
        ? paths(canvas, 'who runs at that time', object.waitOverlap, entity, model, y, Math.min(room, 5), glyphs)
        : paths(
            canvas,
            entity.rawKind === 'join' ? 'who is waited for' : 'who holds it',
            object.holders,
            entity,
            model,
            y,
            Math.min(room, 5),
            glyphs,
          ),
  ];
  for (const [title, distribution] of [
    ['waits by length', object.waitDistribution],
    ['holds by length', object.holdDistribution],
  ] as const) {
    if (distribution.length === 0) continue;
    sections.push((y, room) =>
      bars(
        canvas,
        title,
        distribution
          .filter((bucket) => bucket.count > 0)
          .map((bucket) => ({
            label: `to ${time(bucket.to)}`,
            value: bucket.count,
            text: count(bucket.count),
          })),
        0,
        y,
        width,
        Math.min(room, 9),
        glyphs,
      ),
    );
  }
  return sections;
}
function paths(
  canvas: Canvas,
  title: string,
  list: readonly PathTime[],
  { id }: Entity,
  model: Model,
  y: number,
  room: number,
  glyphs: Glyphs,
): number {
  if (list.length === 0 || room < 2) return 0;
  canvas.text(0, y, title, { bold: true });
  const shown = byPath(list, id).slice(0, room - 1);
  shown.forEach((one, at) => {
    canvas.textRight(0, y + 1 + at, 9, time(one.ns));
    canvas.text(10, y + 1 + at, one.path.length === 0 ? 'not seen' : path(model, one.path, canvas.width - 10, glyphs));
  });
  return shown.length + 1;
}
