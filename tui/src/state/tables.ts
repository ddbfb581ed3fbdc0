/** The tables: the rows and columns of each tab, and how they are sorted. One definition for drawing and sorting. */
import { focusOn, item, onPathOf } from '../../../ts-frontend/src/model/index.js';
import type { Entity, Focus, Model } from '../../../ts-frontend/src/model/index.js';
import type { Scene, State, TableTab } from './types.js';
import { count, digits, percent, time } from '../draw/format.js';

export interface Row {
  entity: number;
  self: boolean; // whether the row is the focused entity itself
  name: string;
  nptNs: number; // within the focus, if there is one
  selfNs: number;
  processorTimeNs: number;
  calls: number;
  whole: Entity;
}
export interface Column {
  id: string;
  title: string;
  width: number;
  help: string;
  value: (row: Row, model: Model) => number;
  show: (row: Row, model: Model, ascii: boolean) => string;
}

const ns = (id: string, title: string, help: string, value: (row: Row) => number): Column => ({
  id,
  title,
  width: 8,
  help,
  value,
  show: (row) => time(value(row)),
});
const number = (id: string, title: string, help: string, value: (row: Row) => number): Column => ({
  id,
  title,
  width: 7,
  help,
  value,
  show: (row) => count(value(row)),
});

const npt = ns(
  'npt',
  'NPT',
  'normalized processor time: processor time divided by the processors busy at that time',
  (row) => row.nptNs,
);
const share: Column = {
  id: 'share',
  title: '%',
  width: 7,
  help: 'NPT as a share of elapsed time',
  value: (row) => row.nptNs,
  show: (row, model) => percent(model.elapsedNs > 0 ? row.nptNs / model.elapsedNs : 0),
};
const interval: Column = {
  id: 'interval',
  title: '+-',
  width: 7,
  help: 'half the 95 % interval of NPT',
  value: (row) => half(row.whole),
  show: (row) => (row.self || row.nptNs !== row.whole.nptNs ? '' : time(half(row.whole))),
};
const self = ns('self', 'self', 'NPT while it is innermost', (row) => row.selfNs);
const processor = ns('cpu', 'proc', 'processor time', (row) => row.processorTimeNs);
const parallelism: Column = {
  id: 'par',
  title: 'par',
  width: 5,
  help: 'mean number of busy processors over its processor time',
  value: (row) => (row.nptNs > 0 ? row.processorTimeNs / row.nptNs : 0),
  show: (row) => (row.nptNs > 0 ? digits(row.processorTimeNs / row.nptNs) : '-'),
};
const idleness = ns('idle', 'idle', 'idle processor time while it ran', (row) => row.whole.idlenessNs);
const spinning = ns('spin', 'spin', 'time that its threads spin', (row) => row.whole.states.spinning.ns);
const blocked = ns('blocked', 'blocked', 'time that its threads are blocked', (row) => row.whole.states.blocked.ns);
const ready = ns('ready', 'ready', 'time that its threads wait for a processor', (row) => row.whole.states.ready.ns);
const io = ns('io', 'io', 'time that its threads spend in declared blocking regions', (row) => row.whole.states.io.ns);
const onPath: Column = {
  id: 'path',
  title: 'on path',
  width: 8,
  help: 'share of the critical path that it is on',
  value: (row, model) => onPathOf(model)?.get(row.entity) ?? 0,
  show: (row, model) => {
    const ns = onPathOf(model)?.get(row.entity) ?? 0;
    return ns > 0 ? percent(ns / model.head.pathNs) : '';
  },
};
const calls: Column = {
  ...number('calls', 'calls', 'exact number of calls, accesses or spawns', (row) => row.calls),
  show: (row) => (row.whole.callsCounted ? count(row.calls) : '-'),
};
const wait = ns('wait', 'wait', 'exact waiting time, summed over waiters', (row) => row.whole.object?.waitNs ?? 0);
const hold = ns('hold', 'hold', 'time held', (row) => row.whole.object?.holdNs ?? 0);
const contended = number('cont', 'cont.', 'acquisitions that had to wait', (row) => row.whole.object?.contended ?? 0);
const acquisitions = number('acq', 'acq.', 'acquisitions', ({ whole: { object } }) =>
  object?.counted === true ? object.acquisitions : 0,
);
const queue: Column = {
  id: 'queue',
  title: 'queue',
  width: 6,
  help: 'mean queue length over time',
  value: (row) => row.whole.object?.queueLengthMean ?? 0,
  show: (row) => (row.whole.object === null ? '-' : digits(row.whole.object.queueLengthMean)),
};
const name: Column = { id: 'name', title: 'name', width: 0, help: 'name', value: () => 0, show: (row) => row.name };

const columns: Record<TableTab, Column[]> = {
  procedures: [npt, share, interval, self, processor, parallelism, idleness, spinning, blocked, calls, onPath, name],
  locks: [wait, contended, acquisitions, hold, queue, npt, share, spinning, onPath, name],
  threads: [npt, share, interval, self, processor, parallelism, idleness, ready, blocked, spinning, io, onPath, name],
  objects: [blocked, wait, contended, acquisitions, queue, spinning, npt, share, onPath, name],
};
export const columnsOf = (tab: TableTab): readonly Column[] => columns[tab];

/**
 * The columns that fit beside the names of the rows, or three tenths of the width: the first ones, and always the one
 * that rows are sorted by. The column of the time path is omitted if there is no path.
 */
export function columnsThatFit(
  tab: TableTab,
  width: number,
  sort: string,
  rows: readonly Row[],
  model: Model,
): Column[] {
  const all = columns[tab].filter(
    (column) => column.id !== 'name' && (column !== onPath || sort === onPath.id || model.head.pathNs > 0),
  );
  const longest = rows.reduce((most, row) => Math.max(most, row.name.length), 0);
  let room = width - Math.max(16, Math.min(longest, 40, Math.floor(width * 0.3)));
  const sorted = all.find((column) => column.id === sort);
  if (sorted !== undefined) room -= sorted.width + 1;
  const kept = all.filter((column) => column === sorted || (room -= column.width + 1) >= 0);
  return [...kept, name];
}

function half(entity: Entity): number {
  return (entity.ci95.highNs - entity.ci95.lowNs) / 2;
}
function belongs(entity: Entity, tab: TableTab): boolean {
  switch (tab) {
    case 'procedures':
      return entity.kind === 'procedure';
    case 'threads':
      return entity.kind === 'thread';
    case 'locks':
      return entity.kind === 'lock';
    case 'objects':
      return entity.kind !== 'procedure' && entity.kind !== 'thread';
  }
}
const whole = (entity: Entity): Row => ({
  entity: entity.id,
  self: false,
  name: entity.name,
  nptNs: entity.nptNs,
  selfNs: entity.nptSelfNs,
  processorTimeNs: entity.processorTimeNs,
  calls: entity.calls,
  whole: entity,
});
function children(model: Model, view: Focus): Row[] {
  return view.rows.map((row) => {
    const entity = item(model.entities, row.entity);
    return {
      entity: row.entity,
      self: row.self,
      name: row.self ? `${entity.name} (self)` : row.name,
      nptNs: row.nptNs,
      selfNs: row.self ? row.nptNs : entity.nptSelfNs,
      processorTimeNs: row.processorTimeNs,
      calls: row.calls,
      whole: entity,
    };
  });
}

const cache = new WeakMap<Model, Map<string, Row[]>>();

/** The rows of a tab, or of the innermost focus, filtered and sorted. Cached for each model. */
export function rowsOf(scene: Scene, tab: TableTab, state: State): Row[] {
  const { model } = scene;
  const table = state.tables[tab];
  const inside = state.focus[state.focus.length - 1];
  const key = [tab, inside ?? '', state.filter, table.sort, table.ascending, state.inclusive].join('\u0000');
  let known = cache.get(model);
  if (known === undefined) cache.set(model, (known = new Map<string, Row[]>()));
  const before = known.get(key);
  if (before !== undefined) return before;

  let rows: Row[];
  if (inside !== undefined && model.entities[inside] !== undefined) rows = children(model, focusOn(model, inside));
  else
    rows = model.ranking
      .map((id) => item(model.entities, id))
      .filter((entity) => belongs(entity, tab))
      .map(whole);
  const wanted = state.filter.toLowerCase();
  if (wanted !== '') rows = rows.filter((row) => row.name.toLowerCase().includes(wanted));
  const sort = table.sort === 'npt' && !state.inclusive ? 'self' : table.sort;
  const column = columns[tab].find((candidate) => candidate.id === sort) ?? npt;
  const sign = table.ascending ? 1 : -1;
  rows.sort(
    (a, b) =>
      sign *
        (column.id === 'name'
          ? a.name < b.name
            ? -1
            : a.name > b.name
              ? 1
              : 0
          : column.value(a, model) - column.value(b, model)) ||
      b.nptNs - a.nptNs ||
      a.entity - b.entity,
  );
  known.set(key, rows);
  return rows;
}
