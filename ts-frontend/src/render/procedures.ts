/** The default view: procedures and synchronization objects by normalized processor time. */
import { item } from '../model/index.js';
import type { Entity, Model } from '../model/index.js';
import { spark } from './parts/histogram.js';
import { heading } from './parts/head.js';
import { label, place, shortLabel } from './wording/names.js';
import type { RenderOptions } from './format/options.js';
import { onPathColumn } from './parts/on-path.js';
import { limited, table, type Column } from './parts/table.js';
import { count, figure, percent, plusMinus, time } from './format/units.js';

/**
 * Rows of the view, the largest NPT first: entities that ran, and procedures that were called although no snapshot
 * found them running.
 */
export function procedureRows(model: Model): Entity[] {
  return model.ranking
    .map((id) => item(model.entities, id))
    .filter(
      (entity) =>
        entity.kind !== 'thread' &&
        entity.id !== 0 &&
        (entity.nptNs > 0 || (entity.kind === 'procedure' && entity.calls > 0)),
    );
}

/** The columns of the table, for text, HTML and Markdown. */
export function procedureColumns(model: Model, options: RenderOptions): Column<Entity>[] {
  const some = (ns: number, of: number): string => (ns >= of / 1000 ? time(ns, options) : '');
  return [
    { head: 'NPT', text: (entity) => time(entity.nptNs, options), tone: 'strong' },
    {
      head: options.ascii ? '95%' : '±95%',
      text: (entity) => plusMinus(entity.nptNs, (entity.ci95.highNs - entity.ci95.lowNs) / 2, options),
      drop: 5,
    },
    { head: 'share', text: (entity) => percent(entity.nptNs, model.elapsedNs) },
    { head: 'self', text: (entity) => percent(entity.nptSelfNs, model.elapsedNs), drop: 3 },
    { head: 'proc.time', text: (entity) => time(entity.processorTimeNs, options), drop: 7 },
    { head: 'par.', text: (entity) => figure(entity.parallelism), drop: 4 },
    { head: 'spread', text: (entity) => some(entity.parallelizeNs, model.elapsedNs), drop: 6 },
    { head: 'idle', text: (entity) => some(entity.idlenessNs, model.elapsedNs), drop: 8 },
    { head: 'spin', text: (entity) => some(entity.spinBlameNs, model.elapsedNs), drop: 10 },
    { head: 'overhead', text: (entity) => some(entity.overheadNs, model.elapsedNs), drop: 11 },
    ...(model.head.paths.kernel
      ? [{ head: 'system', text: (entity: Entity) => some(entity.systemNs ?? 0, model.elapsedNs), drop: 11 }]
      : []),
    ...onPathColumn<Entity>(model, (entity) => entity, 14),
    { head: 'calls', text: (entity) => (entity.callsCounted ? count(entity.calls) : '-'), drop: 9 },
    {
      head: `busy 1..${model.processors}`,
      text: (entity) => spark(entity.byBusyNs, 18, options),
      align: 'left',
      drop: 12,
    },
    {
      head: 'procedure',
      text: (entity) => label(entity, options),
      short: (entity, columns) => shortLabel(model, entity, columns, options),
      align: 'left',
      name: true,
    },
    { head: 'where', text: (entity) => place(model, entity, options), align: 'left', drop: 13 },
  ];
}

export function procedures(model: Model, options: RenderOptions): string[] {
  const all = procedureRows(model);
  if (all.length === 0) return [];
  const { rows, more } = limited(all, options);
  return [
    ...heading('Procedures by normalized processor time (NPT: the elapsed time that each accounts for)', options),
    '',
    ...table(rows, procedureColumns(model, options), options),
    ...more,
  ];
}
