/** A column for tables: the share of the critical path that an entity is on. */
import { onPathOf } from '../../model/index.js';
import type { Entity, Model } from '../../model/index.js';
import type { Column } from './table.js';
import { percent } from '../format/units.js';

/** No column if no path was recorded. */
export function onPathColumn<Row>(model: Model, entityOf: (row: Row) => Entity, drop: number): Column<Row>[] {
  const onPath = onPathOf(model);
  if (onPath === null) return [];
  const text = (row: Row): string => {
    const ns = onPath.get(entityOf(row).id) ?? 0;
    return ns >= model.head.pathNs / 1000 ? percent(ns, model.head.pathNs) : '';
  };
  return [{ head: 'on path', text, drop }];
}
