/** quartz merge and query as a user runs them: their output, and one line for each error. */
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import type { MemberProfile } from '../../../ts-frontend/src/model/index.js';
import { openOutline } from '../../../ts-frontend/src/reader/outline.js';
import { openProfile } from '../../../ts-frontend/src/reader/profile.js';
import { merge } from '../../../ts-frontend/src/sets/merge.js';
import { readRows } from '../../../ts-frontend/src/sets/parquet.js';
import { tableNames } from '../../../ts-frontend/src/sets/tables.js';
import { jobSchemaErrors } from '../../support/json-schema.js';
import { needing } from '../../support/capabilities.js';
import { record } from '../../support/record.js';
import { command, directory, program, quartz, run } from '../../support/run-quartz.js';

const home = directory();
const profiles = join(home, 'out');
const wrong = directory();
test.before(async () => {
  mkdirSync(profiles);
  const { file } = await record(program('two_callers'), { processors: 1 });
  for (const rank of [0, 1, 2, 10]) copyFileSync(file, join(profiles, `prog.${rank}.quartz`));
  mkdirSync(join(wrong, 'empty'));
  await quartz(['merge', profiles, '-o', 'run.quartzset'], { cwd: wrong });
  mkdirSync(join(wrong, 'damaged.quartzset'));
  for (const name of readdirSync(join(wrong, 'run.quartzset')))
    copyFileSync(join(wrong, 'run.quartzset', name), join(wrong, 'damaged.quartzset', name));
  truncateSync(join(wrong, 'damaged.quartzset/ranks.parquet'), 100);
});

test('a directory becomes a set; views in text, CSV and JSON', async (t) => {
  const cwd = directory();
  const merged = await quartz(['merge', profiles], { cwd });
  t.is(merged.status, 0, merged.stderr);
  t.regex(
    merged.stdout,
    /^two_callers\.quartzset: 4 profiles of two_callers; \d+ facts at \d+ .*\n\nWhat limits the job\n\n {2}1\. /,
  );
  t.is(merged.stderr, '');
  const csv = await quartz(['query', '--view', 'ranks', '--csv'], { cwd });
  const [head, ...rows] = csv.stdout.trim().split('\r\n');
  t.regex(head!, /^run,rank,host,/);
  t.deepEqual(
    rows.map((row) => Number(row.split(',')[1])).sort((a, b) => a - b),
    [0, 1, 2, 10],
  );
  const text = await quartz(['query', 'two_callers.quartzset', '--view', 'imbalance', '--top', '1'], { cwd });
  t.regex(
    text.stdout,
    /^What limits the job\n(.*\n)+\n {2}run .* name\n {2}two_callers .*\n {2}\d+ more; --top 0 shows all\n$/,
  );
  const overview = await quartz(['query', '--top', '1'], { cwd });
  t.is(overview.status, 0, overview.stderr);
  t.deepEqual(
    [...overview.stdout.matchAll(/^\S.*\((\w+)\)$/gm)].map(([, view]) => view),
    ['mpi', 'late', 'imbalance', 'outliers'],
  );
  const json = JSON.parse((await quartz(['query', '--view', 'mpi', '--json'], { cwd })).stdout) as { rows: unknown[] };
  t.deepEqual(json.rows, []);
  const report = await quartz(['report', 'two_callers.quartzset', '--top', '1'], { cwd });
  t.is(report.status, 0, report.stderr);
  t.regex(report.stdout, /^two_callers: 4 ranks on 1 host, .*\n(.*\n)+\nWhat limits the job\n\n {2}1\. /);
  t.true(overview.stdout === report.stdout, 'the report of a set is the overview that a query without view gives');
  const typed = await quartz(['report', 'two_callers.quartzset', '--json'], { cwd });
  t.is(jobSchemaErrors(typed.stdout), '');
});

test('the part of a profile that a set reads says the same as all of it', async (t) => {
  const file = join(profiles, 'prog.0.quartz');
  const rowsOf = async (open: () => MemberProfile): Promise<unknown[]> => {
    const folder = join(directory(), 'one.quartzset');
    await merge([{ file, open }], folder, { quartz: 'test', parameters: {} });
    return Promise.all(tableNames.map((table) => readRows(folder, table)));
  };
  t.deepEqual(await rowsOf(() => openOutline(file)), await rowsOf(() => openProfile(file)));
});

test('damaged and foreign files are named and left out; without any other there is no set', async (t) => {
  const cwd = directory();
  const good = join(profiles, 'prog.0.quartz');
  copyFileSync(good, join(cwd, 'a.0.quartz'));
  copyFileSync(good, join(cwd, 'a.1.quartz'));
  truncateSync(join(cwd, 'a.1.quartz'), 5000);
  writeFileSync(join(cwd, 'a.2.quartz'), 'no profile');
  const merged = await quartz(['merge', '.', '-o', 'run.quartzset'], { cwd });
  t.is(merged.status, 0, merged.stderr);
  t.regex(merged.stdout, /1 profile of/);
  const lines = merged.stderr.trim().split('\n');
  t.is(lines.length, 2, merged.stderr);
  for (const [k, line] of lines.entries())
    t.regex(line, new RegExp(`^quartz: left out: a\\.${k + 1}\\.quartz: .+; .+$`));
  const head = JSON.parse(readFileSync(join(cwd, 'run.quartzset/set.json'), 'utf8')) as { leftOut: unknown[] };
  t.is(head.leftOut.length, 2);
  const none = await quartz(['merge', 'a.1.quartz', 'a.2.quartz', '-o', 'none.quartzset'], { cwd });
  t.is(none.status, 125);
  t.regex(none.stderr, /^quartz: no profile can be merged: a\.1\.quartz: .*, and no other of 2 files either; .*\n$/);
  t.false(existsSync(join(cwd, 'none.quartzset')));
});

test('sets become a greater set; of a directory without profiles all that are not damaged', async (t) => {
  const cwd = directory();
  for (const node of ['node0', 'node1'])
    await quartz(['merge', profiles, '-o', `${node}.quartzset`, '--parameter', `size=${node}`, '--quiet'], { cwd });
  const apart = await quartz(['merge', '.', '-o', 'run.quartzset'], { cwd });
  t.is(apart.status, 125);
  t.regex(apart.stderr, /^quartz: sets of different runs: size is node0 and node1, .* --parameter size=VALUE\n$/);
  cpSync(join(wrong, 'damaged.quartzset'), join(cwd, 'node2.quartzset'), { recursive: true });
  const merged = await quartz(['merge', '.', '-o', 'run.quartzset', '--parameter', 'size=8'], { cwd });
  t.is(merged.status, 0, merged.stderr);
  t.regex(merged.stdout, /^run\.quartzset: 8 profiles of two_callers; /);
  t.regex(merged.stderr, /^quartz: left out: node2\.quartzset: is damaged: .*; merge its profiles again\n$/);
  const page = await quartz(['html', 'run.quartzset', '-o', 'run.html'], { cwd });
  t.is(page.status, 0, page.stderr);
});

for (const [what, words, status, says] of [
  ['nothing', ['merge'], 2, /nothing to merge; write: quartz merge DIR/],
  ['an empty directory', ['merge', 'empty'], 125, /no \*\.quartz file in empty, and no \*\.quartzset; record/],
  ['what is not there', ['merge', 'gone'], 125, /gone does not exist; name profiles/],
  [
    'a damaged set alone',
    ['merge', 'damaged.quartzset'],
    125,
    /can be merged: damaged\.quartzset: is damaged: a table/,
  ],
  ['an existing set', ['merge', profiles, '-o', 'run.quartzset'], 125, /run\.quartzset exists already; name another/],
  [
    'a place that is not there',
    ['merge', profiles, '-o', 'gone/a.quartzset'],
    125,
    /cannot be written: no such file or directory;/,
  ],
  ['a wrong parameter', ['merge', profiles, '--parameter', 'size'], 2, /--parameter needs NAME=VALUE, not size/],
  ['nothing to ask', ['query', 'run.quartzset', '--csv'], 2, /neither a view nor SQL is given; write --view/],
  ['an option of profiles', ['report', 'run.quartzset', '--focus', 'main'], 2, /--focus is for a profile, and run/],
  ['two sets as JSON', ['query', 'run.quartzset', 'run.quartzset', '--json'], 2, /--json needs one set, or a view/],
  ['both', ['query', 'run.quartzset', '--view', 'mpi', 'SELECT 1'], 2, /a view and SQL exclude each other/],
  ['no set', ['query', 'empty', '--view', 'mpi'], 125, /empty is not a set of profiles: it has no set\.json/],
  ['an absent set', ['query', 'gone', '--view', 'mpi'], 125, /gone does not exist; name what quartz merge made/],
  ['one set alone', ['query', 'run.quartzset', '--view', 'scaling'], 2, /scaling .* needs two sets or more; name sets/],
  [
    'an absent parameter',
    ['query', 'run.quartzset', 'run.quartzset', '--view', 'scaling', '--work', 'n'],
    2,
    /has no parameter "n"/,
  ],
  ['a wrong view', ['query', 'run.quartzset', '--view', 'rank'], 2, /--view needs ranks, .* did you mean "ranks"\?/],
  ['a damaged set', ['query', 'damaged.quartzset', '--view', 'ranks'], 125, /damaged\.quartzset is damaged: .*merge/],
] as const)
  test(`one line says what is wrong: ${what}`, async (t) => {
    const said = await quartz(words, { cwd: wrong });
    t.is(said.status, status, said.stderr);
    t.regex(said.stderr, says);
    t.regex(said.stderr, /^quartz: [^\n]+\n$/);
    t.is(said.stdout, '');
  });
test.after('what failed has left nothing', (t) => {
  t.deepEqual(readdirSync(wrong).sort(), ['damaged.quartzset', 'empty', 'run.quartzset']);
});

needing('mounts')('a disk without room: one line, and nothing is left', async (t) => {
  const script =
    'mount -t tmpfs -o size=20k none "$DISK" && cd "$DISK" && "$QUARTZ" merge "$FROM" -o a.quartzset; echo $? $(ls)';
  const said = await run('unshare', [...(process.getuid?.() === 0 ? [] : ['-r']), '-m', 'sh', '-c', script], {
    env: { DISK: directory(), QUARTZ: command, FROM: profiles },
  });
  t.is(said.stdout, '125\n');
  t.is(said.stderr, 'quartz: a.quartzset cannot be written: no space left on device; name another set with -o\n');
});
