/** Recording: the program's status, its output and its end are the same as without Quartz. */
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { root } from '../../support/root.js';
import { command, directory, program, quartz, run } from '../../support/run-quartz.js';

const statuses: [string, string[], number][] = [
  ['runs to its end', [program('two_callers')], 0],
  ['crashes', [program('crash')], 139],
];
for (const verb of ['record', 'run']) {
  for (const [what, words, status] of statuses) {
    test.serial(`${verb}: the status of a program that ${what}`, async (t) => {
      const cwd = directory();
      const said = await quartz([verb, '-o', 'out.quartz', '--', ...words], { cwd });
      t.is(said.status, status, said.stderr);
      t.true(existsSync(join(cwd, 'out.quartz')));
      t.is((await quartz(['check'], { cwd })).status, 0);
    });
  }

  test.serial(`${verb}: a program that does not exist, or cannot be executed`, async (t) => {
    const cwd = directory();
    const missing = await quartz([verb, '--', './missing'], { cwd });
    t.is(missing.status, 127);
    t.regex(missing.stderr, /^quartz: .*missing/);
    writeFileSync(join(cwd, 'data'), 'no program');
    chmodSync(join(cwd, 'data'), 0o644);
    const data = await quartz([verb, '--', './data'], { cwd });
    t.is(data.status, 126);
    t.regex(data.stderr, /^quartz: .*data/);
    const foreign = readFileSync(program('two_callers'));
    foreign.writeUInt16LE(0xfeb0, 18); // a machine that does not exist
    writeFileSync(join(cwd, 'foreign'), foreign, { mode: 0o755 });
    const other = await quartz([verb, '--', './foreign'], { cwd });
    t.deepEqual([other.status, other.stdout], [126, ''], 'the shell does not try it');
    t.regex(other.stderr, /^quartz: \.\/foreign cannot be run: .*made for another machine.*\n$/);
  });

  test.serial(`${verb}: a statically linked program without Quartz runs, and is watched from outside`, async (t) => {
    const cwd = directory();
    writeFileSync(
      join(cwd, 'plain.c'),
      '#include <stdio.h>\n#include <unistd.h>\nint main(void) { sleep(1); puts("out"); return 7; }\n',
    );
    t.is((await run('cc', ['-static', '-o', 'plain', 'plain.c'], { cwd })).status, 0);
    const said = await quartz([verb, '-o', 'out.quartz', '--', './plain'], { cwd });
    t.deepEqual([said.status, said.stdout.split('\n')[0]], [7, 'out']);
    t.regex(said.stderr, /^quartz: plain is statically linked: it is watched from outside, /m);
    t.is((await quartz(['check', 'out.quartz'], { cwd })).status, 0);
    const report = await quartz(['report', 'out.quartz'], { cwd });
    t.regex(
      report.stdout.replace(/\s+/g, ' '),
      /! watched from outside, because no library can be loaded into the program/,
    );
  });

  test.serial(`${verb}: a program that is started by a link has the link's name`, async (t) => {
    const cwd = directory();
    symlinkSync('/bin/sh', join(cwd, 'server'));
    const words = ['./server', '-c', 'k=0; while [ $k -lt 100000 ]; do k=$((k+1)); done'];
    // Its memory has the name; where that may not be read, its command line does.
    for (const before of [[], [join(root, 'build/test/support/denied'), 'process_vm_readv']]) {
      const line = [...before, command, verb, '--no-follow', '-o', 'out.quartz', '--', ...words];
      const said = await run(line[0]!, line.slice(1), { cwd });
      t.is(said.status, 0, said.stderr);
      const { program: its } = JSON.parse((await quartz(['report', '--json', 'out.quartz'], { cwd })).stdout) as {
        program: string;
      };
      t.is(its, 'server', before.join(' '));
    }
  });

  test.serial(`${verb}: any dynamically linked program is recorded`, async (t) => {
    const cwd = directory();
    const said = await quartz(
      [verb, '-o', 'out.quartz', '--', 'sh', '-c', 'k=0; while [ $k -lt 300000 ]; do k=$((k+1)); done; exit 7'],
      { cwd },
    );
    t.is(said.status, 7, said.stderr);
    t.is((await quartz(['check'], { cwd })).status, 0);
  });

  test.serial(`${verb}: the program has the descriptors that quartz was called with, and no others`, async (t) => {
    const cwd = directory();
    writeFileSync(join(cwd, 'in'), 'from 7\n');
    const script = 'head -n 1 <&7; for fd in /proc/self/fd/*; do [ -e "$fd" ] && echo "fd ${fd##*/}"; done';
    const ask = async (words: string): Promise<number[]> => {
      const said = await run('bash', ['-c', `${words} sh -c '${script}' 7< in 3>&1`, command, verb], { cwd });
      t.regex(said.stdout, /^from 7\n/, said.stderr);
      // above are the layer's
      return [...said.stdout.matchAll(/^fd (\d+)$/gm)].map(([, fd]) => Number(fd)).filter((fd) => fd < 512);
    };
    t.deepEqual(await ask('"$0" "$1" -q -o out.quartz --'), await ask(''));
  });

  test.serial(`${verb}: a killed program`, async (t) => {
    const cwd = directory();
    const said = await quartz([verb, '-o', 'out.quartz', '--', 'sh', '-c', 'kill -9 $$'], { cwd });
    t.is(said.status, 137);
  });
}

test.serial('run: an old profile of that name is not shown for a program that made none', async (t) => {
  const cwd = directory();
  await quartz(['record', '-o', 'out.quartz', '--', program('two_callers')], { cwd });
  const said = await quartz(['run', '-o', 'out.quartz', '--', 'true'], {
    cwd,
    env: { QUARTZ_LAYER: join(cwd, 'none.so') },
  });
  t.is(said.stdout, '');
  t.regex(said.stderr, /no profile: libquartz-pthread\.so was not found/);
});

test.serial('a program can have options that look like ours, and words with blanks', async (t) => {
  const cwd = directory();
  for (const words of [
    ['record', '--', 'echo', '--help', 'a b'],
    ['record', '-q', 'echo', '--help', 'a b'],
  ]) {
    const { status, stdout } = await quartz(words, { cwd });
    t.deepEqual([status, stdout], [0, '--help a b\n'], words.join(' '));
  }
});

test.serial('the program of docs/guide/getting-started.md, compiled and run as it says there', async (t) => {
  const cwd = directory();
  const page = readFileSync(join(root, 'docs/guide/getting-started.md'), 'utf8');
  writeFileSync(join(cwd, 'sum.c'), /```c\n(.*?)```/s.exec(page)![1]!);
  const lines = [...page.matchAll(/^ {4}(.*\bquartz (?:cflags|run)\b.*)$/gm)]
    .map((match) => match[1]!.replace(/\bquartz (?=cflags|libs|run)/g, `"${command}" `))
    .slice(0, 2);
  const plain = await run('sh', ['-c', `${lines[0]!} && ./sum`], { cwd });
  t.is(plain.status, 0, plain.stderr);
  const said = await run('sh', ['-c', lines[1]!], { cwd });
  t.is(said.status, 0, said.stderr);
  t.true(said.stdout.startsWith(plain.stdout), 'the program prints what it prints without Quartz');
  t.true(said.stdout.includes('What limits this program'));
  // what others keep from the CPUs all the time may have no share that is shown
  const all = (await quartz(['report', '--top', '0'], { cwd })).stdout;
  for (const name of ['prepare', 'count']) t.regex(all, new RegExp(` ${name}( |\n)`));
  t.regex((await quartz(['locks'], { cwd })).stdout, / lock table( |\n)/);
});
