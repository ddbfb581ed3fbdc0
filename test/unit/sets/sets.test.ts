/** Sets of profiles: each rank has the sums of its own report; views have known results, and SQL gives the same. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { buildModel, type RawProfile } from '../../../ts-frontend/src/model/index.js';
import type { SetView } from '../../../ts-frontend/src/render/format/options.js';
import { setPage } from '../../../ts-frontend/src/html/set/page.js';
import { heatRows } from '../../../ts-frontend/src/sets/heat.js';
import { askDuckDb, duckDbFolder } from '../../../ts-frontend/src/sets/duckdb.js';
import { limitsOf } from '../../../ts-frontend/src/sets/limits/load.js';
import { loadSet, namesOfSets } from '../../../ts-frontend/src/sets/load.js';
import { EmptySet, merge } from '../../../ts-frontend/src/sets/merge.js';
import { readRows } from '../../../ts-frontend/src/sets/parquet.js';
import { readHead, type SetHead } from '../../../ts-frontend/src/sets/set-file.js';
import { schemaSql } from '../../../ts-frontend/src/sets/sql.js';
import { tableNames, type Value } from '../../../ts-frontend/src/sets/tables.js';
import { setView, wholeJob, type LoadedSet } from '../../../ts-frontend/src/sets/views.js';
import { root } from '../../support/root.js';
import { needing } from '../../support/capabilities.js';
import { lockRing, longBesideParallel, serialThenParallel } from '../../support/example-profiles.js';
import { run, wait } from '../../support/profile-builder.js';
import { allreduce, jobOf, ms, rankProfile, sourcesOf } from '../../support/rank-profiles.js';
import { temporaryDirectory } from '../../support/temporary.js';

const about = { quartz: 'test', parameters: {} };
async function mergeAll(profiles: readonly RawProfile[], parameters: Record<string, string> = {}): Promise<string> {
  const folder = join(temporaryDirectory(), 'run.quartzset');
  await merge(sourcesOf(profiles), folder, { quartz: 'test', parameters });
  return folder;
}
const load = (folder: string, view: SetView): Promise<LoadedSet> => loadSet(folder, readHead(folder) as SetHead, view);
const rowsOf = async (view: SetView, folder: string): Promise<readonly Record<string, Value>[]> =>
  setView(view, [await load(folder, view)], () => 1).rows;
const name = /solve.c:40/;

test('each rank has what its own report says: NPT, self, processor time; facts add up to it', async (t) => {
  const described = lockRing(wait)
    .describe('pass', { file: 'pass.c', line: 3 })
    .describe('main', { file: 'pass.c', line: 9 })
    .call('main', 'pass', 5000);
  const hooked: RawProfile = described.build();
  hooked.head.hookLeastPs = hooked.head.hookMostPs = 8000;
  hooked.head.hookInsidePs = 4000;
  const profiles = [serialThenParallel().build(), longBesideParallel().build(), hooked];
  const folder = await mergeAll(profiles);
  const [costs, entities, facts] = [
    await readRows(folder, 'costs'),
    await readRows(folder, 'entities'),
    await readRows(folder, 'facts'),
  ];
  for (const [member, raw] of profiles.entries()) {
    const model = buildModel(raw);
    t.true(member < 2 || model.compensation.applied);
    const ofRank = costs.filter((row) => row.member === member);
    const near = (a: number, b: number, what: string): void => {
      t.true(Math.abs(a - b) < 1, `${what}: ${a} and ${b}`);
    };
    for (const entity of model.entities) {
      if (entity.group !== 0) continue;
      const { kind, file, line } = entity;
      const id = entities.find(
        (one) => one.kind === kind && one.name === entity.name && one.file === file && one.line === line,
      )?.entity;
      const row = ofRank.find((one) => one.entity === (entity.id === 0 ? 0 : id));
      near(row?.npt_ns ?? 0, entity.nptNs, `NPT of ${entity.name}`);
      near(row?.npt_self_ns ?? 0, entity.nptSelfNs, `self of ${entity.name}`);
      near(row?.processor_ns ?? 0, entity.processorTimeNs, `processor time of ${entity.name}`);
    }
    const own = facts.filter((fact) => fact.member === member);
    near(
      own.reduce((sum, fact) => sum + fact.npt_ns, 0),
      model.root.nptNs,
      'NPT of facts',
    );
    near(
      own.reduce((sum, fact) => sum + fact.idle_ns, 0),
      model.root.idlenessNs,
      'idleness of facts',
    );
  }
});

test('what ranks have in common is in a set once', async (t) => {
  const one = await mergeAll(jobOf([100]));
  const many = await mergeAll(jobOf([100, 100, 100, 100]));
  t.deepEqual(await readRows(many, 'contexts'), await readRows(one, 'contexts'));
  t.deepEqual(await readRows(many, 'entities'), await readRows(one, 'entities'));
  t.is((await readRows(many, 'facts')).length, 4 * (await readRows(one, 'facts')).length);
});

test('imbalance: mean, least, most and who has it; ranks that lack a procedure count as 0', async (t) => {
  const rows = await rowsOf('imbalance', await mergeAll(jobOf([100, 300, 200, 200])));
  t.like(
    rows.find((row) => row['name'] === 'solve'),
    {
      mean_ns: 200 * ms,
      min_ns: 100 * ms,
      max_ns: 300 * ms,
      max_rank: 1,
      imbalance_ns: 100 * ms,
      imbalance_share: 1 / 3,
      core_share: 800 / 1240,
      ranks: 4,
    },
  );
  const extra = rankProfile({
    solveMs: 100,
    waitMs: 0,
    change: (p) => p.stretch(40 * ms, [run('main', ['main', 'log'])]),
  });
  const some = await rowsOf('imbalance', await mergeAll([...jobOf([100, 100, 100]), extra]));
  t.like(
    some.find((row) => row['name'] === 'log'),
    { mean_ns: 10 * ms, min_ns: 0, max_ns: 40 * ms, max_rank: 3, ranks: 1 },
  );
});

test('mpi: who waits least at a call is late, the others wait by so much longer; NPT has no part in it', async (t) => {
  const rows = await rowsOf('mpi', await mergeAll(jobOf([100, 300, 200, 200])));
  t.is(rows.length, 1);
  t.regex(String(rows[0]!['name']), name);
  t.like(rows[0], { mean_ns: 100 * ms, max_ns: 200 * ms, max_rank: 0, min_ns: 0, min_rank: 1, longer_ns: 100 * ms });
});

test('outliers: ranks far from the others, in all or in one procedure; none where all are alike', async (t) => {
  const solve = [100, 101, 102, 100, 99, 101, 100, 180, 100, 99];
  const rows = await rowsOf('outliers', await mergeAll(solve.map((own) => rankProfile({ solveMs: own, waitMs: 0 }))));
  t.true(rows.length > 0);
  t.deepEqual([...new Set(rows.map((row) => row['rank']))], [7]);
  t.like(
    rows.find((row) => row['name'] === 'solve' && row['quantity'] === 'npt_ns'),
    { value_ns: 180 * ms, median_ns: 100 * ms },
  );
  t.deepEqual(await rowsOf('outliers', await mergeAll(jobOf(new Array<number>(10).fill(100)))), []);
  t.deepEqual(await rowsOf('outliers', await mergeAll(jobOf([100, 100, 100, 400]))), [], 'four are too few');
});

test('scaling: what did not shrink; rows add up to the core time of the job', async (t) => {
  // on twice the cores each rank solves half; set-up (10 ms for each rank) and waiting remain
  const small = await load(await mergeAll(jobOf([200, 200]), { size: '10' }), 'scaling');
  const large = await load(await mergeAll(jobOf([100, 100, 100, 140]), { size: '20' }), 'scaling');
  const sets = [
    { ...large, name: 'large' },
    { ...small, name: 'small' },
  ];
  const { rows } = setView('scaling', sets, () => 1);
  const of = (what: string): Record<string, Value> =>
    rows.find((row) => row['name'] === what && row['run'] === 'large') ?? {};
  t.like(of('setup'), { cores: 4, core_ns: 40 * ms, expected_ns: 20 * ms, growth: 2, excess_ns: 20 * ms });
  t.like(of('solve'), { core_ns: 440 * ms, expected_ns: 400 * ms });
  t.like(of(allreduce.replace(/^.*:(?=MPI)/, '')), { core_ns: 120 * ms, expected_ns: 0, growth: null });
  t.is(of(wholeJob)['core_ns'], 600 * ms);
  const parts = rows.filter((row) => row['run'] === 'large' && row['kind'] !== 'job');
  t.is(
    parts.reduce((sum, row) => sum + Number(row['core_ns']), 0),
    600 * ms,
  );
  const weak = setView(
    'scaling',
    sets,
    (base, other) => Number(other.head.parameters['size']) / Number(base.head.parameters['size']),
  );
  t.like(
    weak.rows.find((row) => row['name'] === 'setup' && row['run'] === 'large'),
    { growth: 1, excess_ns: 0 },
  );
});

test('files that cannot be read are named, the rest is used; where none can, nothing is left behind', async (t) => {
  const folder = temporaryDirectory();
  const bad = { file: 'x.quartz', open: () => ({ why: 'it is not a Quartz profile', fault: 'foreign' as const }) };
  const target = join(folder, 'run.quartzset');
  const unfinished = rankProfile({ solveMs: 10, waitMs: 0 });
  unfinished.head.status = 'abandoned';
  const { head } = await merge([bad, ...sourcesOf([unfinished])], target, about);
  t.deepEqual(head.leftOut, [{ file: 'x.quartz', why: 'it is not a Quartz profile', fault: 'foreign' }]);
  t.deepEqual(head.unfinished, ['solver.0.quartz']);
  t.is(head.members, 1);
  await t.throwsAsync(merge([bad], join(folder, 'none.quartzset'), about), { instanceOf: EmptySet });
  t.deepEqual(readdirSync(folder), ['run.quartzset']);
});

test('a set of sets is the set of their profiles, row by row', async (t) => {
  const profiles = jobOf([10, 80, 20, 20, 30, 20, 20, 500], { change: (all) => all.call('main', 'solve', 3) });
  profiles.push(serialThenParallel().build());
  const folder = temporaryDirectory();
  const made = async (of: Parameters<typeof merge>[0], as: string, parameters = {}): Promise<string> => {
    const target = join(folder, `${as}.quartzset`);
    await merge(of, target, { quartz: 'test', parameters });
    return target;
  };
  const sources = sourcesOf(profiles).map((source, rank) => ({
    ...source,
    findings: () => [{ kind: 'lock', cost_ns: rank, saving_ns: 1, text: `of ${rank}`, remedy: '' }],
  }));
  const bad = { file: 'x.quartz', open: () => ({ why: 'it is not a Quartz profile', fault: 'foreign' as const }) };
  const whole = await made([...sources, bad], 'whole', { size: '4' });
  const nodes = [
    { folder: await made(sources.slice(0, 3), 'node0', { size: '4' }) },
    { folder: await made([...sources.slice(3, 8), bad], 'node1') },
  ];
  const again = await made([...nodes, sources[8]!], 'again');
  for (const table of tableNames) t.deepEqual(await readRows(again, table), await readRows(whole, table), table);
  const [head, headOfWhole] = [readHead(again), readHead(whole)] as SetHead[];
  t.deepEqual({ ...head!, parts: 1 }, headOfWhole);
  t.is(head!.parts, 3, 'two sets, and profiles');
});

const duckDb = join(duckDbFolder(root), 'node_modules/@duckdb/node-api/package.json');
test('ranks are known by the profile, else by names; a process in its place is none', async (t) => {
  const folder = join(temporaryDirectory(), 'run.quartzset');
  const open = (): RawProfile => rankProfile({ solveMs: 10, waitMs: 0 });
  const eighth = open();
  eighth.head.rank = 1 + 8;
  const files = ['a.30.quartz', 'a.4711.quartz', 'a.quartz', 'dir.5/a-6.quartz'];
  await merge([...files.map((file) => ({ file, open })), { file: 'a.31.quartz', open: () => eighth }], folder, about);
  const rows = await readRows(folder, 'ranks');
  t.deepEqual(
    rows.map((row) => row.rank),
    [30, null, null, null, 8],
  );
  t.deepEqual(
    (await rowsOf('ranks', folder)).map((row) => row['rank']),
    [30, 1, 2, 3, 8],
  );
});

test('the page: how far each rank is from the median; findings of ranks; names do nothing', async (t) => {
  const profiles = jobOf([100, 102, 101, 300, 100]).map((raw) => {
    raw.entities.find((entity) => entity.name === 'solve')!.name = '<b>solve</b>';
    return raw;
  });
  const folder = join(temporaryDirectory(), 'run.quartzset');
  const finding = { kind: 'serial', cost_ns: 1, saving_ns: 1, text: 'It <waits>.', remedy: 'Divide.' };
  await merge(
    sourcesOf(profiles).map((source, k) => ({ ...source, findings: () => (k === 3 ? [finding] : []) })),
    folder,
    about,
  );
  const set = await loadSet(folder, readHead(folder) as SetHead, 'page');
  const heat = await heatRows(folder, set);
  const solve = heat.find((row) => row.name === '<b>solve</b>');
  t.deepEqual([...solve!.values], [100 * ms, 102 * ms, 101 * ms, 300 * ms, 100 * ms]);
  t.is(solve!.median, 101 * ms);
  t.is(heat.find((row) => row.quantity === 'alone_ns')!.values[3], 0);
  const page = setPage(set, heat, await limitsOf(folder, set), '0', 'p{}');
  t.false(page.includes('<b>'));
  t.false(page.includes('<script'));
  const cells = [...page.matchAll(/<rect class="c(\d)"[^>]*><title>rank (\d) on node0, &lt;b&gt;solve[^<]*NPT/g)];
  t.deepEqual(
    cells.map(([, step, rank]) => `${rank}:${step}`),
    ['0:2', '1:2', '2:2', '3:4', '4:2'],
  );
  t.regex(page, /<summary>Rank 3 on node0[^]*It &lt;waits&gt;\./);
});

needing(`file:${duckDb}`)('SQL: its views are ours, row by row', async (t) => {
  t.true(existsSync(duckDb));
  const solve = [100, 101, 102, 100, 99, 101, 100, 180, 100, 99];
  const folders = [
    await mergeAll(jobOf(solve), { size: '3' }),
    await mergeAll([...jobOf([50, 60, 50]), rankProfile({ solveMs: 20, waitMs: 0 })], { size: '1' }),
  ];
  const work = [3, 1];
  const schema = schemaSql(folders.map((folder, k) => ({ name: `run${k}`, folder, parameters: {}, work: work[k]! })));
  const key = (row: Record<string, Value>): string =>
    ['run', 'rank', 'quantity', 'kind', 'name', 'file'].map((one) => row[one] ?? '').join('|');
  for (const view of ['ranks', 'imbalance', 'outliers', 'mpi', 'scaling'] as const) {
    const sets = await Promise.all(
      folders.map(async (folder, k) => ({ ...(await load(folder, view)), name: `run${k}` })),
    );
    const ours = setView(view, sets, () => 3);
    const names = ours.columns.map((column) => column.name);
    const sql = await askDuckDb(root, schema, `SELECT ${names.join(', ')} FROM ${view}`);
    const theirs = new Map(sql!.rows.map((row) => [key(row), row]));
    t.is(theirs.size, ours.rows.length, view);
    t.true(ours.rows.length > 0, view);
    for (const row of ours.rows)
      for (const column of names) {
        const [a, b] = [row[column] ?? null, theirs.get(key(row))?.[column] ?? null];
        const same =
          typeof a === 'number' && typeof b === 'number' ? Math.abs(a - b) <= 1e-6 * Math.abs(a) + 1e-6 : a === b;
        t.true(same, `${view}: ${column} of ${key(row)}: ${a} and ${b}`);
      }
  }
  const sum = await askDuckDb(root, schema, "SELECT sum(npt_ns) AS npt_ns FROM facts WHERE run = 'run0'");
  t.is(sum!.rows[0]!['npt_ns'], (solve.reduce((a, b) => a + b, 0) + 100) * ms);
});

test('sets of the same name have so much of their paths as distinguishes them', (t) => {
  t.deepEqual(namesOfSets(['/a/p2.quartzset', '/a/p4.quartzset/']), ['p2', 'p4']);
  t.deepEqual(namesOfSets(['/a/p2/run.quartzset', '/a/p4/run.quartzset']), ['p2/run', 'p4/run']);
  t.deepEqual(namesOfSets(['/run.quartzset', '/run.quartzset']), ['run', 'run']);
});
