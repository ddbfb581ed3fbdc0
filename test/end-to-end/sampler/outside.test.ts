/** Programs without anything of Quartz, observed from outside: `quartz attach` to a running program. */
import test, { type ExecutionContext } from 'ava';
import { root } from '../../support/root.js';
import { needing } from '../../support/capabilities.js';
import { openModel, pause, sampler, start, temporaryFile, until, type Started } from '../../support/record.js';
import { command, quartz, run } from '../../support/run-quartz.js';
import type { Entity, Model } from '../../../ts-frontend/src/model/index.js';

const unprepared = `${root}/build/test/end-to-end/sampler/unprepared`;

async function withProgram(
  body: (program: Started, pid: string) => Promise<void>,
  args: readonly string[] = [],
): Promise<void> {
  const program = start(unprepared, args);
  try {
    await until('the program is ready', () => program.stdout().includes('ready'));
    await body(program, String(program.child.pid));
  } finally {
    program.child.kill('SIGKILL');
    await program.ended;
  }
}

/** It continues as if it had not been observed. */
async function isUnharmed(t: ExecutionContext, program: Started, later: number): Promise<void> {
  t.is(program.child.exitCode, null);
  program.child.kill('SIGTERM');
  const ended = await program.ended;
  t.deepEqual([ended.status, ended.stdout], [3, `ready\n3 passed, ${later} came later\n`]);
}

const find = (model: Model, kind: string, name: string): Entity | undefined =>
  model.entities.find((one) => one.kind === kind && one.name === name);

needing('perf_event_open', 'process_vm_readv')(
  'who works, who waits for what: of a program that was started without Quartz; with --seconds, status 0',
  async (t) => {
    await withProgram(async (program, pid) => {
      const file = temporaryFile('outside.quartz');
      const said = await run(command, ['attach', '--seconds', '1.5', '-o', file, '-p', pid]);
      t.is(said.status, 0, said.stderr);
      t.regex(said.stderr, /^quartz: process \d+ was started without Quartz: it is watched from outside, /);
      const model = openModel(file);
      t.deepEqual([model.head.outside, model.head.attached, model.head.endReason], [true, true, 'time']);
      // Processor time is the kernel's, but for what runs before the first snapshot, and is charged to the one
      // procedure that works.
      const seen = model.root.processorTimeNs;
      const off = Math.abs(seen - model.head.cpuRunNs);
      t.true(off <= 0.02 * model.head.cpuRunNs + 30e6, `${seen} ns seen, ${model.head.cpuRunNs} ns counted`);
      const computes = find(model, 'procedure', 'computes')!;
      // what a thread executes is unknown until its first samples
      t.true(computes.processorTimeSelfNs >= 0.95 * seen - 20e6, `${computes.processorTimeSelfNs} of ${seen} ns`);
      // Three threads wait all the time for the lock that one holds: that limits the program.
      const door = find(model, 'lock', 'door')!;
      t.true(model.findings.some(({ kind, entity }) => kind === 'lock-contention' && entity === door.id));
      t.true(Math.abs(door.object!.queueLengthMean - 3) < 0.1, String(door.object!.queueLengthMean));
      t.false(door.object!.counted);
      const names = (path: readonly number[]): string => path.map((id) => model.entities[id]!.name).join(' ');
      const [waiter] = door.object!.waiters;
      t.regex(names(waiter!.path), /^waits \S*pthread_mutex_lock door$/);
      // What it executes is unknown until its first sample, which a thread that gets no CPU has late.
      const holders = door.object!.holders.filter(({ path }) => /^door( keeps computes)?$/.test(names(path)));
      t.true(holders.some(({ path }) => path.length > 1));
      t.deepEqual(new Set(holders.map(({ thread }) => model.entities[thread]!.name)), new Set(['keeps']));
      const held = holders.reduce((sum, { ns }) => sum + ns, 0);
      const unknownNs = 3 * 50e6; // of the three that wait meanwhile
      t.true(held >= 0.95 * door.object!.waitNs - unknownNs, `${held} of ${door.object!.waitNs} ns`);
      const report = (await quartz(['report', file])).stdout;
      t.notRegex(report, /interrupted/);
      t.regex(report.replace(/\s+/g, ' '), /! watched from outside, because the program was started without Quartz: /);
      await isUnharmed(t, program, 0);
    });
  },
);

needing('perf_event_open', 'process_vm_readv')(
  'every kind of wait in glibc is known, and who is waited for',
  async (t) => {
    await withProgram(
      async (program, pid) => {
        const file = temporaryFile('kinds.quartz');
        const said = await run(sampler, ['attach', '-q', '--seconds', '1', '-o', file, pid]);
        t.is(said.status, 0, said.stderr);
        const model = openModel(file);
        const objects = model.entities.filter(
          ({ object, members }) => object && object.waitNs > 0 && members.length === 0,
        );
        t.deepEqual(objects.map(({ rawKind, name }) => `${rawKind} ${name}`.replace(/ at .*/, '')).sort(), [
          'barrier fence',
          'condition signal_box',
          'join join',
          'rwlock ledger',
          'semaphore tickets',
        ]);
        for (const { name, rawKind, object } of objects) {
          t.true(Math.abs(object!.queueLengthMean - 1) < 0.1, `${name}: ${object!.queueLengthMean}`);
          if (rawKind === 'rwlock' || rawKind === 'join')
            t.is(model.entities[object!.holders[0]!.thread]!.name, 'keeps', rawKind);
        }
        program.child.kill('SIGTERM');
        t.is((await program.ended).stdout, 'ready\n0 passed, 0 came later\n');
      },
      ['each'],
    );
  },
);

needing('perf_event_open')('threads that come after that are seen, and the program’s end ends it', async (t) => {
  await withProgram(async (program, pid) => {
    const file = temporaryFile('outside.quartz');
    const attached = start(sampler, ['attach', '-q', '-o', file, pid]);
    await until('snapshots are taken', () => {
      try {
        return openModel(file).samples > 20;
      } catch {
        return false;
      }
    });
    program.child.kill('SIGUSR1');
    await pause(700);
    await isUnharmed(t, program, 1);
    const ended = await attached.ended;
    t.deepEqual([ended.status, ended.stderr], [0, '']);
    const model = openModel(file);
    t.is(model.head.status, 'complete');
    t.true(find(model, 'procedure', 'comes_later')!.processorTimeNs > 0);
    t.true(model.entities.some(({ kind, name }) => kind === 'thread' && /^comes_later/.test(name)));
  });
});

test.serial('what cannot be watched: one line says why, and what to do', async (t) => {
  const recording = start(sampler, ['record', '-q', '-o', temporaryFile('x.quartz'), '--', 'sleep', '100']);
  try {
    const refusals: [string, RegExp][] = [
      ['2147483647', /there is no such process; /],
      [String(recording.child.pid), /it is Quartz's own sampler; name the program /],
    ];
    for (const [pid, why] of refusals) {
      const said = await run(command, ['attach', '--seconds', '1', '-o', temporaryFile('no.quartz'), pid]);
      t.is(said.status, 125);
      t.regex(said.stderr, new RegExp(`^quartz: process \\d+ cannot be recorded: ${why.source}[^\n]*\n$`));
    }
  } finally {
    recording.child.kill('SIGTERM');
    await recording.ended;
  }
});

test.serial(
  'where the kernel gives neither samples nor memory, what is left is right, and the report says so',
  async (t) => {
    await withProgram(async (program, pid) => {
      const file = temporaryFile('denied.quartz');
      const denied = [`${root}/build/test/support/denied`, 'perf_event_open,process_vm_readv'] as const;
      const said = await run(denied[0], [denied[1], sampler, 'attach', '--seconds', '1', '-o', file, pid]);
      t.is(said.status, 0, said.stderr);
      t.regex(said.stderr, /; the kernel hides its memory and waits(,| from you) /);
      const model = openModel(file);
      t.deepEqual(
        model.notices.flatMap((notice) => (notice.form === 'forbidden' ? [notice.what] : [])),
        ['samples', 'memory-outside'],
      );
      t.true(model.notices.some((notice) => notice.form === 'outside' && !notice.holders));
      const off = Math.abs(model.root.processorTimeNs - model.head.cpuRunNs);
      t.true(off <= 0.02 * model.head.cpuRunNs + 30e6, `${off} of ${model.head.cpuRunNs} ns`);
      t.is(model.entities.filter(({ kind, members }) => kind === 'thread' && members.length === 0).length, 5);
      await isUnharmed(t, program, 0);
    });
  },
);

needing('root', 'tool:setpriv')("another user's process: one line says so", async (t) => {
  await withProgram(async (program, pid) => {
    const args = ['--reuid', '65534', '--clear-groups', sampler, 'attach', '-o', '/tmp/none.quartz', pid];
    const said = await run('setpriv', args);
    t.is(said.status, 125);
    t.regex(said.stderr, /^quartz: process \d+ cannot be recorded: it belongs to another user; [^\n]*\n$/);
    await isUnharmed(t, program, 0);
  });
});
