/** Programs and samplers that begin and end at unusual moments: attach, detach, kill, crash of either side. */
import test from 'ava';
import { existsSync, readFileSync } from 'node:fs';
import type { ExecutionContext } from 'ava';
import { skip } from '../../support/capabilities.js';
import { measure } from '../../known-answers/measures.js';
import { root } from '../../support/root.js';
import {
  attachTo,
  openModel,
  pause,
  record,
  sampler,
  start,
  startRecording,
  temporaryFile,
  underWay,
  until,
  type Started,
} from '../../support/record.js';
import type { Entity, Model } from '../../../ts-frontend/src/model/index.js';

const endless = `${root}/build/test/known-answers/threadlib-programs/endless`;
const processors = { QUARTZ_PROCESSORS: '4' };

/** The share of an entity of `endless`, in which half the time is charged to `alone` and half to `together`. */
function isHalf(t: ExecutionContext, model: Model, name: string, parallelism: number): void {
  const entity = model.entities.find((one) => one.kind === 'procedure' && one.name === name);
  if (!entity) {
    t.fail(`${name} is not in the profile`);
    return;
  }
  for (const [metric, truth] of [
    ['npt', 0.5],
    ['parallelism', parallelism],
  ] as const) {
    const { value, tolerance } = measure(model, entity, metric, truth);
    t.true(Math.abs(value - truth) <= tolerance, `${metric} of ${name} is ${value}, not ${truth} within ${tolerance}`);
  }
}
function isEndless(t: ExecutionContext, model: Model): void {
  isHalf(t, model, 'alone', 1);
  isHalf(t, model, 'together', 4);
}

const runs = (started: Started): boolean => started.child.exitCode === null && started.child.signalCode === null;

test.serial('what no snapshot met is in the profile: calls too deep for a stack, of a program seen once', async (t) => {
  const overflow = `${root}/build/test/known-answers/threadlib-programs/overflow`;
  const { status, model } = await record(overflow, { processors: 4, rateHz: 1 });
  t.is(status, 0);
  t.true(model.head.stackOverflows > 0);
});

test.serial('a program waits for a sampler that has no CPU for some seconds: it is seen all the same', async (t) => {
  const waits = async (name: string): Promise<void> => {
    const recording = startRecording('sh', {
      args: ['-c', 'kill -STOP $PPID; exec "$0"', `${root}/build/test/${name}`],
    });
    const { pid } = recording.child;
    try {
      await until('the sampler is stopped', () => /^State:\s*T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')));
      await pause(4000);
    } finally {
      recording.child.kill('SIGCONT');
    }
    const { status, stderr } = await recording.ended;
    const model = openModel(recording.file);
    t.true(status === 0 || status === 3, stderr);
    t.notRegex(stderr, /unsampled/);
    t.true(model.entities.some(({ processorTimeNs, id }) => id !== 0 && processorTimeNs > 0));
  };
  await Promise.all(['known-answers/threadlib-programs/counts', 'end-to-end/pthread-layer/lock'].map(waits));
});

test.serial(
  'a launched program is seen from before main, and in one recording whatever qz_init says when',
  async (t) => {
    const recording = startRecording(`${root}/build/test/known-answers/threadlib-programs/late_init`);
    const ended = await recording.ended;
    t.is(ended.status, 0, ended.stderr);
    const model = openModel(recording.file);
    t.true(model.head.firstNs <= Number(ended.stdout), `sampling began before main did\n${ended.stderr}`);
    t.is(model.processors, 3);
    const find = (name: string): Entity => model.entities.find((one) => one.kind === 'procedure' && one.name === name)!;
    t.deepEqual([find('early').calls, find('part').calls], [1, 3]);
    const early = find('early');
    t.true(early.processorTimeNs > 0 && early.parallelism === 1);
    t.true(
      Math.abs(early.idlenessNs - 2 * early.processorTimeNs) <= 1e-6 * early.idlenessNs,
      'while it ran, the two processors to come were idle',
    );
  },
);

test.serial(
  'attach to a running program, detach, attach again: stacks are right from then on, the program runs on',
  async (t) => {
    const program = start(endless, [], processors);
    try {
      await until('the program is ready', () => program.stdout().includes('ready'));
      for (let round = 0; round < 2; round++) {
        const { model, status, stderr } = await attachTo(program.child.pid!, 400);
        t.is(status, 0, stderr);
        t.true(model.head.attached);
        t.deepEqual([model.head.status, model.head.endReason], ['cut', 'interrupted']);
        isEndless(t, model);
        t.true(runs(program), 'the program runs on');
        await pause(50);
      }
    } finally {
      program.child.kill('SIGKILL');
      await program.ended;
    }
  },
);

test.serial('attach while a spawned call runs on its parent’s stack: the time is that of its own thread', async (t) => {
  const task = `${root}/build/test/known-answers/threadlib-programs/task_under_way`;
  const program = start(task, [], { QUARTZ_PROCESSORS: '1' });
  try {
    await until('the program is ready', () => program.stdout().includes('ready'));
    const { model, status, stderr } = await attachTo(program.child.pid!, 400);
    t.is(status, 0, stderr);
    const time = (kind: string, name: string): number =>
      model.entities.find((one) => one.kind === kind && one.name === name)?.processorTimeNs ?? 0;
    t.true(time('procedure', 'part') > 0);
    t.true(time('thread', 'inner') > 0.9 * time('procedure', 'part'), 'part is called by the thread inner');
    t.is(time('thread', 'main'), 0);
  } finally {
    program.child.kill('SIGKILL');
    await program.ended;
  }
});

test.serial('a program that is killed leaves a good profile', async (t) => {
  const recording = startRecording(endless, { processors: 4 });
  await underWay(recording.file, 400);
  process.kill(openModel(recording.file).head.pid, 'SIGKILL');
  const ended = await recording.ended;
  t.is(ended.status, 128 + 9, ended.stderr);
  const model = openModel(recording.file);
  t.deepEqual([model.head.status, model.head.endReason, model.head.exitStatus], ['complete', 'signal', 9]);
  isEndless(t, model);
});

test.serial('a sampler that is killed leaves a good profile and an unharmed program', async (t) => {
  const recording = startRecording(endless, { processors: 4 });
  await underWay(recording.file, 400);
  const { pid } = openModel(recording.file).head;
  recording.child.kill('SIGKILL');
  await new Promise((resolve) => {
    recording.child.once('exit', resolve);
  });
  try {
    const model = openModel(recording.file);
    t.is(model.head.status, 'abandoned');
    isEndless(t, model);
    await pause(200);
    t.notThrows(() => process.kill(pid, 0), 'the program still runs');
    // It can be recorded again.
    const again = await attachTo(pid, 200);
    t.is(again.status, 0, again.stderr);
    isEndless(t, again.model);
  } finally {
    process.kill(pid, 'SIGKILL');
  }
});

test.serial(
  'SIGINT to the sampler alone ends recording, keeps the profile, and is passed on to the program',
  async (t) => {
    const recording = startRecording(endless, { processors: 4 });
    await underWay(recording.file, 400);
    recording.child.kill('SIGINT');
    t.is((await recording.ended).status, 128 + 2);
    const model = openModel(recording.file);
    t.deepEqual([model.head.status, model.head.endReason], ['cut', 'interrupted']);
    isEndless(t, model);
  },
);

test.serial('a sampler that gets no CPU while the program ends: the profile has all of its time', async (t) => {
  const bursts = `${root}/build/test/end-to-end/pthread-layer/bursts`;
  const recording = startRecording(bursts, { args: ['3', '1', '3000', '1000', '1'] });
  await underWay(recording.file, 20);
  const { pid } = openModel(recording.file).head;
  const stateOf = (process: number): string =>
    existsSync(`/proc/${process}`)
      ? (/^State:\s*(\w)/m.exec(readFileSync(`/proc/${process}/status`, 'utf8'))?.[1] ?? 'gone')
      : 'gone';
  recording.child.kill('SIGSTOP');
  try {
    await until('the sampler has stopped, or ended', () => /^(T|gone|Z)/.test(stateOf(recording.child.pid!)));
    if (/^(gone|Z)/.test(stateOf(pid))) {
      skip(t, 'other programs had the CPUs');
      return;
    }
    await until('the program has ended', () => stateOf(pid) === 'Z');
    await pause(300); // which is not part of the run
  } finally {
    recording.child.kill('SIGCONT');
  }
  const { status, stdout, stderr } = await recording.ended;
  t.is(status, 0, stderr);
  const model = openModel(recording.file);
  t.is(model.head.status, 'complete');
  const truth = Number(/^process (\d+)$/m.exec(stdout)![1]);
  const reported = model.root.processorTimeNs + model.root.states.spinning.ns;
  t.true(
    Math.abs(reported - truth) <= 0.02 * truth,
    `${reported / 1e6} ms reported, ${truth / 1e6} by the process's clock`,
  );
  t.true(model.elapsedNs >= 2.98e9 && model.elapsedNs <= model.head.usageNs, `${model.elapsedNs / 1e6} ms of 3 s`);
});

test.serial('while the program runs, a static lock has the name that it has in the end', async (t) => {
  const file = temporaryFile('live.quartz');
  const program = `${root}/build/test/end-to-end/sampler/unprepared`;
  const recording = start(sampler, ['record', '-q', '-o', file, '--', program]);
  const locks = (): string[] =>
    openModel(file)
      .entities.filter(({ rawKind }) => rawKind === 'mutex')
      .map(({ name }) => name);
  try {
    await until('the program is ready', () => recording.stdout().includes('ready'));
    await until('the lock is seen', () => locks().length > 0);
    t.is(openModel(file).head.status, 'recording');
    t.true(locks().includes('door'), locks().join());
  } finally {
    recording.child.kill('SIGTERM');
    await recording.ended;
  }
  t.true(locks().includes('door'), locks().join());
});
