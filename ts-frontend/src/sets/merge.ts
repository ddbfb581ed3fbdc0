/**
 * Merges profiles into a set (docs/reference/sets.md). Processes one profile at a time, so that memory depends on what
 * they have in common rather than on their number.
 */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { item, memberOf, type MemberProfile } from '../model/index.js';
import { Interner } from './intern.js';
import { JobEvents } from './job-events.js';
import { latenessOf } from './lateness.js';
import { notableMembers } from './notable.js';
import { memberRows } from './member-rows.js';
import { readGroups, readRows, TableWriter } from './parquet.js';
import { headFile, readHead, setFormat, type LeftOut, type SetHead } from './set-file.js';
import { openSet, setRows } from './set-rows.js';
import { leastDistance, outliersOf, rankQuantities, Summary } from './statistics.js';
import { tableNames, type RowOf, type TableName } from './tables.js';
import { waitsForProcesses } from './views.js';

export type FindingRow = Omit<RowOf<'findings'>, 'member' | 'nth'>;
export interface ProfileSource {
  file: string;
  /** The findings of the process; called only for some members. Absent: the set contains no findings of it. */
  findings?: () => FindingRow[];
  /** The profile, or why it cannot be read. */
  open: () => MemberProfile | Omit<LeftOut, 'file'>;
}
/** A set that was merged earlier. */
interface SetSource {
  folder: string;
}
export type Source = ProfileSource | SetSource;
/** Thrown if none of the profiles can be read. */
export class EmptySet extends Error {
  constructor(readonly leftOut: SetHead['leftOut']) {
    super('no profile can be read');
  }
}
/** Thrown if one of the sets to merge is incomplete. */
export class DamagedSet extends Error {
  constructor(readonly folder: string) {
    super(`${folder} is damaged`);
  }
}
/** Thrown if the sets are of different runs. */
export class DifferentRuns extends Error {
  constructor(
    readonly folder: string,
    readonly parameter: string,
    readonly values: readonly [string, string],
  ) {
    super(`${folder} is of another run`);
  }
}
interface Merged {
  head: SetHead;
  contexts: number;
  facts: number;
}

/** Reported for a set of which a table is missing or incomplete. */
export const damaged = 'is damaged: a table of it cannot be read';

/**
 * The rank that the launcher assigned. For profiles before format 26 it is taken from the name: prog.7.quartz is rank
 * 7, unless 7 is the process ID (from %p).
 */
function rankOf(file: string, { pid, rank }: MemberProfile['head']): number | null {
  if (rank > 0) return rank - 1;
  const digits = /\.(\d{1,9})\.quartz$/.exec(file)?.[1];
  return digits === undefined || Number(digits) === pid ? null : Number(digits);
}

type Writers = { [T in TableName]: TableWriter<T> };

function openAll(folder: string): Writers {
  return Object.fromEntries(tableNames.map((table) => [table, new TableWriter(folder, table)])) as unknown as Writers;
}

/**
 * `folder` must not exist; it is removed if merging fails. Throws EmptySet, DamagedSet, DifferentRuns, and errors of
 * file operations.
 */
export async function merge(
  sources: Iterable<Source>,
  folder: string,
  { quartz, parameters }: Pick<SetHead, 'quartz' | 'parameters'>,
): Promise<Merged> {
  const parts = `${folder}.part-${process.pid}`;
  mkdirSync(parts);
  try {
    const merged = await mergeInto(parts, sources, quartz, parameters);
    renameSync(parts, folder);
    return merged;
  } catch (error) {
    rmSync(parts, { recursive: true, force: true });
    throw error;
  }
}

async function mergeInto(
  folder: string,
  sources: Iterable<Source>,
  quartz: string,
  parameters: SetHead['parameters'],
): Promise<Merged> {
  const writers = openAll(folder);
  const interner = new Interner();
  const events = new JobEvents();
  const alone = new Map<string, number>(); // by member and call: the share of waiting there that counts, below 1
  const summary = new Summary();
  const ranks: RowOf<'ranks'>[] = [];
  const leftOut: SetHead['leftOut'] = [];
  const findings: (() => FindingRow[] | Promise<FindingRow[]>)[] = []; // one function per member
  const emit = <T extends TableName>(table: T, row: RowOf<T>): void => {
    (writers[table] as TableWriter<T>).add(row);
  };
  const whole = { ...parameters };
  const folders = new Set<string>();
  let parts = 0,
    profiles = false;
  for (const source of sources) {
    if ('folder' in source) {
      const { folder: from } = source;
      const head = readHead(from);
      const open = typeof head === 'string' ? undefined : await openSet(from).catch(() => undefined);
      if (typeof head === 'string' || open === undefined) {
        leftOut.push({ file: from, why: typeof head === 'string' ? head : damaged, fault: 'set' });
        continue;
      }
      leftOut.push(...head.leftOut);
      parts += head.parts ?? 1;
      for (const its of head.folders) folders.add(its);
      addParameters(whole, parameters, from, head.parameters);
      const firstMember = ranks.length;
      try {
        await setRows(open, firstMember, interner, emit, (rank, costs) => {
          summary.add(rank, costs);
          ranks.push(rank);
          events.skip(rank.member);
          findings.push(() => findingsOf(from, rank.member - firstMember));
        });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).syscall === 'write') throw error;
        throw new DamagedSet(from); // some rows have already been written
      }
      continue;
    }
    const { file, open } = source;
    const raw = open();
    if ('why' in raw) {
      leftOut.push({ file, ...raw });
      continue;
    }
    profiles = true;
    folders.add(dirname(resolve(file)));
    const about = { member: ranks.length, rank: rankOf(basename(file), raw.head), file: basename(file) };
    const { rank, costs } = memberRows(about, memberOf(raw), interner, events, emit);
    for (const { entity, wait_ns, alone_ns } of costs)
      if (alone_ns < wait_ns && waitsForProcesses(item(interner.entities, entity)))
        alone.set(`${rank.member} ${entity}`, alone_ns / wait_ns);
    summary.add(rank, costs);
    ranks.push(rank);
    findings.push(() => source.findings?.() ?? []);
  }
  if (ranks.length === 0) throw new EmptySet(leftOut);
  const late = latenessOf(events, ranks, (member, call) => alone.get(`${member} ${call}`) ?? 1);
  for (const row of late.lateness) emit('lateness', row);
  for (const row of late.delays) emit('delays', row);
  for (const row of late.path) emit('job_path', row);
  for (const row of interner.entities) emit('entities', row);
  interner.parents.forEach((parent, context) => {
    emit('contexts', {
      context,
      parent,
      entity: item(interner.tops, context),
      depth: item(interner.depths, context),
    });
  });
  const totals = summary.rows();
  for (const row of totals) emit('summary', row);
  writers.costs.finish();
  const outliers = await outlierRows(folder, ranks, totals, interner);
  for (const row of outliers) emit('outliers', row);
  for (const member of notableMembers(ranks, outliers))
    (await item(findings, member)()).forEach((row, k) => {
      emit('findings', { member, nth: k + 1, ...row });
    });
  for (const table of tableNames) if (table !== 'costs') writers[table].finish();
  const head: SetHead = {
    format: setFormat,
    quartz,
    programs: [...new Set(ranks.map(({ program }) => program))],
    members: ranks.length,
    leftOut,
    unfinished: ranks.filter(({ status }) => status === 'unfinished').map(({ file }) => file),
    parameters: whole,
    parts: parts + Number(profiles),
    folders: [...folders],
  };
  writeFileSync(headFile(folder), `${JSON.stringify(head, null, 1)}\n`);
  return { head, contexts: interner.parents.length, facts: writers.facts.rows };
}

/** Parameters on the command line take precedence; otherwise all sets that define a parameter must agree on it. */
function addParameters(
  whole: SetHead['parameters'],
  asked: SetHead['parameters'],
  folder: string,
  its: SetHead['parameters'],
): void {
  for (const [name, value] of Object.entries(its)) {
    if (name in asked) continue;
    const other = (whole[name] ??= value);
    if (other !== value) throw new DifferentRuns(folder, name, [other, value]);
  }
}

/** The findings that a set contains for one of its members. */
async function findingsOf(folder: string, of: number): Promise<FindingRow[]> {
  const rows = (await readRows(folder, 'findings')).filter(({ member }) => member === of);
  return rows
    .sort((a, b) => a.nth - b.nth)
    .map(({ kind, cost_ns, saving_ns, text, remedy }) => ({ kind, cost_ns, saving_ns, text, remedy }));
}

/**
 * Skips entities whose time on every rank is too small for an outlier; reads the values of the others back from the
 * table.
 */
async function outlierRows(
  folder: string,
  ranks: readonly RowOf<'ranks'>[],
  totals: readonly RowOf<'summary'>[],
  interner: Interner,
): Promise<RowOf<'outliers'>[]> {
  const least = leastDistance * ranks.reduce((most, { elapsed_ns }) => Math.max(most, elapsed_ns), 0);
  const rows: RowOf<'outliers'>[] = [];
  const look = (quantity: string, entity: number, values: Float64Array): void => {
    for (const { member, score, median } of outliersOf(values, least))
      rows.push({ member, quantity, entity, value_ns: item(values, member), median_ns: median, score });
  };
  for (const quantity of rankQuantities)
    look(
      quantity,
      0,
      Float64Array.from(ranks, (rank) => rank[quantity]),
    );
  const isOne = ({ entity }: RowOf<'summary'>): boolean =>
    entity !== 0 && item(interner.entities, entity).kind !== 'thread';
  const values = { npt_ns: new Map<number, Float64Array>(), wait_ns: new Map<number, Float64Array>() };
  for (const row of totals.filter(isOne)) {
    if (row.npt_max_ns >= least) values.npt_ns.set(row.entity, new Float64Array(ranks.length));
    if (row.wait_max_ns >= least) values.wait_ns.set(row.entity, new Float64Array(ranks.length));
  }
  if (values.npt_ns.size + values.wait_ns.size > 0) {
    for await (const columns of readGroups(folder, 'costs', ['member', 'entity', 'npt_ns', 'wait_ns']))
      for (let k = 0; k < columns.entity.length; k++) {
        const entity = Number(columns.entity[k]),
          member = Number(columns.member[k]);
        for (const quantity of ['npt_ns', 'wait_ns'] as const) {
          const column = values[quantity].get(entity);
          if (column) column[member] = Number(columns[quantity][k]);
        }
      }
  }
  for (const quantity of ['npt_ns', 'wait_ns'] as const)
    for (const [entity, column] of values[quantity]) look(quantity, entity, column);
  return rows.sort((a, b) => Math.abs(b.value_ns - b.median_ns) - Math.abs(a.value_ns - a.median_ns));
}
