/** The contention report: synchronization objects, sorted by the time that threads waited for them. */
import type { Entity, Model, ObjectStats, PathTime } from '../model/index.js';
import { heading } from './parts/head.js';
import { label, path, place, shortLabel } from './wording/names.js';
import type { RenderOptions } from './format/options.js';
import { onPathColumn } from './parts/on-path.js';
import { limited, table, type Column } from './parts/table.js';
import { counted } from './wording/phrases.js';
import { cut, paint, pad } from './format/text.js';
import { count, figure, percent, time } from './format/units.js';

export interface ObjectRow {
  entity: Entity;
  object: ObjectStats;
}

/** Objects that threads waited for, the longest wait first. A group stands for all its members. */
export function objectRows(model: Model): ObjectRow[] {
  return model.entities
    .flatMap((entity) => (entity.object && entity.group === 0 ? [{ entity, object: entity.object }] : []))
    .filter(({ object }) => object.acquisitions > 0 || object.waitNs > 0)
    .sort((a, b) => b.object.waitNs - a.object.waitNs || b.entity.nptNs - a.entity.nptNs || a.entity.id - b.entity.id);
}

export const waitedFor = (rows: readonly ObjectRow[]): ObjectRow[] =>
  rows.filter(({ object }) => object.waitNs > 0 || object.contended > 0);

/** The share of acquisitions or, where these are not known, the number of waits. */
const contended = (object: ObjectStats): string =>
  object.counted
    ? percent(object.contended, object.acquisitions)
    : object.waitsCounted
      ? counted(count(object.contended), 'wait')
      : '-';

const detailed = 3; // the number of objects whose waiters and holders are listed
const paths = 3;

/** The columns of the table, for text and HTML. */
export function lockColumns(model: Model, options: RenderOptions): Column<ObjectRow>[] {
  return [
    { head: 'waited', text: ({ object }) => time(object.waitNs, options), tone: 'strong' },
    { head: 'mean', text: ({ object }) => (object.waitsCounted ? time(object.waitMeanNs, options) : '-'), drop: 4 },
    { head: 'longest', text: ({ object }) => (object.waitsCounted ? time(object.waitMaxNs, options) : '-'), drop: 7 },
    { head: 'spun', text: ({ object }) => (object.spinNs > 0 ? percent(object.spinNs, object.waitNs) : ''), drop: 8 },
    { head: 'acquired', text: ({ object }) => (object.counted ? count(object.acquisitions) : '-'), drop: 5 },
    {
      head: 'contended',
      text: ({ object }) => contended(object),
      drop: 2,
    },
    {
      head: options.ascii ? 'held~' : 'held≈',
      text: ({ object }) => (object.holdExact ? '' : held(object, options)),
      drop: 6,
    },
    { head: 'held', text: ({ object }) => (object.holdExact ? held(object, options) : ''), drop: 6 },
    { head: 'queue', text: ({ object }) => figure(object.queueLengthMean), drop: 3 },
    { head: 'NPT', text: ({ entity }) => percent(entity.nptNs, model.elapsedNs), drop: 9 },
    ...onPathColumn<ObjectRow>(model, ({ entity }) => entity, 11),
    {
      head: 'object',
      text: ({ entity }) => label(entity, options),
      short: ({ entity }, columns) => shortLabel(model, entity, columns, options),
      align: 'left',
      name: true,
    },
    { head: 'where', text: ({ entity }) => place(model, entity, options), align: 'left', drop: 10 },
  ];
}

export function locks(model: Model, options: RenderOptions): string[] {
  const rows = objectRows(model);
  const waited = waitedFor(rows);
  if (waited.length === 0) return [];
  const { rows: shown, more } = limited(waited, options);
  const free = rows.length - waited.length;
  return [
    ...heading('Synchronization objects by time waited', options),
    '',
    ...table(shown, lockColumns(model, options), options),
    ...more,
    ...(free > 0
      ? [
          paint(
            cut(
              `  ${free} more ${free === 1 ? 'was' : 'were'} used, and nobody waited for ${free === 1 ? 'it' : 'them'}`,
              options.width,
              options,
            ),
            'dim',
            options,
          ),
        ]
      : []),
    ...shown.slice(0, detailed).flatMap((row) => detail(model, row, options)),
  ];
}

const held = (object: ObjectStats, options: RenderOptions): string =>
  object.holdNs > 0 ? (object.counted ? time(object.holdMeanNs, options) : '-') : '';

function detail(model: Model, { entity, object }: ObjectRow, options: RenderOptions): string[] {
  const lines = [
    ...pathLines(model, entity, 'waited', object.waiters, options),
    ...pathLines(
      model,
      entity,
      entity.rawKind === 'join' ? 'was waited for' : 'held it while others waited',
      object.holders,
      options,
    ),
    ...pathLines(model, entity, 'ran while others waited', object.waitOverlap, options),
  ];
  return lines.length === 0
    ? []
    : [
        '',
        paint(cut(shortLabel(model, entity, options.width, options), options.width, options), 'strong', options),
        ...lines,
      ];
}

/**
 * Times summed by call path over all threads, the largest first. The paths are shown below the name of the object that
 * they lead to, so they end with the procedure that takes it.
 */
export function byPath(list: readonly PathTime[], object: number): { path: readonly number[]; ns: number }[] {
  const sums = new Map<string, { path: readonly number[]; ns: number }>();
  for (const { path: whole, ns } of list) {
    const ids = whole.length > 1 && whole.at(-1) === object ? whole.slice(0, -1) : whole;
    const key = ids.join();
    const sum = sums.get(key);
    if (sum) sum.ns += ns;
    else sums.set(key, { path: ids, ns });
  }
  return [...sums.values()].sort((a, b) => b.ns - a.ns);
}

function pathLines(
  model: Model,
  { id }: Entity,
  head: string,
  list: readonly PathTime[],
  options: RenderOptions,
): string[] {
  const all = byPath(list, id).filter((one) => one.path.length > 0);
  if (all.length === 0) return [];
  const total = all.reduce((sum, one) => sum + one.ns, 0);
  const lines = all.slice(0, paths).map((one) => {
    const beginning = `    ${pad(time(one.ns, options), 8, 'right')}  ${pad(percent(one.ns, total), 7, 'right')}  `;
    return beginning + path(model, one.path, Math.max(8, options.width - beginning.length), options);
  });
  const left = all.length - paths;
  if (left > 0) lines.push(`    and ${left} more ${left === 1 ? 'path' : 'paths'}`);
  return [`  ${head}:`, ...lines];
}
