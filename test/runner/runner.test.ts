/** npm test itself: what is counted, what is reported, and that one half that fails keeps nothing of the other. */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { directory, run, type Said } from '../support/run-quartz.js';
import { root as here } from '../support/root.js';
import { afterAnother, anyOf } from './again.js';
import { junitResults } from './junit.js';
import type { Result } from './result.js';
import { readDeclared, tally } from './tally.js';
import { TapReader } from './tap.js';

function read(tap: string): Result[] {
  const results: Result[] = [];
  const reader = new TapReader((result) => {
    results.push(result);
  });
  for (const line of tap.split('\n')) reader.line(line);
  reader.end();
  return results;
}

test('of ava: passed, failed with all that was said, skipped with the reason', (t) => {
  const results = read(
    [
      'TAP version 13',
      'ok 1 - a › marked # SKIP',
      'not ok 2 - a › later # TODO',
      'ok 3 - a › good # 4',
      '#   a log',
      'ok 4 - a › cannot',
      '#   first',
      '#   skipped: git is not installed',
      'not ok 5 - a › bad',
      '#   skipped: no excuse',
      '  ---',
      '    message: odd',
      '  ...',
      'ok 6 - b › last',
      '',
      '1..4',
      '# tests 4',
      '# pass 3',
    ].join('\n'),
  );
  t.deepEqual(
    results.map(({ name, outcome }) => `${name}: ${outcome}`),
    [
      'a › marked: skipped',
      'a › later: skipped',
      'a › good # 4: passed',
      'a › cannot: skipped',
      'a › bad: failed',
      'b › last: passed',
    ],
  );
  t.is(results[3]!.detail, 'git is not installed');
  t.regex(results[4]!.detail, /message: odd/);
});

test('of CTest: a program that is missing has failed, not been skipped', (t) => {
  const results = junitResults(`<testsuite name="x" tests="4">
    <testcase name="good" classname="good" time="0.1" status="run"><system-out>fine
skipped: nothing</system-out></testcase>
    <testcase name="bad" classname="bad" time="1" status="fail">
<failure message=""/><properties/><system-out>x &lt; 3 &amp;&amp; more</system-out></testcase>
    <testcase name="cannot" status="notrun">
<skipped message="SKIP_RETURN_CODE=77"/><system-out>skipped: ptrace is refused</system-out></testcase>
    <testcase name="silent" status="notrun">
<skipped message="SKIP_RETURN_CODE=77"/></testcase>
    <testcase name="gone" status="notrun">
<skipped message="Unable to find executable"/></testcase></testsuite>`);
  t.deepEqual(results, [
    { name: 'good', outcome: 'passed', detail: 'fine\nskipped: nothing' },
    { name: 'bad', outcome: 'failed', detail: 'x < 3 && more' },
    { name: 'cannot', outcome: 'skipped', detail: 'ptrace is refused' },
    { name: 'silent', outcome: 'skipped', detail: 'it gave no reason' },
    { name: 'gone', outcome: 'failed', detail: 'Unable to find executable' },
  ]);
});

const results: Result[] = [
  { name: 'one', outcome: 'passed', detail: '' },
  { name: 'two', outcome: 'skipped', detail: 'no clang' },
  { name: 'three: a', outcome: 'skipped', detail: 'no room' },
];

test('the last line counts, alone; skips are listed with their reasons', (t) => {
  const { text, failed } = tally(results);
  t.is(text, '\nSkipped\n  two: no clang\n  three: a: no room\n\n1 passed, 0 failed, 2 skipped\n');
  t.false(failed);
  t.true(tally([...results, { name: 'four', outcome: 'failed', detail: 'x' }]).failed);
  t.true(tally([]).failed, 'nothing ran');
  t.true(tally(results.slice(1)).failed, 'nothing but skips');
});

test('where nothing may be skipped, each skip that is not declared has failed', (t) => {
  const { text, failed } = tally(results, readDeclared('# why\n\nthree*: no *\ntwo: no room\n'));
  t.true(failed);
  t.regex(text, /\n\n1 passed, 1 failed, 1 skipped\n$/);
  t.regex(text, /though nothing may be here\n {2}two: no clang\n/);
  t.false(
    tally(results, readDeclared('*: no room\ntw*o: no *lang')).failed,
    'by reason alone; * stands for nothing, too',
  );
  t.true(tally(results, readDeclared('*: no r.om\ntwo: *')).failed, 'nothing else stands for something');
  t.throws(() => readDeclared('no reason'), { message: /NAME: REASON/ });
});

test('run again: what is seen to pass has passed; what the other run does not come to has failed', (t) => {
  const of = (outcome: Result['outcome'], ...names: string[]): Result[] =>
    names.map((name) => ({ name, outcome, detail: '' }));
  const crash = (name: string): Result => ({ name, outcome: 'failed', detail: '', ofRunner: true });
  const after = (before: Result[], now: Result[]): string => {
    const { results, differ } = afterAnother(before, now);
    const failed = results.filter(({ outcome }) => outcome === 'failed').map(({ name }) => name);
    return `${results.length} failed ${failed.join()} differ ${differ.join()}`;
  };
  t.is(after([...of('passed', 'a'), ...of('failed', 'b', 'c')], of('failed', 'c')), '3 failed c,b differ ');
  t.is(after([...of('passed', 'a'), ...of('failed', 'b')], of('skipped', 'b')), '2 failed  differ b');
  t.is(
    after([...of('failed', 'b'), ...of('passed', 'a')], [...of('passed', 'b'), ...of('failed', 'a')]),
    '2 failed  differ b,a',
  );
  t.is(after([...of('passed', 'a'), crash('x')], of('passed', 'a', 'b')), '2 failed  differ x');
  t.is(after(of('failed', 'b'), [crash('x')]), '1 failed b differ x');
  t.is(after([...of('passed', 'a'), crash('x')], [crash('y')]), '2 failed y differ ');
});

test('names as an expression of CTest', (t) => {
  t.is(anyOf(['core_a', 'sync.b^+']), '^(core_a|sync[.]b\\^[+])$');
});

/** A small project with the runner in it: one test of ava that fails, and what CTest finds. */
function project(ctest: string): string {
  const root = directory();
  cpSync(join(import.meta.dirname), join(root, 'dist/test/runner'), {
    recursive: true,
    filter: (file) => !file.includes('.test.'),
  });
  symlinkSync(join(here, 'node_modules'), join(root, 'node_modules'));
  writeFileSync(
    join(root, 'package.json'),
    '{ "type": "module", "ava": { "files": ["dist/test/*.test.js"], "workerThreads": false } }',
  );
  mkdirSync(join(root, 'test'));
  writeFileSync(join(root, 'test/some.test.ts'), '');
  writeFileSync(
    join(root, 'dist/test/some.test.js'),
    "import test from 'ava';\ntest('right', (t) => t.pass());\ntest('wrong', (t) => t.is(1, 2));\n",
  );
  writeFileSync(
    join(root, 'CMakeLists.txt'),
    `cmake_minimum_required(VERSION 3.20)\nproject(small NONE)\nenable_testing()\n${ctest}`,
  );
  return root;
}
/** By the build tool that is here: the one of this build. */
const generator = /^CMAKE_GENERATOR:INTERNAL=(.*)$/m.exec(
  readFileSync(join(here, 'build/CMakeCache.txt'), 'utf8'),
)![1]!;
const configure = (root: string): Promise<Said> =>
  run('cmake', ['-G', generator, '-S', root, '-B', join(root, 'build')]);
const npmTest = (root: string, ...args: string[]): Promise<Said> =>
  run(process.execPath, [join(root, 'dist/test/runner/main.js'), ...args], { cwd: root });

test('a failure in ava keeps nothing of CTest, and the other way round', async (t) => {
  const root = project(
    'add_test(NAME fine COMMAND true)\nadd_test(NAME cannot COMMAND sh -c "echo skipped: no room; exit 77")\n' +
      'set_tests_properties(cannot PROPERTIES SKIP_RETURN_CODE 77)\n',
  );
  t.is((await configure(root)).status, 0);
  const all = await npmTest(root);
  t.is(all.status, 1, all.stderr);
  t.regex(
    all.stdout,
    /FAIL some › wrong\n[^]*Difference[^]*\n {2}cannot: no room\n\nFailed\n {2}some › wrong\n\n2 passed, 1 failed, 1 skipped\n$/,
  );
  const chosen = await npmTest(root, '--match=right', 'dist/test/some.test.js');
  t.is(chosen.status, 0);
  t.regex(chosen.stdout, /^ok {3}some › right\n\n1 passed, 0 failed, 0 skipped\n$/);
});

test('CTest without a single test has failed', async (t) => {
  const root = project('');
  t.is((await configure(root)).status, 0);
  const { status, stdout } = await npmTest(root);
  t.is(status, 1);
  t.regex(stdout, /\n {2}ctest: it ended with status \d+\n\n1 passed, 2 failed, 0 skipped\n$/);
});

test('a file that ends by itself, and leaves a process, takes no other with it', async (t) => {
  const root = project('');
  writeFileSync(join(root, 'test/ending.test.ts'), '');
  writeFileSync(
    join(root, 'dist/test/ending.test.js'),
    "import test from 'ava';\nimport { spawn } from 'node:child_process';\nimport { writeFileSync } from 'node:fs';\n" +
      "test('ends', () => { writeFileSync('left', String(spawn('sleep', ['1000'], { stdio: 'inherit' }).pid)); " +
      "process.kill(process.ppid, 'SIGKILL'); return new Promise(() => {}); });\n",
  );
  const { stdout } = await npmTest(root, 'dist/test/ending.test.js', 'dist/test/some.test.js');
  t.regex(
    stdout,
    /FAIL ending: it was ended by SIGKILL\n[^]*ok {3}some › right\n[^]*\n1 passed, 2 failed, 0 skipped\n$/,
  );
  const left = Number(readFileSync(join(root, 'left'), 'utf8'));
  const lives = (): boolean => {
    try {
      return process.kill(left, 0);
    } catch {
      return false;
    }
  };
  for (let waited = 0; lives() && waited < 60_000; waited += 20)
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    }); // it is killed; init takes it away when it runs
  t.false(lives());
});

test('--again: what fails once or twice has passed, and is named; what fails three times has failed', async (t) => {
  const root = project(
    'add_test(NAME once.c++ COMMAND sh -c "test -e ../was || { touch ../was; exit 1; }")\n' +
      'add_test(NAME onceXc++ COMMAND sh -c "echo >>../ran")\nadd_test(NAME never COMMAND false)\n',
  );
  writeFileSync(join(root, 'test/twice.test.ts'), '');
  writeFileSync(
    join(root, 'dist/test/twice.test.js'),
    "import test from 'ava';\nimport { appendFileSync, readFileSync } from 'node:fs';\n" +
      "test('twice', (t) => { appendFileSync('seen', '.'); t.is(readFileSync('seen', 'utf8'), '...'); });\n",
  );
  t.is((await configure(root)).status, 0);
  const { status, stdout } = await npmTest(root, '--again');
  t.is(status, 1);
  t.regex(
    stdout,
    /\nFailed at first, passed when run again\n {2}twice › twice\n {2}once\.c\+\+\n[^]*\nFailed\n {2}some › wrong\n {2}never\n\n4 passed, 2 failed, 0 skipped\n$/,
  );
  t.is(readFileSync(join(root, 'ran'), 'utf8'), '\n', 'a native test that passed does not run again');
});
