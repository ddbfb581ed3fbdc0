/** Programs that do unusual things to themselves: the same output and status under Quartz as without, and a profile or
 * one line that says why there is none. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { root } from '../../known-answers/programs.js';
import { openModel, pause, sampler, start, temporaryFile, underWay, until } from '../../support/record.js';
import { needing, skip } from '../../support/capabilities.js';

const program = (name: string): string => join(root, 'build/test/end-to-end/pthread-layer', name);
const jail = temporaryFile('jail');
mkdirSync(jail);
const words = (line: string): string[] => line.split(' ');
/** What the program said, without Quartz's lines, and without the numbers of processes of which sanitizers speak. */
const own = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !line.startsWith('quartz: '))
    .map((line) => line.replace(/^==\d+==/, '==PID=='))
    .join('\n');
const ours = (text: string): string[] => text.split('\n').filter((line) => line.startsWith('quartz: '));

interface Compared {
  lines: string[];
  file: string;
  stdout: string;
}
/** Runs it without Quartz and recorded, and compares. */
async function compare(
  t: ExecutionContext,
  command: readonly string[],
  options: readonly string[] = [],
): Promise<Compared> {
  const [name, ...args] = command,
    file = temporaryFile('profile.quartz');
  const plain = await start(name!, args).ended;
  const recorded = await start(sampler, ['record', '-q', ...options, '-o', file, '--', ...command]).ended;
  t.is(recorded.stdout, plain.stdout);
  t.is(own(recorded.stderr), own(plain.stderr));
  t.is(
    recorded.status,
    plain.status ??
      128 + ({ SIGSEGV: 11, SIGABRT: 6, SIGKILL: 9, SIGTERM: 15 } as Record<string, number>)[plain.signal!]!,
    recorded.stderr,
  );
  return { lines: ours(recorded.stderr), file, stdout: plain.stdout };
}
/** The profile is there and good, and nothing was to be said. */
function profiled(t: ExecutionContext, { file, lines }: Compared, reason: 'exit' | 'signal' = 'exit'): void {
  t.deepEqual(lines, []);
  t.is(openModel(file).head.endReason, reason);
}

for (const way of ['_exit', 'quick_exit', 'exit', 'other', 'signals', 'forks', 'daemon', 'children']) {
  test.serial(`ends: ${way}`, async (t) => {
    profiled(t, await compare(t, [program('process_ends'), way]));
  });
}
for (const way of ['abort', 'kill', 'segv', 'term']) {
  test.serial(`ends by a signal, with threads running: ${way}`, async (t) => {
    const compared = await compare(t, ['sh', '-c', `ulimit -c 0; exec ${program('process_ends')} ${way}`]);
    profiled(t, { ...compared, lines: compared.lines.filter((line) => !line.includes('(exec)')) }, 'signal');
  });
}
for (const what of [
  'close_range',
  'close_loop',
  'nobody',
  `chroot ${jail}`,
  'enosys',
  'kills',
  'files',
  'filesize',
  'processes',
  'memory',
  'tiny',
  'in_turn',
  'generations',
  `plugin ${program('plugin.so')}`,
]) {
  test.serial(`surroundings: ${words(what)[0]}`, async (t) => {
    const compared = await compare(t, [program('process_environment'), ...words(what)]);
    profiled(t, compared);
    if (compared.stdout.startsWith('not here: ')) skip(t, compared.stdout.replace('not here: ', '').trim());
  });
}
for (const name of ['stripped', 'interposer']) {
  test.serial(`${name} program`, async (t) => {
    profiled(t, await compare(t, [program(name)]));
  });
}

test.serial('a library that stands before the mutexes of the C library sees each of them taken', async (t) => {
  const { status, stderr } = await start(
    sampler,
    ['record', '-q', '-o', temporaryFile('profile.quartz'), '--', program('lock')],
    { LD_PRELOAD: program('mutex_interposer.so') },
  ).ended;
  t.is(status, 3);
  t.true(Number(/(\d+) taken/.exec(stderr)?.[1]) >= 400, stderr);
});

test.serial('a library that stands before the conditions of the C library sees each wait', async (t) => {
  const waits = async (command: readonly string[]): Promise<string> => {
    const { status, stderr } = await start(
      command[0]!,
      [...command.slice(1), program('process_environment'), 'waits'],
      { LD_PRELOAD: program('mutex_interposer.so') },
    ).ended;
    t.is(status, 0, stderr);
    return /waited .*/.exec(stderr)![0];
  };
  t.is(await waits(['env']), 'waited 0 100 100');
  t.is(await waits([sampler, 'record', '-q', '-o', temporaryFile('profile.quartz'), '--']), 'waited 0 100 100');
});

for (const hooks of ['', 'best', 'all'])
  needing('tool:gcc')(
    `children of _Fork and clone, hooks: ${hooks || 'none'}: what they do counts for no one, and the parent goes on ` +
      'being recorded',
    async (t) => {
      const built = temporaryFile('raw-children'),
        flags = hooks && execFileSync(join(root, 'scripts/quartz-flags'), ['cflags', '--cc', 'gcc', '--hooks', hooks]);
      execFileSync('gcc', [
        '-g',
        '-O1',
        ...String(flags).split(/\s+/).filter(Boolean),
        join(root, 'test/end-to-end/pthread-layer/programs/raw_children.c'),
        '-o',
        built,
      ]);
      const compared = await compare(t, [built]);
      t.is(compared.stdout, '41\n');
      profiled(t, compared);
      const { entities } = openModel(compared.file),
        lock = entities.find(({ rawKind, name }) => rawKind === 'mutex' && name === 'lock');
      t.is(lock?.object?.acquisitions, 41);
      if (hooks) t.is(entities.find(({ kind, name }) => kind === 'procedure' && name === 'step')?.calls, 41);
    },
  );

test.serial('fork: what a library locks in the child counts for the child alone', async (t) => {
  const file = temporaryFile('profile.quartz');
  const { status, stdout, stderr } = await start(
    sampler,
    ['record', '-q', '-o', file, '--', program('process_environment'), 'at_fork'],
    { LD_PRELOAD: program('at_fork.so') },
  ).ended;
  t.deepEqual([status, stderr], [0, '']);
  t.regex(stdout, /the child's handler: its own number/);
  const lock = openModel(file).entities.find(({ name }) => name.includes('at_fork_lock'));
  t.is(lock?.object?.acquisitions, 7, 'of the parent: 3 before the fork, 4 after it');
});

test.serial('more threads at once than are published: the others run too, and are counted', async (t) => {
  const compared = await compare(t, [program('process_environment'), 'at_once']);
  if (compared.stdout.startsWith('not here: ')) skip(t, compared.stdout.replace('not here: ', '').trim());
  else t.true(openModel(compared.file).head.threadsDropped >= 17_001 - 16_384);
});

test.serial('programs that nothing can be put into run as they would, and one line says why', async (t) => {
  const none = async (command: readonly string[], reason: RegExp): Promise<void> => {
    const { lines, file } = await compare(t, command);
    t.is(lines.length, 1);
    t.regex(lines[0]!, reason);
    t.false(existsSync(file));
  };
  await none([program('static')], /no profile: .*statically linked/);
  await none([program('address')], /no profile: .*sanitizer/);
  await none([program('thread')], /no profile: .*sanitizer/);
  if (process.getuid!() !== 0) return;
  const copy = temporaryFile('setuid');
  copyFileSync(program('stripped'), copy);
  chownSync(copy, 65_534, 65_534);
  chmodSync(copy, 0o4755);
  chmodSync(dirname(copy), 0o755);
  await none([copy], /no profile: .*set-id/);
});

test.serial('the environment is the one that the program would have without Quartz', async (t) => {
  for (const shell of ['sh', 'bash'])
    profiled(t, await compare(t, [shell, '-c', 'env; sleep 0.05; env; echo "<$LD_PRELOAD>"']));
});

test.serial(
  'exec: the file is of what the process ran last, and what ran before is kept aside where it was seen',
  async (t) => {
    const nice = await compare(t, ['nice', '-n', '0', program('stripped')]);
    t.is(openModel(nice.file).head.endReason, 'exit');
    t.true(openModel(nice.file).entities.some(({ name }) => name.includes('stripped')));
    const twice = await compare(t, [program('process_ends'), 'exec']);
    t.regex(twice.lines[0]!, /what the process ran before/);
    const stem = basename(twice.file, '.quartz');
    const aside = readdirSync(dirname(twice.file)).filter((name) => name.startsWith(`${stem}-`));
    t.is(aside.length, 1);
    t.is(openModel(join(dirname(twice.file), aside[0]!)).head.endReason, 'exec');
    t.is(openModel(twice.file).head.exitStatus, 5);
    const gone = await compare(t, ['sh', '-c', `sleep 0.05; exec ${program('static')}`]);
    t.regex(gone.lines.join('\n'), /no profile of what it ran last \(exec\): .*statically linked/);
    t.false(existsSync(gone.file), 'a profile of the shell alone would pass for one of the program');
  },
);

test.serial('exec: of a shell that was there for a moment nothing is kept, and nothing said', async (t) => {
  const compared = await compare(t, ['sh', '-c', `sleep 0.05; exec sh -c "sleep 0.05; exec ${program('stripped')}"`]);
  profiled(t, compared);
  const stem = basename(compared.file, '.quartz');
  t.deepEqual(
    readdirSync(dirname(compared.file)).filter((name) => name.startsWith(`${stem}-`)),
    [],
  );
});

test.serial('a script that does not name its interpreter is recorded as a shell', async (t) => {
  const script = temporaryFile('script');
  writeFileSync(script, `exec ${program('stripped')}\n`, { mode: 0o755 });
  profiled(t, await compare(t, ['sh', '-c', `exec ${script}`]));
  const file = temporaryFile('profile.quartz');
  const { status, stderr } = await start(sampler, ['record', '-q', '-o', file, '--', script]).ended;
  t.deepEqual([status, stderr], [(await start(program('stripped'), []).ended).status, '']);
  openModel(file);
});

test.serial('Quartz in a directory that LD_PRELOAD can not name: recorded all the same', async (t) => {
  const place = temporaryFile('a b:c');
  mkdirSync(place);
  cpSync(join(root, 'build/sampler/quartz-sampler'), join(place, 'bin/quartz-sampler'));
  cpSync(join(root, 'build/pthread-layer/libquartz-pthread.so'), join(place, 'lib/libquartz-pthread.so'));
  const file = temporaryFile('profile.quartz');
  const { status, stderr } = await start(join(place, 'bin/quartz-sampler'), [
    'record',
    '-q',
    '-o',
    file,
    '--',
    'sh',
    '-c',
    `exec ${program('stripped')}`,
  ]).ended;
  t.deepEqual([status, stderr], [(await start(program('stripped'), []).ended).status, '']);
  openModel(file);
});

test.serial('where the sampler can not work, the program runs, and one line says what to do', async (t) => {
  const said = async (before: string, line: RegExp): Promise<void> => {
    const file = temporaryFile('profile.quartz');
    const { status, stdout, stderr } = await start('sh', [
      '-c',
      `${before} exec "$@"`,
      'sh',
      sampler,
      'record',
      '-q',
      '-o',
      file,
      '--',
      program('stripped'),
    ]).ended;
    const plain = await start(program('stripped'), []).ended;
    t.deepEqual([status, stdout], [plain.status, plain.stdout]);
    t.is(ours(stderr).length, 1, stderr);
    t.regex(stderr, line);
  };
  await said('ulimit -n 9;', /too many open files.*ulimit -n/i);
  await said('ulimit -v 100000;', /^quartz: .*\(ulimit -v\).*unsampled/);
});

needing('root', 'tool:ldd')(
  'a program in a changed root, or of a user who may not read the layer: no complaint of the dynamic linker',
  async (t) => {
    const place = temporaryFile('root'),
      { stdout } = await start('ldd', [program('stripped')]).ended;
    for (const file of stdout.match(/\/\S+/g)!) cpSync(realpathSync(file), join(place, file));
    copyFileSync(program('stripped'), join(place, 'stripped'));
    for (const options of [[], ['--children']]) {
      for (const command of [
        ['chroot', place, '/stripped'],
        ['sh', '-c', `chroot ${place} /stripped; exit 3`],
      ]) {
        const { lines } = await compare(t, command, options);
        t.true(lines.length <= 1, lines.join('\n'));
      }
    }
  },
);
needing('user-namespaces')(
  'where /proc is of other processes, the program runs, and one line says what to do',
  async (t) => {
    const { stdout, stderr } = await start('unshare', [
      '-Urpf',
      sampler,
      'record',
      '-q',
      '-o',
      temporaryFile('profile.quartz'),
      '--',
      program('stripped'),
    ]).ended;
    t.is(stdout, (await start(program('stripped'), []).ended).stdout);
    t.regex(stderr, /^quartz: no profile: \/proc is missing, or of other processes: mount it .*\n$/);
  },
);

test.serial(
  'the sampler is killed under quartz: that waits for the program, passes signals on, and says so',
  async (t) => {
    const quartz = join(root, 'ts-frontend/bin/quartz'),
      file = temporaryFile('killed.quartz');
    const started = start(quartz, ['run', '-q', '-o', file, '--', program('attach_while_busy')]);
    await until('it computes', () => started.stdout().includes('ready'));
    await underWay(file, 20);
    const { pid } = openModel(file).head,
      parent = Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
    process.kill(parent, 'SIGKILL');
    await until('it is told', () => started.stderr().includes('waits for it'));
    await pause(200);
    t.is(started.child.exitCode, null, 'the program still runs');
    started.child.kill('SIGTERM');
    const { status, stdout, stderr } = await started.ended;
    t.false(
      existsSync(`/proc/${pid}`) && !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')),
      'the program has ended',
    );
    t.is(status, 125);
    t.regex(stderr, /^quartz: the sampler was ended by SIGKILL; the program runs on unsampled[^\n]*\n$/);
    t.regex(stdout, /computes/, 'the report of what was recorded until then');
  },
);

test.serial('a program that is rebuilt while it is recorded keeps its names', async (t) => {
  const copy = temporaryFile('program\nof two lines'),
    file = temporaryFile('profile.quartz'),
    next = temporaryFile('next');
  copyFileSync(program('attach_while_busy'), copy);
  copyFileSync(program('stripped'), next);
  const started = start(sampler, ['record', '-q', '-o', file, '--', copy]);
  await until('it computes', () => started.stdout().includes('ready'));
  renameSync(next, copy);
  await pause(2500); // the map is read once a second
  started.child.kill('SIGINT');
  t.is((await started.ended).status, 130);
  const names = openModel(file).entities.map(({ name }) => name);
  t.true(names.includes('computes'), names.join(', '));
  t.deepEqual(
    names.filter((name) => name.includes('deleted')),
    [],
  );
});

test.serial('child processes, recorded: those that the layer fits, and the others as they would', async (t) => {
  const { file } = await compare(
    t,
    ['sh', '-c', `${program('address')}; ${program('static')}; ${program('stripped')}; exit 3`],
    ['--children'],
  );
  t.is(openModel(file).head.exitStatus, 3);
  const stem = basename(file, '.quartz');
  const others = readdirSync(dirname(file)).filter((name) => name.startsWith(`${stem}-`));
  t.true(
    others.some((name) =>
      openModel(join(dirname(file), name)).entities.some(
        (entity) => entity.name === 'crew_lock' || entity.name.includes('stripped'),
      ),
    ),
    others.join(' '),
  );
});

test.serial('child processes that are not recorded: their processor time is known', async (t) => {
  const { file } = await compare(t, ['sh', '-c', `${program('spin')}; ${program('spin')}; exit 3`], ['--no-follow']);
  const { head } = openModel(file);
  t.false(head.childrenApart);
  t.true(head.childrenRunNs > head.cpuRunNs, `${head.childrenRunNs} ns, ${head.cpuRunNs} ns`);
});

test.serial(
  'many child processes at once, recorded: each profile ends when its program did, however many others are being ' +
    'finished',
  async (t) => {
    const { file } = await compare(
      t,
      ['sh', '-c', 'for k in 1 2 3 4 5 6 7 8; do sh -c "sleep 0.5; exit $k" & done; wait'],
      ['--children'],
    );
    const stem = basename(file, '.quartz');
    const children = readdirSync(dirname(file))
      .filter((name) => name.startsWith(`${stem}-`))
      .map((name) => openModel(join(dirname(file), name)));
    t.true(children.length >= 8);
    t.deepEqual(
      children.filter(({ head }) => head.endReason !== 'exit').map(({ head }) => head.endReason),
      [],
    );
    for (const { head, root, elapsedNs } of children)
      t.true(
        root.processorTimeNs <= elapsedNs / 2,
        `${head.arguments}: ${root.processorTimeNs} ns of ${elapsedNs} it only slept, or was over`,
      );
  },
);

for (const kib of [200_000, 900_000, 4_000_000])
  test.serial(`${kib} KiB of addresses (ulimit -v): recorded in tables that fit`, async (t) => {
    for (const program_ of [program('stripped'), join(root, 'build/test/known-answers/threadlib-programs/namesakes')])
      profiled(t, await compare(t, ['sh', '-c', `ulimit -v ${kib}; exec ${program_}`]));
  });

test.serial('too little address space: the program has it all', async (t) => {
  for (const program_ of [program('stripped'), join(root, 'build/test/known-answers/threadlib-programs/namesakes')]) {
    const { lines } = await compare(t, ['sh', '-c', `ulimit -v 90000; exec ${program_}`]);
    t.regex(lines.join('\n'), /^quartz: [^\n]*\(ulimit -v\)[^\n]*$/);
  }
});

test.serial('a program that never ends: Ctrl-C ends it, and the profile is good', async (t) => {
  const file = temporaryFile('never.quartz');
  const started = start(sampler, ['record', '-q', '-o', file, '--', program('process_ends'), 'never']);
  let pid = 0;
  await until('there are snapshots', () => {
    try {
      const { head } = openModel(file);
      pid = head.pid;
      return head.snapshots > 50;
    } catch {
      return false; // it is being made
    }
  });
  process.kill(pid, 'SIGINT'); // the terminal tells both
  started.child.kill('SIGINT');
  const ended = await started.ended;
  t.is(ended.status, 130, ended.stderr);
  openModel(file);
});
