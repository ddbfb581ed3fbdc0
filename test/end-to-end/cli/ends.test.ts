/** Recordings that do not end by themselves: Ctrl-C, attach and detach, through the command; and child processes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { basename, join } from 'node:path';
import test from 'ava';
import { openModel, sampler, start, underWay, until, type Started } from '../../support/record.js';
import { needing } from '../../support/capabilities.js';
import { command, directory, program, quartz, run, type Said } from '../../support/run-quartz.js';

const processors = { QUARTZ_PROCESSORS: '4' };
/** The process group: the third word after the name. */
const groupOf = (pid: number): number =>
  Number(
    readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')[2],
  );
const isRunning = (started: Started): boolean => started.child.exitCode === null && started.child.signalCode === null;

for (const ending of ['Ctrl-C', '--seconds']) {
  test.serial(`attach, ended by ${ending}: the program runs on`, async (t) => {
    const file = join(directory(), 'out.quartz');
    const running = start(program('endless'), [], processors);
    try {
      await until('the program is ready', () => running.stdout().includes('ready'));
      const limit = ending === 'Ctrl-C' ? [] : ['--seconds', '0.5'];
      const attached = start('setsid', [
        '-w',
        command,
        'attach',
        '--rate',
        '1000',
        ...limit,
        '-o',
        file,
        String(running.child.pid),
      ]);
      if (ending === 'Ctrl-C') {
        await underWay(file, 100);
        process.kill(-attached.child.pid!, 'SIGINT');
      }
      const ended = await attached.ended;
      t.is(ended.status, 0, ended.stderr);
      t.true(isRunning(running));
      t.is((await quartz(['check', file])).status, 0);
      t.regex((await quartz(['report', file])).stdout, / alone( |\n)/);
    } finally {
      running.child.kill('SIGKILL');
      await running.ended;
    }
  });
}

test.serial('run, ended by Ctrl-C: the profile is kept', async (t) => {
  const file = join(directory(), 'out.quartz');
  // A terminal sends the signal to the whole process group, which `setsid` creates here.
  const started = start(
    'setsid',
    ['-w', command, 'run', '--rate', '1000', '-o', file, '--', program('endless')],
    processors,
  );
  await underWay(file, 100);
  process.kill(-groupOf(openModel(file).head.pid), 'SIGINT');
  const ended = await started.ended;
  t.not(ended.status, 0);
  t.is((await quartz(['check', file])).status, 0);
  t.is(openModel(file).head.endReason, 'interrupted');
});

for (const name of ['record', 'run'] as const) {
  test.serial(`${name}, SIGINT to the command alone: the program gets it, too`, async (t) => {
    const file = join(directory(), 'out.quartz');
    const started = start(command, [name, '--rate', '1000', '-o', file, '--', program('endless')], processors);
    await underWay(file, 100);
    started.child.kill('SIGINT');
    const ended = await started.ended;
    t.is(ended.status, 128 + 2, ended.stderr);
    t.is(openModel(file).head.endReason, 'interrupted');
  });
}

/** Runs a script with a disk of 600 KB at the directory in $DISK. */
function onSmallDisk(script: string, env: Record<string, string>): Promise<Said> {
  const mount = 'mount -t tmpfs -o size=600k none "$DISK" || exit 99; cd "$DISK" || exit 99; ';
  return run('unshare', [...(process.getuid?.() === 0 ? [] : ['-r']), '-m', 'sh', '-c', mount + script], { env });
}

for (const name of ['record', 'run']) {
  needing('mounts')(`${name}, the disk becomes full: one line, the program's status, a good profile`, async (t) => {
    const said = await onSmallDisk(
      // Fills the disk once the profile has its first snapshots. The program continually reaches new call paths, which
      // need space.
      '(while [ ! -s out.quartz ]; do sleep 0.01; done; sleep 0.1; cat /dev/zero > filler) 2> /dev/null & ' +
        '"$QUARTZ" "$COMMAND" -o out.quartz -- "$PROGRAM" > /dev/null; status=$?; kill $! 2> /dev/null; wait; ' +
        '"$QUARTZ" check out.quartz && "$QUARTZ" report --json out.quartz | grep -c \'"disk-full"\'; exit $status',
      { DISK: directory(), QUARTZ: command, COMMAND: name, PROGRAM: program('many_paths') },
    );
    t.is(said.status, 3, said.stderr);
    t.regex(said.stdout, /all invariants hold over \d+ samples\n1\n/, said.stderr);
    t.deepEqual(
      said.stderr
        .split('\n')
        .filter((line) => line.startsWith('quartz: '))
        .map((line) => line.replace(/[\d.]+ m?s\b/, 'T')),
      ['quartz: the disk is full: recording ended after T; out.quartz is complete up to there'],
    );
  });
}

test.serial('a limit on file sizes that leaves no room for a session: one line, and the program runs', async (t) => {
  const cwd = directory();
  const { status, stderr } = await run(
    'sh',
    ['-c', 'ulimit -f 1000; exec "$0" record -- "$1"', command, program('two_callers')],
    { cwd },
  );
  t.is(status, 0);
  t.deepEqual(
    stderr.split('\n').filter((line) => line !== ''),
    ['quartz: the program cannot create its session: it needs more than ulimit -f allows; the program runs unsampled'],
  );
  t.deepEqual(
    readdirSync(cwd).filter((file) => file.endsWith('.quartz')),
    [],
  );
});

test.serial('record --children: a profile for each process, the shell too', async (t) => {
  const cwd = directory();
  const { status, stderr } = await quartz(
    ['record', '--children', '-o', 'out.quartz', '--', 'sh', '-c', '"$0"; "$0"', program('two_callers')],
    { cwd },
  );
  t.is(status, 0, stderr);
  const files = readdirSync(cwd).filter((name) => name.endsWith('.quartz'));
  const programs = files.map((name) => basename(openModel(join(cwd, name)).program)).sort();
  t.is(programs.length, 3, programs.join());
  t.deepEqual(
    programs.filter((name) => name === 'two_callers'),
    ['two_callers', 'two_callers'],
  );
});

test.serial('a front end that is gone: a program that pays no attention to Ctrl-C is ended all the same', async (t) => {
  const file = join(directory(), 'out.quartz');
  const script = 'trap "" INT; echo ready; while :; do sleep 0.1; done';
  const child = spawn(sampler, ['record', '--front', '3', '-o', file, '--', 'sh', '-c', script], {
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    detached: true,
  });
  t.teardown(() => {
    child.kill('SIGKILL');
  });
  const ended = once(child, 'exit');
  await once(child.stdout!, 'data');
  (child.stdio[3] as Socket).destroy();
  t.deepEqual(await ended, [128 + constants.signals.SIGTERM, null]);
  t.is((await quartz(['check', file])).status, 0);
});
