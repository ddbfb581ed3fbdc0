/**
 * The predefined views of sets (docs/reference/sets.md, "Views"), computed from their small tables. sql.ts contains the
 * same definitions as SQL. Pure functions.
 */
import { addTo, isOfProcesses, item, type LibraryWait } from '../model/index.js';
import type { SetView } from '../render/format/options.js';
import type { SetHead } from './set-file.js';
import type { RowOf, Value } from './tables.js';
import type { ViewColumn, ViewTable } from './view-table.js';

export interface LoadedSet {
  name: string;
  head: SetHead;
  ranks: RowOf<'ranks'>[];
  entities: RowOf<'entities'>[];
  summary: RowOf<'summary'>[];
  outliers: RowOf<'outliers'>[];
  findings: RowOf<'findings'>[];
  lateness: RowOf<'lateness'>[];
  delays: RowOf<'delays'>[];
  jobPath: RowOf<'job_path'>[];
}

/** Columns that several views share. */
const run = { name: 'run', head: 'run', unit: 'text', drop: 9 } as const;
const rank = { name: 'rank', head: 'rank', unit: 'count' } as const;
const name = { name: 'name', head: 'name', unit: 'text' } as const;
const file = { name: 'file', head: 'file', unit: 'text', hidden: true } as const;
const line = { name: 'line', head: 'line', unit: 'count', hidden: true } as const;

const columns = {
  ranks: [
    run,
    rank,
    { name: 'host', head: 'host', unit: 'text', drop: 4 },
    { name: 'status', head: 'status', unit: 'text', drop: 7 },
    { name: 'elapsed_ns', head: 'elapsed', unit: 'ns' },
    { name: 'processors', head: 'P', unit: 'count', drop: 5 },
    { name: 'useful_ns', head: 'useful', unit: 'ns' },
    { name: 'overhead_ns', head: 'overhead', unit: 'ns', drop: 6 },
    { name: 'spinning_ns', head: 'spinning', unit: 'ns', drop: 3 },
    { name: 'idle_ns', head: 'idle', unit: 'ns', drop: 3 },
    { name: 'nothing_ran_ns', head: 'nothing ran', unit: 'ns', drop: 2 },
    { name: 'mpi_ns', head: 'in MPI', unit: 'ns' },
    { name: 'cpu_wait_ns', head: 'for CPUs', unit: 'ns', drop: 1 },
    { name: 'file', head: 'file', unit: 'text', drop: 8 },
  ],
  imbalance: [
    run,
    { name: 'kind', head: 'kind', unit: 'text', drop: 6 },
    { name: 'ranks', head: 'ranks', unit: 'count', drop: 5 },
    { name: 'mean_ns', head: 'mean', unit: 'ns' },
    { name: 'min_ns', head: 'least', unit: 'ns', drop: 4 },
    { name: 'max_ns', head: 'most', unit: 'ns' },
    { name: 'max_rank', head: 'rank', unit: 'count' },
    { name: 'imbalance_ns', head: 'imbalance', unit: 'ns' },
    { name: 'imbalance_share', head: 'of most', unit: 'share', drop: 2 },
    { name: 'core_share', head: 'of core time', unit: 'share', drop: 3 },
    name,
    file,
    line,
  ],
  outliers: [
    run,
    rank,
    { name: 'host', head: 'host', unit: 'text', drop: 3 },
    { name: 'quantity', head: 'what', unit: 'text' },
    { name: 'value_ns', head: 'there', unit: 'ns' },
    { name: 'median_ns', head: 'median', unit: 'ns' },
    { name: 'score', head: 'score', unit: 'factor', drop: 2 },
    name,
    file,
  ],
  mpi: [
    run,
    { name: 'waits_for', head: 'waits for', unit: 'text', drop: 5 },
    { name: 'ranks', head: 'ranks', unit: 'count', drop: 4 },
    { name: 'mean_ns', head: 'mean', unit: 'ns' },
    { name: 'max_ns', head: 'most', unit: 'ns', drop: 3 },
    { name: 'max_rank', head: 'rank', unit: 'count', drop: 3 },
    { name: 'min_ns', head: 'least', unit: 'ns' },
    { name: 'min_rank', head: 'rank', unit: 'count' },
    { name: 'longer_ns', head: 'longer', unit: 'ns' },
    { name: 'core_share', head: 'of core time', unit: 'share', drop: 2 },
    { name: 'name', head: 'call', unit: 'text' },
    file,
    line,
  ],
  late: [
    run,
    { name: 'pattern', head: 'what', unit: 'text' },
    { name: 'late_rank', head: 'late rank', unit: 'count' },
    { name: 'ranks', head: 'waiting', unit: 'count', drop: 3 },
    { name: 'waits', head: 'times', unit: 'count', drop: 4 },
    { name: 'wait_ns', head: 'waited', unit: 'ns' },
    { name: 'per_rank_ns', head: 'per rank', unit: 'ns' },
    { name: 'most_ns', head: 'longest', unit: 'ns', drop: 2 },
    { name: 'name', head: 'call', unit: 'text' },
    file,
    line,
  ],
  'job-path': [
    run,
    rank,
    { name: 'host', head: 'host', unit: 'text', drop: 3 },
    { name: 'what', head: 'what', unit: 'text' },
    { name: 'ns', head: 'time', unit: 'ns' },
    { name: 'path_share', head: 'of the path', unit: 'share' },
    { name: 'segments', head: 'times', unit: 'count', drop: 2 },
    { name: 'after', head: 'after', unit: 'text' },
    { name: 'until', head: 'until', unit: 'text' },
  ],
  scaling: [
    { name: 'run', head: 'run', unit: 'text' },
    { name: 'cores', head: 'cores', unit: 'count' },
    { name: 'core_ns', head: 'core time', unit: 'ns' },
    { name: 'expected_ns', head: 'expected', unit: 'ns', drop: 2 },
    { name: 'growth', head: 'growth', unit: 'factor' },
    { name: 'excess_ns', head: 'excess', unit: 'ns' },
    { name: 'excess_share', head: 'of core time', unit: 'share' },
    { name: 'kind', head: 'kind', unit: 'text', drop: 3 },
    name,
    file,
  ],
} as const satisfies Record<SetView, readonly ViewColumn[]>;

type ViewRow<V extends SetView> = Record<(typeof columns)[V][number]['name'], Value>;
const tableOf = <V extends SetView>(view: V, rows: ViewRow<V>[]): ViewTable => ({ columns: columns[view], rows });

/** The name in rows that are about no entity. */
export const wholeProcess = '(whole process)';
export const wholeJob = '(whole job)';
export const nothingRuns = '(nothing runs)';
const unknownCall = '(unknown call)';

export const coresOf = (set: LoadedSet): number => set.ranks.reduce((sum, { processors }) => sum + processors, 0);
/** Elapsed time multiplied by the number of processors, summed over ranks. */
export const coreTimeOf = (set: LoadedSet): number =>
  set.ranks.reduce((sum, { processors, elapsed_ns }) => sum + processors * elapsed_ns, 0);
const share = (part: number, whole: number): number => (whole > 0 ? part / whole : 0);
/** The number of the rank in the job; if unknown, its index in the set. */
export const rankOf = ({ rank, member }: RowOf<'ranks'>): number => rank ?? member;
const nameOf = ({ entity, name }: RowOf<'entities'>): string => (entity === 0 ? wholeProcess : name);
const by =
  <Row>(key: (row: Row) => number) =>
  (a: Row, b: Row): number =>
    key(b) - key(a);

const ranksView = (sets: readonly LoadedSet[]): ViewTable =>
  tableOf(
    'ranks',
    sets.flatMap(({ name, ranks }) =>
      [...ranks].sort(by((row) => row.useful_ns)).map((row) => ({
        run: name,
        rank: rankOf(row),
        host: row.host,
        status: row.status,
        elapsed_ns: row.elapsed_ns,
        processors: row.processors,
        useful_ns: row.useful_ns,
        overhead_ns: row.overhead_ns,
        spinning_ns: row.spinning_ns,
        idle_ns: row.idle_ns,
        nothing_ran_ns: row.nothing_ran_ns,
        mpi_ns: row.mpi_ns,
        cpu_wait_ns: row.cpu_wait_ns,
        file: row.file,
      })),
    ),
  );

const imbalanceView = (sets: readonly LoadedSet[]): ViewTable =>
  tableOf(
    'imbalance',
    sets.flatMap((set) => {
      const core = coreTimeOf(set);
      return set.summary
        .map((row) => ({ row, entity: item(set.entities, row.entity) }))
        .filter(({ row, entity }) => row.npt_max_ns > 0 && entity.kind !== 'thread')
        .map(({ row, entity }) => ({
          run: set.name,
          kind: entity.kind,
          ranks: row.ranks,
          mean_ns: row.npt_mean_ns,
          min_ns: row.npt_min_ns,
          max_ns: row.npt_max_ns,
          max_rank: rankOf(item(set.ranks, row.npt_max_member)),
          imbalance_ns: row.npt_max_ns - row.npt_mean_ns,
          imbalance_share: share(row.npt_max_ns - row.npt_mean_ns, row.npt_max_ns),
          core_share: share(row.npt_core_ns, core),
          name: nameOf(entity),
          file: entity.file,
          line: entity.line,
        }))
        .sort(by((row) => row.imbalance_ns));
    }),
  );

const outliersView = (sets: readonly LoadedSet[]): ViewTable =>
  tableOf(
    'outliers',
    sets.flatMap((set) =>
      set.outliers.map((row) => {
        const rank = item(set.ranks, row.member);
        const entity = item(set.entities, row.entity);
        return {
          run: set.name,
          rank: rankOf(rank),
          host: rank.host,
          quantity: row.quantity,
          value_ns: row.value_ns,
          median_ns: row.median_ns,
          score: row.score,
          name: nameOf(entity),
          file: entity.file,
        };
      }),
    ),
  );

export const waitsForProcesses = ({ waits_for }: RowOf<'entities'>): boolean =>
  waits_for !== '' && isOfProcesses({ libraryWait: waits_for as LibraryWait });

const mpiView = (sets: readonly LoadedSet[]): ViewTable =>
  tableOf(
    'mpi',
    sets.flatMap((set) => {
      const core = coreTimeOf(set);
      return set.summary
        .map((row) => ({ row, entity: item(set.entities, row.entity) }))
        .filter(({ row, entity }) => waitsForProcesses(entity) && row.alone_max_ns > 0)
        .map(({ row, entity }) => ({
          run: set.name,
          waits_for: entity.waits_for,
          ranks: row.ranks,
          mean_ns: row.alone_mean_ns,
          max_ns: row.alone_max_ns,
          max_rank: rankOf(item(set.ranks, row.alone_max_member)),
          min_ns: row.alone_min_ns,
          min_rank: rankOf(item(set.ranks, row.alone_min_member)),
          longer_ns: row.alone_mean_ns - row.alone_min_ns,
          core_share: share(row.alone_core_ns, core),
          name: nameOf(entity),
          file: entity.file,
          line: entity.line,
        }))
        .sort(by((row) => row.mean_ns));
    }),
  );

const lateView = (sets: readonly LoadedSet[]): ViewTable =>
  tableOf(
    'late',
    sets.flatMap((set) => {
      const rows = new Map<string, ViewRow<'late'> & { wait_ns: number }>();
      for (const { late_member, entity, pattern, waits, ns, most_ns } of set.lateness) {
        const its = item(set.entities, entity);
        const key = `${late_member} ${entity} ${pattern}`;
        const row = rows.get(key) ?? {
          run: set.name,
          pattern,
          late_rank: rankOf(item(set.ranks, late_member)),
          ranks: 0,
          waits: 0,
          wait_ns: 0,
          per_rank_ns: 0,
          most_ns: 0,
          name: entity === 0 ? unknownCall : its.name,
          file: its.file,
          line: its.line,
        };
        row.ranks = Number(row.ranks) + 1;
        row.waits = Number(row.waits) + waits;
        row.wait_ns += ns;
        row.per_rank_ns = row.wait_ns / set.ranks.length;
        row.most_ns = Math.max(Number(row.most_ns), most_ns);
        rows.set(key, row);
      }
      return [...rows.values()].sort(by((row) => row.wait_ns));
    }),
  );

const jobPathView = (sets: readonly LoadedSet[]): ViewTable =>
  tableOf(
    'job-path',
    sets.flatMap((set) => {
      const all = set.jobPath.reduce((sum, { ns }) => sum + ns, 0);
      const nameAt = (entity: number, none: string): string => (entity === 0 ? none : item(set.entities, entity).name);
      return set.jobPath.map(({ member, after, until, what, segments, ns }) => ({
        run: set.name,
        rank: rankOf(item(set.ranks, member)),
        host: item(set.ranks, member).host,
        what,
        ns,
        path_share: share(ns, all),
        segments,
        after: nameAt(after, '(begin)'),
        until: nameAt(until, '(end)'),
      }));
    }),
  );

/** Core time by entity; together with the core time outside of entities, it adds up to the job's. */
interface Charged {
  name: string;
  kind: string;
  file: string;
  core: number;
}
function chargesOf(set: LoadedSet): Map<string, Charged> {
  const charges = new Map<string, Charged>();
  const add = (name: string, kind: string, file: string, core: number): void => {
    const key = `${kind}\0${name}\0${file}`;
    const known = charges.get(key);
    if (known) known.core += core;
    else charges.set(key, { name, kind, file, core });
  };
  add(wholeJob, 'job', '', coreTimeOf(set));
  const idle = set.ranks.reduce((sum, row) => sum + row.processors * Math.max(0, row.nothing_ran_ns - row.mpi_ns), 0);
  add(nothingRuns, 'idle', '', idle);
  for (const row of set.summary) {
    const { entity, kind, name, file } = item(set.entities, row.entity);
    const core = row.self_core_ns + row.alone_core_ns;
    if (entity !== 0 && kind !== 'thread' && core > 0) add(name, kind, file, core);
  }
  return charges;
}

/** The factor by which the work is expected to grow from one set to another. */
type Expected = (base: LoadedSet, other: LoadedSet) => number;

function scalingView(sets: readonly LoadedSet[], expected: Expected): ViewTable {
  const ordered = [...sets].sort((a, b) => coresOf(a) - coresOf(b));
  const base = ordered[0];
  if (!base) return tableOf('scaling', []);
  const all = new Map(ordered.map((set) => [set, chargesOf(set)]));
  const about = new Map<string, Charged>();
  const excessOf = new Map<string, number>(); // summed over all sets, to sort the entities
  const rows = ordered.map((set) => {
    const own = all.get(set) ?? new Map<string, Charged>();
    const factor = set === base ? 1 : expected(base, set);
    for (const [key, charged] of own) if (!about.has(key)) about.set(key, charged);
    return { set, own, factor, core: coreTimeOf(set) };
  });
  const known = all.get(base) ?? new Map<string, Charged>();
  const found = rows.flatMap(({ set, own, factor, core }) =>
    [...about].map(([key, { name, kind, file }]) => {
      const ns = own.get(key)?.core ?? 0;
      const wanted = (known.get(key)?.core ?? 0) * factor;
      if (kind !== 'job') addTo(excessOf, key, ns - wanted);
      return {
        key,
        row: {
          run: set.name,
          cores: coresOf(set),
          core_ns: ns,
          expected_ns: wanted,
          growth: wanted > 0 ? ns / wanted : null,
          excess_ns: ns - wanted,
          excess_share: share(ns - wanted, core),
          kind,
          name,
          file,
        },
      };
    }),
  );
  const order = (key: string): number => excessOf.get(key) ?? Infinity;
  // the sort is stable: rows of one entity stay sorted by number of cores
  const sorted = found.sort((a, b) => order(b.key) - order(a.key) || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return tableOf(
    'scaling',
    sorted.map(({ row }) => row),
  );
}

export function setView(view: SetView, sets: readonly LoadedSet[], expected: Expected): ViewTable {
  switch (view) {
    case 'ranks':
      return ranksView(sets);
    case 'imbalance':
      return imbalanceView(sets);
    case 'outliers':
      return outliersView(sets);
    case 'mpi':
      return mpiView(sets);
    case 'late':
      return lateView(sets);
    case 'job-path':
      return jobPathView(sets);
    case 'scaling':
      return scalingView(sets, expected);
  }
}
