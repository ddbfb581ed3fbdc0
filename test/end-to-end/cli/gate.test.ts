/** quartz compare --fail-if and the forms of a report for other tools, as a user calls them. */
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { directory, program, quartz } from '../../support/run-quartz.js';

const home = directory();
const one = join(home, 'one.quartz');
const runs = join(home, 'runs');
const few = join(home, 'few');

test.before(async (t) => {
  const { status, stderr } = await quartz(['record', '-o', one, '--', program('serial_then_parallel')], {
    env: { QUARTZ_PROCESSORS: '4' },
  });
  t.is(status, 0, stderr);
  for (const [folder, count] of [
    [runs, 3],
    [few, 1],
  ] as const) {
    mkdirSync(folder);
    for (let k = 0; k < count; k++) copyFileSync(one, join(folder, `${k}.quartz`));
  }
  mkdirSync(join(home, 'empty'));
});

for (const [rules, before, status, out, err] of [
  [
    'npt(a) > 5 %; elapsed > 3 %',
    runs,
    0,
    /^ok {3}npt\(a\) > 5 %: .*: not more than before\nok {3}elapsed > 3 %/,
    /^$/,
  ],
  ['npt(a) > 5 %', one, 2, /^$/, /how much runs of one version differ is not known from 1 and 3; record 3 or more/],
  ['npt(a) > 5 %', few, 2, /^$/, /is not known from 1 and 3/],
  ['calls(a) > 0', one, 0, /^ok {3}calls\(a\) > 0: /, /^$/],
  ['npt(nobody) > 5 %', runs, 125, /^$/, /nothing in this profile is called "nobody"/],
  ['npt(a) >> 5', runs, 2, /^$/, /--fail-if "npt\(a\) >> 5": it is no rule/],
  [';', runs, 2, /^$/, /--fail-if has no rule/],
  ['elapsed > 1 %', join(home, 'empty'), 125, /^$/, /there is no \*\.quartz file in .*empty; record some there/],
  ['elapsed > 1 %', join(home, 'gone'), 125, /^$/, /gone does not exist/],
] as const)
  test(`--fail-if ${rules} of ${before.slice(home.length + 1)}`, async (t) => {
    const ended = await quartz(['compare', before, runs, '--fail-if', rules]);
    t.is(ended.status, status, ended.stderr);
    t.regex(ended.stdout, out);
    t.regex(ended.stderr, err);
  });

test('a rule that fails ends with 1', async (t) => {
  const other = join(home, 'other');
  mkdirSync(other);
  const { status, stderr } = await quartz(['record', '-o', join(other, '1.quartz'), '--', 'sleep', '0.05']);
  t.is(status, 0, stderr);
  for (const k of [2, 3]) copyFileSync(join(other, '1.quartz'), join(other, `${k}.quartz`));
  // Calls are counted, so that no number of snapshots decides.
  const ended = await quartz(['compare', other, runs, '--fail-if', 'calls(a) > 0', '--json']);
  t.is(ended.status, 1, ended.stderr);
  t.like(JSON.parse(ended.stdout), { schema: 'quartz-gate-1', failed: 1 });
});

for (const [args, out] of [
  [['--markdown'], /^## What limits this program\n/],
  [['--notes'], /: note: /],
  [['--sarif'], /"version": "2\.1\.0"/],
  [['--json', '--brief'], /^\{"schema":"quartz-brief-1"/],
] as const)
  test(`quartz report ${args.join(' ')}`, async (t) => {
    const { status, stdout, stderr } = await quartz(['report', one, ...args]);
    t.deepEqual([status, stderr], [0, '']);
    t.regex(stdout, out);
  });

for (const [args, message] of [
  [['--json', '--sarif'], /--json and --sarif exclude each other; choose one/],
  [['--brief'], /--brief is a form of --json; add --json/],
  [['--notes', '--focus', 'a'], /--focus does not go with --notes/],
] as const)
  test(`quartz report ${args.join(' ')}: wrong`, async (t) => {
    const { status, stdout, stderr } = await quartz(['report', one, ...args]);
    t.deepEqual([status, stdout], [2, '']);
    t.regex(stderr, message);
  });
