/** Help texts, and messages about mistyped commands and options. */
import { chownSync, cpSync, existsSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'ava';
import { commands } from '../../../ts-frontend/src/commands/index.js';
import { root } from '../../support/root.js';
import { skip } from '../../support/capabilities.js';
import { command, directory, quartz, run, type Said } from '../../support/run-quartz.js';

const oneLine = /^quartz: [^\n]+; [^\n]+\n$/;

test('help begins with examples, and is a result', async (t) => {
  for (const args of [[], ['--help'], ['help']]) {
    const { status, stdout, stderr } = await quartz(args);
    t.deepEqual([status, stderr], [0, '']);
    t.true(stdout.indexOf('Examples') < stdout.indexOf('Commands'));
    for (const name of Object.keys(commands)) t.true(stdout.includes(`  ${name} `), name);
  }
});

for (const name of Object.keys(commands)) {
  test(`${name} --help begins with examples, and fits 120 columns`, async (t) => {
    const { status, stdout, stderr } = await quartz([name, '--help']);
    t.deepEqual([status, stderr], [0, '']);
    t.regex(stdout, new RegExp(`^Examples\n  .*quartz ${name}`));
    t.regex(stdout, /\nOptions\n/);
    for (const line of stdout.split('\n')) t.true(line.length <= 120, line);
    t.is((await quartz(['help', name])).stdout, stdout);
  });
}

test('the command works through a link, from anywhere, as npm install -g makes one', async (t) => {
  const cwd = directory();
  symlinkSync(command, join(cwd, 'quartz'));
  t.regex((await run('./quartz', ['--version'], { cwd })).stdout, /^quartz \d/);
  const { stdout, status } = await run('./quartz', ['cflags'], { cwd });
  t.is(status, 0);
  t.true(existsSync(join(/-I(\S+)/.exec(stdout)![1]!, 'quartz/quartz.h')));
});

test('without Node.js one line says so, and recording works', async (t) => {
  const bin = directory();
  for (const tool of ['readlink', 'true']) symlinkSync(`/usr/bin/${tool}`, join(bin, tool));
  const { status, stderr } = await run('/bin/sh', [command, 'report'], { env: { PATH: bin } });
  t.is(status, 125);
  t.regex(stderr, /^quartz: this needs Node\.js[^\n]*\n$/);
  for (const before of [['--'], []]) {
    const args = [command, 'record', '-q', '-o', join(bin, 'out.quartz'), ...before, 'true'];
    t.is((await run('/bin/sh', args, { env: { PATH: bin } })).status, 0, before.join(' '));
  }
});

/**
 * Limits on processes apply to all processes of a user, so they are tested as a user that has none; only root can
 * switch to it.
 */
const isRoot = process.getuid?.() === 0;
const reachable = (folder: string): boolean =>
  (statSync(folder).mode & 1) !== 0 && (folder === '/' || reachable(dirname(folder)));
/** Why there is no such user; undefined: there is. */
const noOtherUser = !isRoot
  ? 'only root can be a user who has no other processes'
  : reachable(root)
    ? undefined
    : `other users cannot reach ${root}`;
const below = (limit: string, args: string, cwd = directory()): Promise<Said> => {
  if (isRoot) chownSync(cwd, 54321, 54321);
  const user = limit.startsWith('-u') ? ['setpriv', '--reuid=54321', '--regid=54321', '--clear-groups'] : [];
  const [file, ...rest] = [...user, 'bash', '-c', `ulimit ${limit}; exec "${command}" ${args}`];
  return run(file, rest, { cwd });
};
for (const limit of ['-n 24', '-v 500000', '-u 8']) {
  test(`ulimit ${limit}: one line says what Node.js cannot have`, async (t) => {
    if (limit.startsWith('-u') && noOtherUser !== undefined) {
      skip(t, noOtherUser);
      return;
    }
    const { status, stdout, stderr } = await below(limit, 'report');
    t.deepEqual([status, stdout], [125, '']);
    t.regex(stderr, /^quartz: this needs Node\.js, and [^\n]+; raise that limit\n$/);
    t.true(stderr.includes(`(ulimit ${limit};`), stderr);
  });
  test(`ulimit ${limit}: quartz run runs the program, with its arguments, and says where the report is`, async (t) => {
    if (limit.startsWith('-u') && noOtherUser !== undefined) {
      skip(t, noOtherUser);
      return;
    }
    const { status, stdout, stderr } = await below(
      limit,
      `run --top 3 -o out.quartz --json -- sh -c 'echo "$0 $1"; exit 7' --top 'a  b'`,
    );
    t.deepEqual([status, stdout], [7, '--top a  b\n'], stderr);
    const [first = ''] = stderr.split('\n');
    t.regex(first, /^quartz: no report: .*: quartz report out\.quartz$/);
    t.true(first.includes(`(ulimit ${limit};`), stderr);
  });
}

/** Runs a line of bash as a user that no other test has, in a directory of its own; or why not. */
function asUser(id: number): { run: (line: string) => Promise<Said>; program: string } | string {
  if (noOtherUser !== undefined) return noOtherUser;
  const cwd = directory();
  chownSync(cwd, id, id);
  const user = [`--reuid=${id}`, `--regid=${id}`, '--clear-groups'];
  return {
    run: (line) => run('setpriv', [...user, 'bash', '-c', line], { cwd }),
    program: join(root, 'build/test/end-to-end/pthread-layer/process_environment'),
  };
}

test('a program that the limit of processes leaves no thread: one line says that those of Quartz count', async (t) => {
  const user = asUser(54322);
  if (typeof user === 'string') {
    skip(t, user);
    return;
  }
  const { status, stderr } = await user.run(
    `ulimit -u 12; exec "${command}" record -q -o out.quartz -- "${user.program}" at_once`,
  );
  t.is(status, 0, stderr);
  t.is(
    stderr.match(/^quartz: the program could not create a thread\. [^\n]*\(ulimit -u 12\)[^\n]*$/gm)?.length,
    1,
    stderr,
  );
});

test('where hardly any process or thread can be started, the program has them all', async (t) => {
  const user = asUser(54323);
  if (typeof user === 'string') {
    skip(t, user);
    return;
  }
  for (const limit of [1, 3, 6]) {
    const within = (front: string): Promise<Said> =>
      user.run(`ulimit -u ${limit}; exec ${front} "${user.program}" generations`);
    const plain = await within('');
    t.is(plain.stdout, `no more threads\ngenerations: ${limit - 1}\n`);
    for (const front of [
      `"${command}" run -q --top 3 --`,
      `"${command}" run`,
      `"${command}" record -o out.quartz --`,
    ]) {
      const { status, stdout, stderr } = await within(front);
      t.deepEqual([status, stdout], [plain.status, plain.stdout], `${limit}: ${front}: ${stderr}`);
      t.regex(stderr, /^quartz: no profile: [^\n]* can be started[^\n]*\(ulimit -u\)$/m, stderr);
    }
  }
});

test("flags with a blank in Quartz's own path: quoted, or one line says what to do", async (t) => {
  const place = join(directory(), "a b's");
  for (const part of ['scripts/quartz-flags', 'threadlib/include'])
    cpSync(join(root, part), join(place, part), { recursive: true });
  cpSync(join(root, 'build/threadlib/libquartz.a'), join(place, 'build/threadlib/libquartz.a'));
  writeFileSync(
    join(place, 'prog.c'),
    '#include <quartz/quartz.h>\nint main(void) { qz_mutex mutex; return qz_mutex_init(&mutex, "m", 0) ? 6 : 5; }\n',
  );
  const flags = join(place, 'scripts/quartz-flags');
  for (const what of ['cflags', 'libs']) {
    const { status, stdout, stderr } = await run(flags, [what]);
    t.deepEqual([status, stdout, stderr.trimEnd().split('\n').length], [125, '', 1]);
    t.regex(stderr, new RegExp(`has a blank.* ${what} --quoted`));
  }
  const built = await run(
    'sh',
    ['-c', 'eval "cc $("$0" cflags --quoted) -o prog prog.c $("$0" libs --quoted)" && ./prog', flags],
    { cwd: place },
  );
  t.is(built.status, 5, built.stderr);
});

test('version', async (t) => {
  t.regex((await quartz(['--version'])).stdout, /^quartz \d+\.\d+\.\d+\n$/);
});

test('stdout is closed: the recording is made, and one line says that the report has no place', async (t) => {
  const cwd = directory();
  const closed = (args: string): Promise<Said> => run('sh', ['-c', `"$0" ${args} >&-`, command], { cwd });
  const said = '^quartz: [^\n]*stdout is closed; [^\n]+\n$';
  const recorded = await closed('run -q -o out.quartz -- sh -c \'test -z "$QUARTZ_STDOUT_CLOSED"\'');
  t.is(recorded.status, 125);
  t.regex(recorded.stderr, new RegExp(said));
  t.is((await closed("run -q -o out.quartz -- sh -c 'exit 7'")).status, 7, "the program's own status comes first");
  t.is((await quartz(['check', 'out.quartz'], { cwd })).status, 0);
  for (const args of ['report out.quartz', '--help', 'export --format folded out.quartz']) {
    const { status, stderr } = await closed(args);
    t.is(status, 125, args);
    t.regex(stderr, new RegExp(said), args);
  }
  t.deepEqual(await closed('html -o out.html out.quartz'), { status: 0, stdout: '', stderr: '' }, 'it writes a file');
  t.is((await closed('record -q -o plain.quartz -- true')).status, 0, 'it has no result but the file');
});

test("stdout has no room: one line says so, and the program's own status comes first", async (t) => {
  const cwd = directory();
  const full = (args: string): Promise<Said> => run('sh', ['-c', `"$0" ${args} >/dev/full`, command], { cwd });
  const said = /^quartz: can't write the output: ENOSPC[^\n]*; [^\n]+\n$/;
  for (const [args, status] of [
    ["run -q -o out.quartz -- sh -c 'exit 7'", 7],
    ['run -q -o out.quartz -- true', 125],
    ["run -q --runs 2 -o out.quartz -- sh -c 'exit 7'", 7],
    ['report out.quartz', 125],
    ['--help', 125],
    ['threads --json out.quartz', 125],
  ] as const) {
    const ended = await full(args);
    t.is(ended.status, status, args);
    t.regex(ended.stderr.split('\n').slice(-2).join('\n'), said, args);
  }
  t.is((await quartz(['check', 'out.quartz'], { cwd })).status, 0);
});

test('where no temporary file can be made, one line names the directory', async (t) => {
  const args = ['run', '-q', '--runs', '2', '--', 'true'];
  const { stderr } = await run(command, args, { cwd: directory(), env: { TMPDIR: '/not-there' } });
  t.regex(stderr, /^quartz: no temporary file can be made in \/not-there: no such file .*; name another .* TMPDIR$/m);
});

const mistakes: [string[], RegExp][] = [
  [['reprot'], /no command "reprot"; did you mean "report"\?/],
  [['frobnicate'], /no command "frobnicate"; see "quartz --help"/],
  [['constructor'], /no command "constructor"/],
  [['--verison'], /no option "--verison"; did you mean "--version"\?/],
  [['report', '--jsn'], /no option "--jsn"; did you mean "--json"\?/],
  [['report', '-x'], /no option "-x"/],
  [['report', '--top'], /--top needs a value/],
  [['report', '--top', 'many'], /--top needs a whole number from 0 to 1000000, not many/],
  [['report', '--raw=1'], /--raw takes no value/],
  [['report', '--csv', '--json'], /--csv and --json exclude each other/],
  [['report', '--view', 'thread'], /--view needs [a-z, ]+ or [a-z]+, not thread; did you mean "threads"\?/],
  [['report', 'a', 'b'], /does not know what to do with "b"/],
  [['record'], /no program to record/],
  [['record', '--'], /no program to record/],
  [['record', '--rat', '5', '--', 'true'], /no option "--rat"; did you mean "--rate"\?/],
  [['record', '--rate', '0', 'true'], /--rate needs a number from 0.001 to 1000000, not 0/],
  [['record', '-p', '4711'], /write: quartz attach PID, or quartz top -p PID/],
  [['record', '--max-size', '1', '--', 'true'], /--max-size needs a size of at least 1M, not 1; see /],
  [['record', '--cpu', '65535', '--', 'true'], /--cpu needs a CPU that this process may use .*, not 65535/],
  [['run'], /no program is given/],
  [['run', '--top', 'many', '--', 'true'], /--top needs a whole number from 0 to 1000000, not many/],
  [['run', '--csv', '--json', '--', 'true'], /--csv and --json exclude each other/],
  [['attach'], /no process to attach to/],
  [['attach', 'x'], /"x" is not a process id/],
];
for (const [args, said] of mistakes) {
  test(`quartz ${args.join(' ')}`, async (t) => {
    const { status, stdout, stderr } = await quartz(args, { cwd: directory() });
    t.deepEqual([status, stdout], [2, '']);
    t.regex(stderr, said);
    t.regex(stderr, oneLine);
  });
}
