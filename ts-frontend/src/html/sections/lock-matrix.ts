/**
 * A matrix of synchronization objects and threads: which thread waited for which object, and which held it while others
 * waited. The profile does not record which waiter waited for which holder. Pure functions.
 */
import { addTo, item, type Model, type PathTime } from '../../model/index.js';
import { lockColumns, objectRows, waitedFor, type ObjectRow } from '../../render/locks.js';
import { time } from '../../render/format/units.js';
import { cut } from '../../render/format/text.js';
import { nameWithoutKind, path, shortLabel } from '../../render/wording/names.js';
import { byPath } from '../../render/locks.js';
import { escape } from '../drawing/escape.js';
import type { RenderOptions } from '../../render/format/options.js';
import { htmlTable } from './table.js';

const letters = { ascii: false };
const options: RenderOptions = { width: 160, colour: false, ascii: false, top: 0 };
const mostObjects = 15;
const mostThreads = 12;
const mostPaths = 5;

/** Threads of the same name share a column. */
const shown = (model: Model, thread: number): number => item(model.entities, thread).group || thread;

function sums(model: Model, list: readonly PathTime[], into: Map<number, number>): void {
  for (const { thread, ns } of list) addTo(into, shown(model, thread), ns);
}

interface Cells {
  row: ObjectRow;
  waited: Map<number, number>;
  held: Map<number, number>;
}

export function lockMatrix(model: Model): string {
  const rows = waitedFor(objectRows(model));
  if (rows.length === 0) return '<p>Nobody waited for a synchronization object.</p>';
  return (
    htmlTable('Synchronization objects by time waited', rows, lockColumns(model, options), mostObjects) +
    matrix(model, rows.slice(0, mostObjects)) +
    rows
      .slice(0, mostObjects)
      .map((row) => detail(model, row))
      .join('')
  );
}

function matrix(model: Model, rows: readonly ObjectRow[]): string {
  const cells = rows.map((row): Cells => {
    const waited = new Map<number, number>(),
      held = new Map<number, number>();
    sums(model, row.object.waiters, waited);
    sums(model, row.object.holders, held);
    return { row, waited, held };
  });
  const all = new Map<number, number>();
  for (const { waited, held } of cells)
    for (const side of [waited, held]) for (const [thread, ns] of side) addTo(all, thread, ns);
  const threads = [...all]
    .sort((a, b) => b[1] - a[1])
    .slice(0, mostThreads)
    .map(([thread]) => thread);
  if (threads.length === 0) return '';
  const most = Math.max(1, ...cells.flatMap(({ waited, held }) => [...waited.values(), ...held.values()]));
  const part = (name: string, ns: number): string =>
    ns <= 0
      ? ''
      : `<span class="${name} h${Math.max(1, Math.ceil((4 * ns) / most))}">${name === 'waited' ? 'waited' : 'held'} ` +
        `${escape(time(ns))}</span>`;
  const body = cells.map(({ row, waited, held }) => {
    const its = threads.map(
      (thread) => `<td>${part('waited', waited.get(thread) ?? 0)}${part('held', held.get(thread) ?? 0)}</td>`,
    );
    return (
      '<tr><th scope="row" ' +
      `class="left">${escape(shortLabel(model, row.entity, 40, letters))}</th>${its.join('')}</tr>`
    );
  });
  const names = threads.map((thread) =>
    thread === 0 ? 'not known' : nameWithoutKind(item(model.entities, thread), letters),
  );
  const left = all.size - threads.length;
  return (
    '<div class="wide"><table class="matrix"><caption>Who waited for it, and who held it meanwhile (threads times ' +
    'time, sampled; without threads that had been woken and waited for a CPU)</caption>' +
    '<thead><tr><th scope="col" ' +
    `class="left">object</th>` +
    `${names.map((name) => `<th scope="col">${escape(cut(name, 24, letters))}</th>`).join('')}</tr></thead>` +
    `<tbody>${body.join('')}</tbody></table></div>${
      left > 0 ? `<p class="dim">${left} more threads are not shown.</p>` : ''
    }`
  );
}

function detail(model: Model, { entity, object }: ObjectRow): string {
  const list = (title: string, times: readonly PathTime[]): string => {
    const all = byPath(times, entity.id).filter((one) => one.path.length > 0);
    if (all.length === 0) return '';
    const items = all
      .slice(0, mostPaths)
      .map((one) => `<li>${escape(time(one.ns))} ${escape(path(model, one.path, 200, letters))}</li>`);
    return `<p>${title}:</p><ul>${items.join('')}</ul>`;
  };
  const text =
    list('Waited in', object.waiters) +
    list(entity.rawKind === 'join' ? 'Was waited for in' : 'Held while others waited in', object.holders) +
    list('Ran while others waited', object.waitOverlap);
  return text === ''
    ? ''
    : `<details><summary>${escape(shortLabel(model, entity, 100, letters))}</summary>${text}</details>`;
}
