/** Reports of real profiles: all formats, all ways in which a file can be wrong, all kinds of readers. */
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { command, directory, program, quartz, run } from '../../support/run-quartz.js';
import { root } from '../../support/root.js';
import { schemaErrors } from '../../support/json-schema.js';

const home = directory();
const good = join(home, 'good.quartz');

test.before(async (t) => {
  const { status, stderr } = await quartz(['record', '-o', good, '--', program('serial_then_parallel')], {
    env: { QUARTZ_PROCESSORS: '4' },
  });
  t.is(status, 0, stderr);
});

test('every view of a real profile, and its CSV', async (t) => {
  for (const args of [['report'], ['locks'], ['threads'], ['report', '--focus', 'main']]) {
    const { status, stdout, stderr } = await quartz([...args, good]);
    t.deepEqual([status, stderr], [0, ''], args.join(' '));
    t.regex(stdout, /serial_then_parallel: [\d.]+ m?s, 4 processors, [\d,]+ samples/);
    const csv = await quartz([...args, good, '--csv']);
    t.is(csv.status, 0);
    const [head = '', ...lines] = csv.stdout.split('\r\n');
    t.true(head.includes('name'));
    for (const line of lines.filter((one) => one !== '')) t.is(line.split(',').length, head.split(',').length, line);
  }
  const { stdout } = await quartz(['report', good]);
  for (const name of ['main', 'a', 'b']) t.regex(stdout, new RegExp(` ${name}( |\n)`));
});

test('JSON of a real profile is valid', async (t) => {
  const { status, stdout } = await quartz(['report', '--json', good]);
  t.is(status, 0);
  const report = JSON.parse(stdout) as { processors: number; program: string };
  t.is(schemaErrors(stdout), '');
  t.is(report.processors, 4);
  t.regex(report.program, /serial_then_parallel$/);
});

test('the newest profile of the directory is meant where none is named', async (t) => {
  const cwd = directory();
  copyFileSync(good, join(cwd, 'new.quartz'));
  writeFileSync(join(cwd, 'old.quartz'), 'broken');
  utimesSync(join(cwd, 'old.quartz'), 1000, 1000);
  mkdirSync(join(cwd, 'folder.quartz'));
  symlinkSync('nowhere', join(cwd, 'link.quartz'));
  const said = await quartz(['report'], { cwd });
  t.deepEqual([said.status, said.stderr], [0, 'quartz: new.quartz, the newest of 2 *.quartz files here\n']);
  rmSync(join(cwd, 'old.quartz'));
  t.is((await quartz(['report'], { cwd })).stderr, '');
});

const wrong: [string, RegExp, (file: string) => void][] = [
  ['missing', /does not exist/, () => undefined],
  [
    'a directory',
    /is a directory/,
    (file) => {
      mkdirSync(file);
    },
  ],
  [
    'empty',
    /./,
    (file) => {
      writeFileSync(file, '');
    },
  ],
  [
    'foreign',
    /./,
    (file) => {
      writeFileSync(file, '#!/bin/sh\necho hello\n'.repeat(1000));
    },
  ],
  [
    'cut',
    /./,
    (file) => {
      copyFileSync(good, file);
      truncateSync(file, 600);
    },
  ],
  [
    'of a newer version',
    /version/,
    (file) => {
      copyFileSync(good, file);
      overwrite(file, 8, Buffer.from([99, 0, 0, 0]));
    },
  ],
  [
    'corrupt',
    /./,
    (file) => {
      copyFileSync(good, file);
      overwrite(file, 24, Buffer.alloc(4000, 0xff));
    },
  ],
];
function overwrite(file: string, at: number, bytes: Buffer): void {
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, bytes, 0, bytes.length, at);
  closeSync(descriptor);
}
for (const [what, said, make] of wrong) {
  test(`a profile that is ${what}`, async (t) => {
    const file = join(directory(), 'wrong.quartz');
    make(file);
    for (const name of ['report', 'locks', 'threads', 'check']) {
      const { status, stdout, stderr } = await quartz([name, file]);
      t.deepEqual([status, stdout], [125, ''], `${name}: ${stderr}`);
      t.regex(stderr, name === 'check' ? /^(quartz: [^\n]+\n)+$/ : /^quartz: [^\n]+\n$/);
      t.true(stderr.includes('wrong.quartz'));
      t.regex(stderr, said);
    }
  });
}

test('no profile in the directory', async (t) => {
  const { status, stderr } = await quartz(['report'], { cwd: directory() });
  t.is(status, 125);
  t.regex(stderr, /no \*\.quartz file.*quartz record/);
});

test('a name that is not in the profile', async (t) => {
  const { status, stderr } = await quartz(['report', good, '--focus', 'mian']);
  t.is(status, 125);
  t.regex(stderr, /nothing in this profile is called "mian"; did you mean "main"\?/);
});

test('a reader that goes away is no failure', async (t) => {
  for (const args of ['report --json', 'report', 'locks']) {
    const { stdout, stderr } = await run('bash', [
      '-c',
      `"$0" ${args} "$1" | true; echo \${PIPESTATUS[0]}`,
      command,
      good,
    ]);
    t.deepEqual([stdout, stderr], ['0\n', ''], args);
  }
});

test('much output for a slow reader: all of it, and nothing on stderr', async (t) => {
  const large = join(home, 'large.quartz');
  const made = await run(join(root, 'build/bench/native/bench_tuple_profile'), [large, '5000', '400']);
  t.is(made.status, 0, made.stderr);
  const script = '"$0" report --json "$1" | (sleep 0.3; wc -c); "$0" report --json "$1" | wc -c';
  const { status, stdout, stderr } = await run('sh', ['-c', script, command, large]);
  const [slow, fast] = stdout.trim().split(/\s+/).map(Number);
  t.deepEqual([status, stderr, slow], [0, '', fast]);
  t.true(slow! > 500_000, `${slow} bytes fit into few pieces`);
});

test('a terminal: its width, colours unless NO_COLOR, plain characters where the locale is not UTF-8', async (t) => {
  const colours = /\u001b\[[\d;]*m/g;
  const onTerminal = async (columns: number, env: Record<string, string> = {}): Promise<string> => {
    const { stdout } = await run(
      'script',
      ['-qec', `stty cols ${columns} rows 24; "${command}" report "${good}"`, '/dev/null'],
      { env: { TERM: 'xterm', ...env } },
    );
    return stdout.replaceAll('\r', '');
  };
  const narrow = await onTerminal(40);
  t.regex(narrow, colours);
  for (const line of narrow.replace(colours, '').split('\n')) t.true(Array.from(line).length <= 40, line);
  t.true(
    (await onTerminal(200))
      .replace(colours, '')
      .split('\n')
      .some((line) => Array.from(line).length > 100),
  );
  t.notRegex(await onTerminal(80, { NO_COLOR: '1' }), colours);
  t.regex(await onTerminal(80, { LC_ALL: 'C', NO_COLOR: '1' }), /^[\n\x20-\x7e]*$/);
  await t.notThrowsAsync(onTerminal(1));
});

test('a page on a terminal goes to a file named after the program, which replaces no file but a page', async (t) => {
  const cwd = directory();
  const page = (): ReturnType<typeof run> =>
    run('script', ['-qec', `"${command}" html "${good}"`, '/dev/null'], { cwd, env: { TERM: 'xterm' } });
  const notice = 'quartz: the page is in serial_then_parallel.html; open it in a browser';
  for (const made of [await page(), await page()]) t.deepEqual([made.status, made.stdout.trim()], [0, notice]);
  const file = join(cwd, 'serial_then_parallel.html');
  t.regex(readFileSync(file, 'utf8'), /^<!doctype html>/i);
  writeFileSync(file, 'mine');
  const { status, stdout } = await page();
  t.deepEqual([status, readFileSync(file, 'utf8')], [125, 'mine']);
  t.regex(stdout, /serial_then_parallel\.html is there, and no page of Quartz; name another file with -o/);
});

test('off a terminal there are no colours', async (t) => {
  t.false((await quartz(['report', good])).stdout.includes('\u001b'));
});
