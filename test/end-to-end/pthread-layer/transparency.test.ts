/**
 * Programs that do unusual things to their process: output and status are the same under Quartz, and there is a profile
 * or one line that says why there is none.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import test from 'ava';
import { root } from '../../support/root.js';
import { openModel, pause, sampler, start, temporaryFile, underWay, until } from '../../support/record.js';
import { needing, skip } from '../../support/capabilities.js';
import { program, ours, compare, profiled } from './compared.js';

const jail = temporaryFile('jail');
mkdirSync(jail);
const words = (line: string): string[] => line.split(' ');

for (const way of ['_exit', 'quick_exit', 'exit', 'other', 'signals', 'forks', 'daemon', 'children']) {
  test.serial(`ends: ${way}`, async (t) => {
    const compared = await compare(t, [program('process_ends'), way]);
    // who only waits for its daemon is not profiled, if that lived for most of the run; it may end after the recording
    const lines = compared.lines.filter((line) => way !== 'daemon' || !line.includes('only started the program'));
    const isDaemon = lines.length < compared.lines.length;
    if (isDaemon) t.regex(openModel(compared.file).head.endReason, /^(exit|interrupted)$/);
    if (isDaemon) t.deepEqual(lines, []);
    else profiled(t, compared);
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
  'heap',
  'in_turn',
  'generations',
  `plugin ${program('plugin.so')}`,
  `plugin ${program('openmp_plugin.so')}`,
]) {
  test.serial(
    `surroundings: ${words(what)
      .map((word) => basename(word))
      .join(' ')}`,
    async (t) => {
      const compared = await compare(t, [program('process_environment'), ...words(what)]);
      profiled(t, compared);
      if (compared.stdout.startsWith('not here: ')) skip(t, compared.stdout.replace('not here: ', '').trim());
    },
  );
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

test.serial('more threads at once than are published: the others run too, and are counted', async (t) => {
  const compared = await compare(t, [program('process_environment'), 'at_once']);
  if (compared.stdout.startsWith('not here: ')) skip(t, compared.stdout.replace('not here: ', '').trim());
  else t.true(openModel(compared.file).head.threadsDropped >= 17_001 - 16_384);
});

test.serial(
  'programs that the layer does not fit into run as they would, and are watched while they last',
  async (t) => {
    for (const name of ['static', 'address', 'thread']) {
      const { lines, file } = await compare(t, [program(name)]);
      if (existsSync(file)) t.true(openModel(file).head.outside);
      else t.regex(lines.join('\n'), /(is statically linked|sanitizer's library), and cannot be watched from outside/);
    }
  },
);

test.serial('programs that nothing can be put into run as they would, and one line says why', async (t) => {
  const none = async (command: readonly string[], reason: RegExp): Promise<void> => {
    const { lines, file } = await compare(t, command);
    t.is(lines.length, 1);
    t.regex(lines[0]!, reason);
    t.false(existsSync(file));
  };
  if (process.getuid!() !== 0) {
    skip(t, 'only root may do this');
    return;
  }
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
    t.regex(stderr, /^quartz: no profile: \/proc is missing, or shows other processes: mount it .*\n$/);
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
    await until('it is reported', () => started.stderr().includes('waits for it'));
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
  process.kill(pid, 'SIGINT'); // the terminal sends it to both
  started.child.kill('SIGINT');
  const ended = await started.ended;
  t.is(ended.status, 130, ended.stderr);
  openModel(file);
});
