/** quartz query: shows predefined views of sets of profiles, or the result of SQL over them. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Arguments, Command } from '../cli/command.js';
import { exitCodes, Failure, usage } from '../cli/failure.js';
import { root } from '../cli/files.js';
import { print } from '../cli/show/output.js';
import {
  chosen,
  firstLimits,
  load,
  newestSet,
  noteParts,
  showSets,
  viewsOfWaits,
  type Chosen,
} from '../cli/show/show-set.js';
import { display } from '../cli/terminal.js';
import { version } from '../cli/version.js';
import type { SetView } from '../render/format/options.js';
import type { SetHead } from '../sets/set-file.js';
import type { ViewTable } from '../sets/view-table.js';

/**
 * Splits the words: sets first, then at most one SQL statement, which is a word that names no file and looks like SQL.
 */
function wordsOf(words: readonly string[]): { sets: string[]; sql: string | undefined } {
  const isSql = (word: string): boolean => /\s/.test(word) && !statSync(word, { throwIfNoEntry: false });
  const sql = words.filter(isSql);
  if (sql.length > 1) throw usage('there are two statements of SQL', 'give only one');
  const sets = words.filter((word) => !isSql(word));
  return { sets: sets.length > 0 ? sets : [newestSet()], sql: sql[0] };
}

/** The value of the parameter that the work of the job is proportional to. */
function workOf({ folder, head }: Chosen, name: string | undefined): number {
  if (name === undefined) return 1;
  const text = head.parameters[name];
  if (text === undefined)
    throw usage(`${folder} has no parameter "${name}"`, `merge it with --parameter ${name}=VALUE`);
  const value = Number(text);
  if (!(value > 0))
    throw usage(`${name} of ${folder} is ${text}, which is not a number above 0`, 'name another parameter');
  return value;
}

async function askSql(sets: readonly Chosen[], sql: string, work: string | undefined): Promise<ViewTable> {
  const { schemaSql } = await import('../sets/sql.js');
  const { askDuckDb, duckDbFolder } = await import('../sets/duckdb.js');
  const { namesOfSets } = await import('../sets/load.js');
  const names = namesOfSets(sets.map(({ folder }) => folder));
  const schema = schemaSql(
    sets.map((set, k) => ({
      name: names[k] ?? '',
      folder: resolve(set.folder),
      parameters: set.head.parameters,
      work: workOf(set, work),
    })),
  );
  let answer: ViewTable | null;
  try {
    answer = await askDuckDb(root, schema, sql);
  } catch (error) {
    throw new Failure(`DuckDB: ${error instanceof Error ? error.message : String(error)}`, '');
  }
  if (answer === null)
    throw new Failure(
      'SQL needs DuckDB, which is not installed (70 MB)',
      `install it: npm install --prefix ${duckDbFolder(root)}; --view works without it`,
    );
  return answer;
}

async function askView(sets: readonly Chosen[], view: SetView, work: string | undefined): Promise<ViewTable> {
  const { setView } = await import('../sets/views.js');
  const { namesOfSets } = await import('../sets/load.js');
  if (viewsOfWaits.has(view)) noteParts(sets);
  const works = new Map(sets.map((set) => [set.head, workOf(set, work)]));
  const loaded = [];
  const names = namesOfSets(sets.map(({ folder }) => folder));
  for (const [k, set] of sets.entries()) loaded.push({ ...(await load(set, view)), name: names[k] ?? '' });
  const of = ({ head }: { head: SetHead }): number => works.get(head) ?? 1;
  return setView(view, loaded, (base, other) => of(other) / of(base));
}

async function show(args: Arguments, table: ViewTable, view: string): Promise<void> {
  const { viewCsv, viewJson, viewText } = await import('../sets/view-text.js');
  await print(
    args.has('json')
      ? viewJson(table, view, version())
      : args.has('csv')
        ? viewCsv(table)
        : viewText(table, display(args)),
  );
}

/** Views whose text begins with what limits the job most. */
const inWords: ReadonlySet<SetView> = new Set(['imbalance', 'mpi', 'late']);

export const command: Command = {
  name: 'query',
  usage: "[SET...] [--view VIEW | 'SQL']",
  about:
    'Queries sets of profiles (quartz merge) by a predefined view, or by SQL over their tables and views, which ' +
    'needs DuckDB. docs/reference/sets.md describes tables, views and the meaning of each number.\n' +
    'Without SET: the newest *.quartzset in this directory.',
  examples: [
    [
      'quartz query',
      'of the newest set: what limits the job, who is late, in what ranks differ, and which are far from the others',
    ],
    ['quartz query --view imbalance', 'what some ranks spend more time on than others'],
    [
      'quartz query run.quartzset --view mpi',
      'which ranks come last to which call, and how long the others wait there',
    ],
    ['quartz query run.quartzset --view late', 'which rank came late to which call, and how long the others waited'],
    ['quartz query p16.quartzset p64.quartzset --view scaling', 'what did not become faster with more cores'],
    ["quartz query 'SELECT host, avg(useful_ns) FROM ranks GROUP BY host'", 'any other question'],
  ],
  options: ['set-view', 'work', 'csv', 'json', 'top', 'width', 'ascii'],
  most: Infinity,
  run: async (args) => {
    const view = args.text('set-view') as SetView | undefined;
    const { sets: names, sql } = wordsOf(args.words);
    const asked = Number(view !== undefined) + Number(sql !== undefined);
    if (asked === 2 || (asked === 0 && args.has('csv')))
      throw usage(
        asked === 0 ? 'neither a view nor SQL is given' : 'a view and SQL exclude each other',
        "write --view and one of its names, or a statement: quartz query run.quartzset 'SELECT ...'",
      );
    if (view === 'scaling' && names.length < 2)
      throw usage(
        'scaling compares runs: it needs two sets or more',
        'name sets of one program on different numbers of cores: ' +
          'quartz query p16.quartzset p64.quartzset --view scaling',
      );
    const sets = names.map(chosen);
    const work = args.text('work');
    if (asked === 0) return showSets(args, sets);
    if (view !== undefined && inWords.has(view) && !args.has('json') && !args.has('csv'))
      for (const set of sets) await print(`${await firstLimits(set, display(args))}\n`);
    await show(
      args,
      sql === undefined ? await askView(sets, view ?? 'ranks', work) : await askSql(sets, sql, work),
      view ?? 'sql',
    );
    return exitCodes.ok;
  },
};
