/**
 * Calling contexts for a flame graph: those of the whole program, or all contexts of one entity merged into one. The
 * time of an entity that calls itself indirectly is that of its outermost calls. Pure.
 */
import { item } from '../profile/columns.js';
import type { Model } from '../result/types.js';
import { costIndex } from './costs.js';
import type { ViewRow } from './rows.js';
import { viewOf } from './views.js';

export interface FlameNode {
  entity: number; // 0: the whole program
  nptNs: number; // including all descendants
  timeNs: number; // processor time, including all descendants
  /** The contexts that it calls, largest NPT first. */
  open: () => FlameNode[];
}

/** The mean number of processors busy while it ran. */
export const busyBeside = ({ nptNs, timeNs }: FlameNode): number => (nptNs > 0 ? timeNs / nptNs : 1);

/** `entity`: 0 for the whole program. NPT is 0 if the entity is on no path. */
export function flameOf(model: Model, entity: number): FlameNode {
  const root = viewOf(model, 'tree');
  return nodeOf(entity, entity === 0 ? [root] : outermost(root, entity));
}

const entityOf = ({ subject }: ViewRow): number => (subject.kind === 'entity' ? subject.entity : 0);
const sum = (rows: readonly ViewRow[], column: number): number =>
  rows.reduce((all, { total }) => all + (total[column] ?? 0), 0);

function nodeOf(entity: number, rows: readonly ViewRow[]): FlameNode {
  return {
    entity,
    nptNs: sum(rows, costIndex.npt),
    timeNs: sum(rows, costIndex.time),
    open: () => {
      const below = new Map<number, ViewRow[]>();
      for (const row of rows.flatMap((one) => one.open(costIndex.npt))) {
        const same = below.get(entityOf(row));
        if (same) same.push(row);
        else below.set(entityOf(row), [row]);
      }
      return [...below].map(([id, same]) => nodeOf(id, same)).sort((a, b) => b.nptNs - a.nptNs || a.entity - b.entity);
    },
  };
}

function outermost(root: ViewRow, entity: number): ViewRow[] {
  const found: ViewRow[] = [];
  const waiting = [root];
  for (let at = 0; at < waiting.length; at++) {
    const row = item(waiting, at);
    if (entityOf(row) === entity) found.push(row);
    else waiting.push(...row.open(costIndex.npt));
  }
  return found;
}

/**
 * How alone something ran, in five equal steps of the mean number of processors busy at the same time: 0 means alone, 4
 * all processors busy. With one processor this is meaningless, and the result is 4.
 */
export function aloneness(parallelism: number, processors: number): 0 | 1 | 2 | 3 | 4 {
  if (processors <= 1) return 4;
  return Math.max(0, Math.min(4, Math.floor((5 * (parallelism - 1)) / (processors - 1)))) as 0 | 1 | 2 | 3 | 4;
}
