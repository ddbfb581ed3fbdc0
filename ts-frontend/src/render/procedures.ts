/** The default view: procedures and synchronization objects by normalized processor time. */
import { focusOn, isBuilt, item } from '../model/index.js';
import type { Entity, Model } from '../model/index.js';
import { spark } from './parts/histogram.js';
import { heading } from './parts/head.js';
import { label, place, shortLabel } from './wording/names.js';
import type { RenderOptions } from './format/options.js';
import { paint } from './format/text.js';
import { onPathColumn } from './parts/on-path.js';
import { table, type Column } from './parts/table.js';
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

/** The least share of a procedure's NPT in one that it calls, for it to be only on the way there. */
const mostlyCallee = 0.95;
/** The most of its own, as a share of elapsed time: shown as "<0.1 %". */
const nothingItself = 0.001;

/**
 * Whether a procedure does nothing but call another one, as main, start routines and interpreters' loops do: the row
 * of that one says the same.
 */
function onlyCallsAnother(model: Model, { id, kind, nptNs, nptSelfNs }: Entity): boolean {
  if (kind !== 'procedure' || nptNs === 0 || nptSelfNs >= nothingItself * model.elapsedNs || !isBuilt(model))
    return false;
  return focusOn(model, id).rows.some((row) => !row.self && row.nptNs >= mostlyCallee * nptNs);
}

/** The first rows, without procedures that only call another; and a line with the number of those left out. */
function chosen(model: Model, all: readonly Entity[], options: RenderOptions): { rows: Entity[]; more: string[] } {
  if (options.top === 0) return { rows: [...all], more: [] };
  const rows: Entity[] = [];
  let callers = 0,
    at = 0;
  for (; at < all.length && rows.length < options.top; at++) {
    const entity = item(all, at);
    if (onlyCallsAnother(model, entity)) callers++;
    else rows.push(entity);
  }
  const left = all.length - at;
  const parts = [
    ...(left > 0 ? [`${left} more`] : []),
    ...(callers > 0 ? [`${callers} that only ${callers === 1 ? 'calls' : 'call'} one of these`] : []),
  ];
  if (parts.length === 0) return { rows, more: [] };
  return { rows, more: [paint(`  ${parts.join(', ')}; --top 0 shows all`, 'dim', options)] };
}

export function procedures(model: Model, options: RenderOptions): string[] {
  const all = procedureRows(model);
  if (all.length === 0) return [];
  const { rows, more } = chosen(model, all, options);
  return [
    ...heading('Procedures by normalized processor time (NPT: the elapsed time that each accounts for)', options),
    '',
    ...table(rows, procedureColumns(model, options), options),
    ...more,
  ];
}
