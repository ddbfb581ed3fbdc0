/** What ranks differ in, as rows of a map: a value for each rank. */
import { item } from '../model/index.js';
import { readGroups } from './parquet.js';
import { leastDistance, medianOf } from './statistics.js';
import { wholeProcess, waitsForProcesses, type LoadedSet } from './views.js';

export interface HeatRow {
  quantity: string; // column of `ranks` or `costs`
  name: string; // of the entity, or wholeProcess
  values: Float64Array; // by member: ns
  median: number;
}

const quantities = ['useful_ns', 'spinning_ns', 'nothing_ran_ns', 'cpu_wait_ns'] as const;
const mostProcedures = 12;
const mostCalls = 4;

/** Quantities of which some rank has 1 % of the longest rank's time more or less than another. */
export async function heatRows(folder: string, set: LoadedSet): Promise<HeatRow[]> {
  const { ranks, summary, entities } = set;
  const least = leastDistance * ranks.reduce((most, { elapsed_ns }) => Math.max(most, elapsed_ns), 0);
  const rows: HeatRow[] = quantities.map((quantity) => ({
    quantity,
    name: wholeProcess,
    values: Float64Array.from(ranks, (rank) => rank[quantity]),
    median: 0,
  }));
  const about = summary.map((row) => ({ row, entity: item(entities, row.entity) }));
  const calls = about
    .filter(({ entity }) => waitsForProcesses(entity))
    .sort((a, b) => b.row.alone_max_ns - a.row.alone_max_ns)
    .slice(0, mostCalls);
  const procedures = about
    .filter(({ entity }) => entity.entity !== 0 && entity.kind !== 'thread' && !waitsForProcesses(entity))
    .sort((a, b) => b.row.npt_max_ns - b.row.npt_mean_ns - (a.row.npt_max_ns - a.row.npt_mean_ns))
    .slice(0, mostProcedures);
  const wanted = new Map<number, { row: HeatRow; column: 'npt_ns' | 'alone_ns' }>();
  const add = (list: typeof about, column: 'npt_ns' | 'alone_ns'): void => {
    for (const { entity } of list) {
      const row = { quantity: column, name: entity.name, values: new Float64Array(ranks.length), median: 0 };
      rows.push(row);
      wanted.set(entity.entity, { row, column });
    }
  };
  add(calls, 'alone_ns');
  add(procedures, 'npt_ns');
  for await (const costs of readGroups(folder, 'costs', ['member', 'entity', 'npt_ns', 'alone_ns']))
    for (let k = 0; k < costs.entity.length; k++) {
      const its = wanted.get(Number(costs.entity[k]));
      if (its) its.row.values[Number(costs.member[k])] = Number(costs[its.column][k]);
    }
  for (const row of rows) row.median = medianOf(row.values);
  return rows.filter(({ values }) => {
    const most = values.reduce((a, b) => Math.max(a, b), -Infinity);
    const fewest = values.reduce((a, b) => Math.min(a, b), Infinity);
    return most - fewest >= least;
  });
}
