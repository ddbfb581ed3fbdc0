/** Invariants of the views of calling contexts: parts add up to wholes, and to the numbers of the tables. Pure. */
import type { Model } from '../result/types.js';
import { amountNames, costIndex } from './costs.js';
import type { ViewRow } from './rows.js';
import { viewOf } from './views.js';

/** Returns one line for each violation; `slack`: tolerated difference by rounding, in ns. */
export function checkViews(model: Model, slack: number): string[] {
  const broken: string[] = [];
  const same = (what: string, a: number, b: number): void => {
    if (!(Math.abs(a - b) <= slack)) broken.push(`${what}: ${a} ns and ${b} ns`);
  };
  const tree = viewOf(model, 'tree');
  const flat = viewOf(model, 'flat');
  const callers = viewOf(model, 'callers');
  const callersOpen = callers.open(costIndex.npt);
  same('tree: NPT of the whole', tree.total[costIndex.npt] ?? 0, model.root.nptNs);
  for (const name of amountNames) {
    const k = costIndex[name];
    const sum = (rows: readonly ViewRow[], own: 'total' | 'self'): number =>
      rows.reduce((total, row) => total + (row[own][k] ?? 0), 0);
    same(
      `tree: ${name} of the whole and its parts`,
      tree.total[k] ?? 0,
      (tree.self[k] ?? 0) + sum(tree.open(k), 'total'),
    );
    same(
      `callers: ${name} of the whole and its parts`,
      callers.total[k] ?? 0,
      (tree.self[k] ?? 0) + sum(callersOpen, 'total'),
    );
    same(
      `flat: ${name} of the whole and its parts`,
      flat.total[k] ?? 0,
      (tree.self[k] ?? 0) + sum(flat.open(k), 'self'),
    );
  }
  const files = flat.open(costIndex.npt).flatMap((module) => module.open(costIndex.npt));
  const procedures = files.flatMap((file) => file.open(costIndex.npt));
  // A loop has a row in each procedure that its time belongs to (views.ts).
  const rowsOf = new Map<number, ViewRow[]>();
  for (const row of [...procedures, ...procedures.flatMap((procedure) => procedure.open(costIndex.npt))])
    if (row.subject.kind === 'entity') rowsOf.set(row.subject.entity, [...(rowsOf.get(row.subject.entity) ?? []), row]);
  for (const [id, rows] of rowsOf) {
    const entity = model.entities[id];
    if (!entity) continue;
    const self = rows.reduce((sum, row) => sum + (row.self[costIndex.npt] ?? 0), 0);
    same(`flat: self NPT of ${entity.name}`, self, entity.nptSelfNs);
    const [row] = rows;
    if (rows.length === 1 && row) same(`flat: NPT of ${entity.name}`, row.total[costIndex.npt] ?? 0, entity.nptNs);
  }
  for (const row of callersOpen) {
    const entity = row.subject.kind === 'entity' ? model.entities[row.subject.entity] : undefined;
    if (entity) same(`callers: self NPT of ${entity.name}`, row.total[costIndex.npt] ?? 0, entity.nptSelfNs);
  }
  return broken;
}
