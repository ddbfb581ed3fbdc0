/** The view of threads: what each spent its time on. */
import { item } from '../model/index.js';
import type { Entity, Model, StateName } from '../model/index.js';
import { heading } from './parts/head.js';
import { nameWithoutKind, place, shortNameWithoutKind } from './wording/names.js';
import type { RenderOptions } from './format/options.js';
import { onPathColumn } from './parts/on-path.js';
import { limited, table, type Column } from './parts/table.js';
import { figure, percent, time } from './format/units.js';

/** Threads by NPT; threads of the same name share a row. */
export function threadRows(model: Model): Entity[] {
  return model.entities
    .filter((entity) => entity.kind === 'thread' && entity.group === 0)
    .sort((a, b) => b.nptNs - a.nptNs || b.processorTimeNs - a.processorTimeNs || a.id - b.id);
}

/** The columns of the table, for text and HTML. */
export function threadColumns(model: Model, options: RenderOptions): Column<Entity>[] {
  const state = (head: string, name: StateName, drop: number): Column<Entity> => ({
    head,
    drop,
    text: (entity) => (entity.states[name].ns > 0 ? time(entity.states[name].ns, options) : ''),
  });
  return [
    { head: 'NPT', text: (entity) => time(entity.nptNs, options), tone: 'strong' },
    { head: 'share', text: (entity) => percent(entity.nptNs, model.elapsedNs) },
    state('useful', 'useful', 2),
    state('overhead', 'overhead', 6),
    state('spinning', 'spinning', 5),
    state('ready', 'ready', 4),
    state('blocked', 'blocked', 1),
    state('io', 'io', 3),
    { head: 'par.', text: (entity) => figure(entity.parallelism), drop: 7 },
    ...onPathColumn<Entity>(model, (entity) => entity, 11),
    { head: 'lived', text: ({ thread }) => (thread ? time(thread.lastNs - thread.firstNs, options) : ''), drop: 8 },
    {
      head: 'created by',
      text: ({ thread }) =>
        thread && thread.creator > 0 ? nameWithoutKind(item(model.entities, thread.creator), options) : '',
      align: 'left',
      drop: 10,
    },
    {
      head: 'thread',
      text: (entity) => nameWithoutKind(entity, options),
      short: (entity, columns) => shortNameWithoutKind(model, entity, columns, options),
      align: 'left',
      name: true,
    },
    { head: 'starts in', text: (entity) => place(model, entity, options), align: 'left', drop: 9 },
  ];
}

export function threads(model: Model, options: RenderOptions): string[] {
  const all = threadRows(model);
  if (all.length === 0) return [];
  const { rows, more } = limited(all, options);
  return [
    ...heading('Threads by normalized processor time', options),
    '',
    ...table(rows, threadColumns(model, options), options),
    ...more,
  ];
}
