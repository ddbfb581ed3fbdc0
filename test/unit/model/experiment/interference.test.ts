/** Whether threads slow each other down: what fewer of them show, from profiles by hand. */
import test from 'ava';
import { buildModel, type Interference, type Model, type RawProfile } from '../../../../ts-frontend/src/model/index.js';
import { interferenceOf } from '../../../../ts-frontend/src/model/experiment/interference.js';
import { onOneCpu } from '../../../../ts-frontend/src/model/experiment/remedies.js';
import { ProfileBuilder, run } from '../../../support/profile-builder.js';

type Times = Readonly<Record<string, number>>;

/** A thread's own work in procedures, in seconds of processor time; two threads do it at the same time, or one. */
function worked(threads: number, times: Times, sharedLines: RawProfile['sharedLines'] = []): Model {
  const builder = new ProfileBuilder({ processors: 2, head: { runningSamples: 1000 } });
  const names = ['one', 'other'].slice(0, threads);
  for (const [procedure, seconds] of Object.entries(times))
    builder.stretch(
      (seconds * 1e9) / threads,
      names.map((name) => run(name, ['work', procedure])),
    );
  return buildModel({ ...builder.build(), sharedLines });
}
const ratio = (value: number, width = 0.02): Parameters<typeof interferenceOf>[1] => ({
  ratio: value,
  low: value - width,
  high: value + width,
});
const of = (before: Model, after: Model, value: number, width?: number): Interference | null =>
  interferenceOf('fewer-threads', ratio(value, width), before, after, null);

test('the same work takes less time with one thread: its procedure, and why', (t) => {
  const before = worked(2, { triad: 3, sum: 1 });
  const after = worked(1, { triad: 1.6, sum: 0.99 });
  const found = of(before, after, 2.6 / 4);
  t.is(found?.cause, 'memory');
  t.deepEqual(
    found?.procedures.map(({ name, beforeNs, afterNs }) => [name, Math.round(beforeNs), Math.round(afterNs)]),
    [['triad', 3e9, 1.6e9]],
  );
  t.is(before.entities[found!.procedures[0]!.entity]?.name, 'triad');
});

test('threads that write the same cache lines', (t) => {
  const times = { count: 3, sum: 1 };
  const plain = worked(2, times);
  const idOf = (kind: string, name: string): number =>
    plain.entities.find((one) => one.kind === kind && one.name === name)!.id;
  const by = ['one', 'other'].map((name, k) => ({
    samples: 400,
    written: 1 << k,
    read: 1 << k,
    locked: 0,
    thread: idOf('thread', name),
    procedure: idOf('procedure', 'count'),
  }));
  const before = worked(2, times, [{ address: 0x4040, variable: 'counts', samples: 800, turns: 400, by }]);
  t.like(of(before, worked(1, { count: 1, sum: 1 }), 0.5), { cause: 'lines', variable: 'counts' });
});

test('threads that hardly ever execute at the same time, since they have no CPUs, show nothing', (t) => {
  const times = { triad: 3, sum: 1 };
  t.is(of(worked(2, times), worked(1, times), 1)?.cause, 'none');
  const builder = new ProfileBuilder({ processors: 2, head: { runningSamples: 1000 } });
  for (let k = 0; k < 8; k++) builder.stretch(0.4e9, [run(k % 2 ? 'one' : 'other', ['work', 'triad'])]);
  builder.stretch(0.4e9, [run('one', ['work', 'sum']), run('other', ['work', 'sum'])]);
  t.is(of(buildModel(builder.build()), worked(1, times), 1), null);
});

test('nothing is claimed that the runs do not show', (t) => {
  const before = worked(2, { triad: 3, sum: 1 });
  const after = worked(1, { triad: 1.6, sum: 1 });
  t.is(interferenceOf('fewer-threads', null, before, after, null), null);
  t.is(of(before, after, 0.9, 0.2), null, 'too wide an interval');
  t.is(of(before, after, 1.2), null, 'more processor time');
  t.is(of(before, before, 0.7), null, 'the recorded runs contradict the others');
  t.like(of(before, before, 1), { cause: 'none', procedures: [] });
  // many procedures, each a little: none is named
  const many = (seconds: number): Times => Object.fromEntries(Array.from({ length: 40 }, (_, k) => [`p${k}`, seconds]));
  t.like(of(worked(2, many(0.1)), worked(1, many(0.07)), 0.7), { cause: 'unknown', procedures: [] });
});

test('time that threads spin, or that the kernel takes, is distinguished', (t) => {
  const before = worked(2, { triad: 2 }),
    after = worked(1, { triad: 1.9 });
  const spinning = (model: Model, spinningNs: number): Model => ({
    ...model,
    balance: { ...model.balance, spinningNs },
  });
  t.is(of(spinning(before, 1e9), spinning(after, 0), 0.6)?.cause, 'waiting');
  const usage = (model: Model, systemNs: number): Model => ({
    ...model,
    kernelUsage: {
      ns: 1e9,
      userNs: 0,
      systemNs,
      cpusUsed: 1,
      cpus: 2,
      switches: null,
      faults: { minor: 0, major: 0 },
      residentBytes: 0,
      calls: null,
      waits: null,
      threads: 2,
      threadsAtOnce: 2,
    },
  });
  t.is(of(usage(before, 3e8), usage(after, 1e8), 0.9)?.cause, 'kernel');
});

test('the same threads on one CPU: what was seen must say so, too', (t) => {
  const on = (allowed: number): Model => {
    const model = worked(2, { triad: 1 });
    return { ...model, cpuLimits: { ...model.cpuLimits!, allowed } };
  };
  const start = (words: string, environment: Record<string, string> = {}): Parameters<typeof onOneCpu>[0] => ({
    words: words.split(' '),
    environment,
  });
  const isIt = (changed: ReturnType<typeof start>, after: Model, before = on(2)): boolean =>
    onOneCpu(start('prog -t 8 in'), changed, before, after);
  t.true(isIt(start('taskset -c 0 prog -t 8 in'), on(1)));
  t.true(isIt(start('/usr/bin/taskset -c 1 prog -t 8 in'), on(1)));
  t.false(isIt(start('taskset -c 0,1 prog -t 8 in'), on(2)));
  t.false(isIt(start('taskset -c 0 prog -t 8 in'), on(2)), 'it had no effect');
  t.false(isIt(start('taskset -c 0 prog -t 8 in'), on(1), on(1)), 'it had one before');
  t.false(isIt(start('taskset -c 0 prog -t 4 in'), on(1)), 'another command');
  t.false(isIt(start('taskset -c 0 prog -t 8 in', { OMP_NUM_THREADS: '1' }), on(1)), 'another environment');
});
