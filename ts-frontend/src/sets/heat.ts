/** Quantities in which ranks differ, as rows of a map: the value of each rank, and its distance from the median. */
import { item } from '../model/index.js';
import { readGroups } from './parquet.js';
import { leastDistance, medianOf } from './statistics.js';
import { rankOf, wholeProcess, waitsForProcesses, type LoadedSet } from './views.js';

export interface HeatRow {
  quantity: string; // column of `ranks` or `costs`
  name: string; // name of an entity, or wholeProcess
  values: Float64Array; // for each member, in ns
  median: number;
}

/** Distances from the median that count as small and large, as shares of the longest rank's elapsed time. */
const little = leastDistance;
const much = 0.05;

const names: Readonly<Record<string, string>> = {
  useful_ns: 'useful processor time',
  spinning_ns: 'spinning',
  nothing_ran_ns: 'nothing ran',
  cpu_wait_ns: 'waiting for CPUs',
  npt_ns: 'NPT',
  alone_ns: 'waiting in MPI',
};

/** The row's subject, abbreviated and in full. */
export function labelsOf({ name, quantity }: HeatRow): { label: string; title: string } {
  const what = names[quantity] ?? quantity;
  return name === wholeProcess ? { label: what, title: what } : { label: name, title: `${name}: ${what}` };
}

/**
 * 0: much less than the median, 1: less, 2: close to it, 3: more, 4: much more. `distance` is a share of the longest
 * rank's elapsed time.
 */
export const stepOf = (distance: number): number =>
  Math.abs(distance) < little ? 2 : (distance > 0 ? 3 : 1) + (Math.abs(distance) < much ? 0 : Math.sign(distance));

/** The rank, among the given ones, that is farthest from the median of all ranks. */
export function farthest({ values, median }: HeatRow, members: readonly number[]): number {
  return members.reduce((a, b) => (Math.abs(item(values, b) - median) > Math.abs(item(values, a) - median) ? b : a));
}

/** Distributes members in the given order over at most so many columns. */
export function columnsOf(order: readonly number[], most: number): number[][] {
  const each = Math.ceil(order.length / most);
  return Array.from({ length: Math.ceil(order.length / each) }, (_, k) => order.slice(k * each, (k + 1) * each));
}

/** Elapsed time of the longest rank in ns; at least 1. */
export const longestOf = ({ ranks }: LoadedSet): number =>
  ranks.reduce((most, { elapsed_ns }) => Math.max(most, elapsed_ns), 1);

/** Members sorted by rank. */
export const byRank = ({ ranks }: LoadedSet): number[] =>
  [...ranks].sort((a, b) => rankOf(a) - rankOf(b) || a.member - b.member).map(({ member }) => member);

const quantities = ['useful_ns', 'spinning_ns', 'nothing_ran_ns', 'cpu_wait_ns'] as const;
const mostProcedures = 12;
const mostCalls = 4;

/** Quantities in which some rank differs from another by at least 1 % of the longest rank's time. */
export async function heatRows(folder: string, set: LoadedSet): Promise<HeatRow[]> {
  const { ranks, summary, entities } = set;
  const least = leastDistance * longestOf(set);
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
