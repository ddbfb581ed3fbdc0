/** Recording: the program's status, its output and its end are what they would be without Quartz. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { directory, program, quartz, run } from './quartz.js';

const statuses: [string, string[], number][] = [
  ['runs to its end', [program('two_callers')], 0],
  ['crashes', [program('crash')], 139],
];
for (const command of ['record', 'run']) {
  for (const [what, words, status] of statuses) {
    test.serial(`${command}: the status of a program that ${what}`, async (t) => {
      const cwd = directory();
      const said = await quartz([command, '-o', 'out.quartz', '--', ...words], { cwd });
      t.is(said.status, status, said.stderr);
      t.true(existsSync(join(cwd, 'out.quartz')));
      t.is((await quartz(['check'], { cwd })).status, 0);
    });
  }

  test.serial(`${command}: a program that does not exist, or cannot be executed`, async (t) => {
    const cwd = directory();
    const missing = await quartz([command, '--', './missing'], { cwd });
    t.is(missing.status, 127);
    t.regex(missing.stderr, /^quartz: .*missing/);
    writeFileSync(join(cwd, 'data'), 'no program');
    chmodSync(join(cwd, 'data'), 0o644);
    const data = await quartz([command, '--', './data'], { cwd });
    t.is(data.status, 126);
    t.regex(data.stderr, /^quartz: .*data/);
  });

  test.serial(`${command}: a program that is not linked with Quartz runs, and is told how to be`, async (t) => {
    const cwd = directory();
    const said = await quartz([command, '--', 'sh', '-c', 'echo out; exit 7'], { cwd });
    t.deepEqual([said.status, said.stdout], [7, 'out\n']);
    t.regex(said.stderr, /quartz cflags/);
    t.false(existsSync(join(cwd, 'sh.quartz')));
  });

  test.serial(`${command}: a killed program`, async (t) => {
    const cwd = directory();
    const said = await quartz([command, '-o', 'out.quartz', '--', 'sh', '-c', 'kill -9 $$'], { cwd });
    t.is(said.status, 137);
  });
}

test.serial('run: an old profile of that name is not shown for a program that made none', async (t) => {
  const cwd = directory();
  await quartz(['record', '-o', 'out.quartz', '--', program('two_callers')], { cwd });
  const said = await quartz(['run', '-o', 'out.quartz', '--', 'true'], { cwd });
  t.is(said.stdout, '');
});

test.serial('a program can have options that look like ours, and words with blanks', async (t) => {
  const cwd = directory();
  for (const words of [['record', '--', 'echo', '--help', 'a b'], ['record', '-q', 'echo', '--help', 'a b'], ['run', 'echo', '--help', 'a b']]) {
    const { status, stdout } = await quartz(words, { cwd });
    t.deepEqual([status, stdout], [0, '--help a b\n'], words.join(' '));
  }
});

test.serial('flags: a program compiled and linked with them shows its procedures', async (t) => {
  const cwd = directory();
  writeFileSync(join(cwd, 'prog.c'), `
    #include <quartz/quartz.h>
    #include <time.h>
    __attribute__((noinline)) void labour(void) { volatile long sum = 0; for (long k = 0; k < 300000000; k++) sum += k; }
    int main(void) { labour(); return 3; }`);
  const quartzCommand = join(import.meta.dirname, '../../../ts-frontend/bin/quartz');
  const made = await run('sh', ['-c', `cc -O1 -g -o prog $("$1" cflags) prog.c $("$1" libs)`, 'sh', quartzCommand], { cwd });
  t.is(made.status, 0, made.stderr);
  t.is((await run(join(cwd, 'prog'), [], { cwd })).status, 3);
  const said = await quartz(['run', '--', './prog'], { cwd });
  t.is(said.status, 3, said.stderr);
  t.regex(said.stdout, / labour( |\n)/);
  t.true(readFileSync(join(cwd, 'prog.quartz')).length > 0);
});
