/** Procedures and objects by their time on a chain: the time path, or the span. */
import { item } from '../../model/index.js';
import type { Entity, Model, PathEntity } from '../../model/index.js';
import type { RenderOptions } from '../format/options.js';
import { percent, plusMinus, time } from '../format/units.js';
import type { Column } from '../parts/table.js';
import { label, place, shortLabel } from '../wording/names.js';

/**
 * The rows to show, with their entities. Threads are left out, and so are members of groups, which the group stands
 * for.
 */
export const shownOnChain = <Row extends { entity: number }>(
  model: Model,
  rows: readonly Row[],
): (Row & { of: Entity })[] =>
  rows
    .map((row) => ({ ...row, of: item(model.entities, row.entity) }))
    .filter(({ of }) => of.id !== 0 && of.group === 0 && of.kind !== 'thread');

interface Chain<Row> {
  head: string; // heading of the column with the time on the chain
  wholeNs: number; // length of the chain
  ns: (row: Row) => number;
  selfNs: (row: Row) => number;
  beside: Column<Row>; // a column specific to the chain, before the names
}

export function chainColumns<Row extends { of: Entity; ci95: PathEntity['ci95'] }>(
  model: Model,
  { head, wholeNs, ns, selfNs, beside }: Chain<Row>,
  options: RenderOptions,
): Column<Row>[] {
  return [
    { head, text: (row) => time(ns(row), options), tone: 'strong' },
    {
      head: options.ascii ? '95%' : '±95%',
      text: (row) => plusMinus(ns(row), (row.ci95.highNs - row.ci95.lowNs) / 2, options),
      drop: 3,
    },
    { head: 'share', text: (row) => percent(ns(row), wholeNs) },
    { head: 'self', text: (row) => percent(selfNs(row), wholeNs), drop: 2 },
    { ...beside, drop: 4 },
    {
      head: 'procedure',
      text: ({ of }) => label(of, options),
      short: ({ of }, columns) => shortLabel(model, of, columns, options),
      align: 'left',
      name: true,
    },
    { head: 'where', text: ({ of }) => place(model, of, options), align: 'left', drop: 5 },
  ];
}
