/** Each problem of the paper's Table 2, and programs that only look like it. */
import test from 'ava';
import { buildModel } from '../../../../ts-frontend/src/model/index.js';
import { ProfileBuilder as Builder, io, ready, run, spin, wait } from '../../../support/profile-builder.js';
import * as examples from '../../../support/example-profiles.js';
import { second } from '../../../support/example-profiles.js';
import { factsOf, nameOf, namesOf } from '../../../support/facts.js';
import { close, first, kinds } from '../expected.js';

test('one thread with more work beside others with another procedure', (t) => {
  first(t, examples.longBesideParallel(), { kind: 'imbalance', entity: 'a', change: 'balance', cost: 1, saving: 0.75 });
});

test('lock contention, blocked', (t) => {
  const finding = first(t, examples.lockRing(wait), {
    kind: 'lock-contention',
    entity: 'ring',
    change: 'wait-less',
    cost: 1,
    saving: 0.75,
  });
  t.deepEqual(kinds(buildModel(examples.lockRing(wait).build())), ['lock-contention']);
  t.is(nameOf(finding.model, factsOf(finding, 'lock').holder), 'pass');
});

test('lock contention, spinning', (t) => {
  const finding = first(t, examples.lockRing(spin), {
    kind: 'spinning',
    entity: 'ring',
    change: 'wait-less',
    cost: 1,
    saving: 0.75,
  });
  t.deepEqual(finding.processorUse, { busy: 1, spinning: 3, idle: 0 });
});

test('spinning while threads are ready: block instead', (t) => {
  const builder = new Builder({ processors: 4 });
  builder
    .stretch(second, [
      run('a', ['main', 'mutex:m']),
      ...['b', 'c', 'd'].map((name) => spin(name, ['main', 'mutex:m'])),
      ...['e', 'f', 'g'].map((name) => ready(name, ['main', 'other'])),
    ])
    .object('mutex:m', { acquisitions: 10, contended: 9 });
  first(t, builder, { kind: 'spinning', entity: 'm', change: 'block-instead-of-spin', cost: 1, saving: 0.75 });
});

test('waiters of a lock cost nothing while all processors are busy', (t) => {
  const builder = new Builder({ processors: 2 });
  builder.stretch(second, [
    run('a', ['main', 'mutex:m']),
    run('b', ['main', 'work']),
    ...['c', 'd', 'e'].map((name) => wait(name, ['main', 'mutex:m'])),
  ]);
  t.false(kinds(buildModel(builder.build())).includes('lock-contention'));
});

test('a lock that explains only part of the loss leaves the rest to the serial code', (t) => {
  const builder = new Builder({ processors: 4 });
  builder.stretch(second, [run('main', ['main', 'setup'])]);
  for (let turn = 0; turn < 100; turn++)
    builder.stretch(
      second / 100,
      [0, 1, 2, 3].map((k) =>
        k === turn % 4 ? run(`w#${k}`, ['main', 'work', 'mutex:m']) : wait(`w#${k}`, ['main', 'work', 'mutex:m']),
      ),
    );
  const { findings } = buildModel(builder.object('mutex:m', { acquisitions: 100, contended: 99 }).build());
  t.deepEqual(findings.map((one) => [one.kind, one.name]).sort(), [
    ['lock-contention', 'm'],
    ['serial', 'setup'],
  ]);
  for (const finding of findings) close(t, finding.kind, finding.savingNs, 0.75);
});

test('unbalanced pipeline', (t) => {
  // 10 of 19 units of work are in one stage, the next has 4, and the best that four processors could do is 19/4.
  const finding = first(t, examples.pipeline(), {
    kind: 'pipeline',
    entity: 'optimize',
    change: 'balance',
    saving: (10 - 4.75) / 10,
  });
  const { stage, next } = factsOf(finding, 'slowest-stage');
  t.deepEqual(namesOf(finding.model, [stage.thread, next.thread]), ['optimizer', 'generator']);
});

test('a stage with a thread for each processor is not to be divided among more: its code limits', (t) => {
  const { findings } = buildModel(examples.searchers().build());
  t.deepEqual(findings.map(({ kind, name }) => [kind, name])[0], ['optimize', 'search']);
  t.false(findings.some(({ facts }) => facts.form === 'slowest-stage'));
});

test('starvation: too few threads', (t) => {
  first(t, examples.starvation(), {
    kind: 'starvation',
    entity: 'compute',
    change: 'create-parallelism',
    cost: 1,
    saving: 0.5,
  });
});

test('starvation: a pipeline with few items', (t) => {
  const { findings } = buildModel(examples.starvedPipeline().build());
  t.deepEqual([findings[0]!.kind, findings[0]!.change], ['starvation', 'finer-grain']);
  close(t, 'saving', findings[0]!.savingNs, 0.5); // 6 steps instead of 3
});

test('unbalanced data decomposition', (t) => {
  first(t, examples.unbalancedData(), {
    kind: 'imbalance',
    entity: 'busy',
    change: 'balance',
    cost: 0.75,
    saving: 0.75 * 0.75,
  });
});

for (const [name, how] of [
  ['blocking', wait],
  ['spinning', spin],
] as const)
  test(`barrier imbalance, ${name}`, (t) => {
    const finding = first(t, examples.barrierImbalance(how), {
      kind: 'imbalance',
      entity: 'step',
      change: 'balance',
      cost: 2 / 3,
      saving: 0.5,
    });
    t.is(nameOf(finding.model, factsOf(finding, 'uneven-division').slowest!.thread), 'slow');
  });

test('serial code while the others wait at a barrier', (t) => {
  const builder = new Builder({ processors: 4 });
  const others = ['w#1', 'w#2', 'w#3'];
  for (let round = 0; round < 10; round++)
    builder
      .stretch(second / 20, [
        run('w#0', ['main', 'solve', 'merge']),
        ...others.map((name) => wait(name, ['main', 'solve', 'barrier:step'])),
      ])
      .stretch(
        second / 20,
        ['w#0', ...others].map((name) => run(name, ['main', 'solve', 'relax'])),
      );
  first(t, builder, { kind: 'serial', entity: 'merge', change: 'create-parallelism', cost: 0.5, saving: 0.375 });
});

test('input that is not overlapped', (t) => {
  first(t, examples.unoverlappedIo(), {
    kind: 'io',
    entity: 'read_block',
    change: 'overlap-io',
    cost: 0.5,
    saving: 0.5,
  });
});

test('input that is overlapped, and a thread that only waits for requests', (t) => {
  const { findings } = buildModel(examples.overlappedIo().build());
  t.deepEqual(
    findings.map((one) => [one.kind, one.name]),
    [['optimize', 'compute']],
  );
  const server = new Builder({ processors: 4 }).stretch(second, [
    io('accept', ['main', 'accept_loop']),
    run('a', ['main', 'serve']),
  ]);
  t.deepEqual(
    kinds(buildModel(server.build())).filter((kind) => kind === 'io'),
    [],
  );
});

test('grain too fine', (t) => {
  first(t, examples.fineGrain(), { kind: 'overhead', entity: 'batch', change: 'coarsen', cost: 0.5, saving: 0.45 });
});

test('threads too small to be handed over: ready threads beside an idle processor', (t) => {
  const builder = new Builder({ processors: 2, head: { spawns: 1e6 } }).stretch(second, [
    run('main', ['main', 'batch']),
    ...['x#1', 'x#2', 'x#3'].map((name) => ready(name, ['main', 'batch', 'tiny'])),
  ]);
  first(t, builder, { kind: 'overhead', entity: 'batch', change: 'coarsen', cost: 1, saving: 0.5 });
});

test('a dependency between iterations', (t) => {
  first(t, examples.dependency(), { kind: 'dependency', entity: 'turn', change: 'wait-less', cost: 1, saving: 0.75 });
});

test('serial logging is named, however deep and wherever called, though it is 2 % of the processor time', (t) => {
  const model = buildModel(examples.verify().build());
  const logging = model.entities.find((entity) => entity.name === 'log_gate')!;
  t.true(logging.processorTimeNs / model.root.processorTimeNs < 0.02);
  const finding = model.findings[0]!;
  t.is(finding.kind, 'serial');
  t.true(['log_gate', 'print'].includes(finding.name));
  close(t, 'cost', finding.costNs, 2.9);
  t.deepEqual(model.findings[1]!.name, 'input');
});
