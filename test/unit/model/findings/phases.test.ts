/** Phases of a program with different causes, on profiles made by hand. P = 2. */
import test from 'ava';
import { buildModel, type Model } from '../../../../ts-frontend/src/model/index.js';
import { factsOf, nameOf } from '../../../support/facts.js';
import { ProfileBuilder, ready, run, spin, wait, woken } from '../../../support/profile-builder.js';
import { second } from '../../../support/example-profiles.js';

const ms = (ns: number): number => Math.round(ns / 1e6);

test('pipelines of two phases are two findings, each with its own stages and queue', (t) => {
  const builder = new ProfileBuilder({ processors: 2, head: { publisher: 'pthread' } });
  const phase = (name: string, tenths: number): void => {
    const slow = run(`${name} slow`, ['start', `${name} encode`]);
    for (let k = 0; k < 10; k++)
      builder
        .stretch((tenths * second) / 250, [slow, run(`${name} fast`, ['begin', `${name} decode`])])
        .stretch((tenths * second) / 167, [slow, wait(`${name} fast`, ['begin', `channel:${name} queue`])]);
    builder.object(`channel:${name} queue`, { acquisitions: 100, contended: 10 });
  };
  phase('a', 5);
  phase('b', 10);
  const model = buildModel(builder.build());
  const found = model.findings.filter(({ kind }) => kind === 'pipeline');
  t.deepEqual(
    found.map((one) => {
      const { code, stage, next, objects, savesNs } = factsOf(one, 'slowest-stage');
      return [
        ...[code, stage.thread, next.thread, ...objects].map((id) => nameOf(model, id)),
        Math.round(savesNs / 1e7),
      ];
    }),
    [
      ['b encode', 'b slow', 'b fast', 'b queue', 30],
      ['a encode', 'a slow', 'a fast', 'a queue', 15],
    ],
  );
});

test('threads that lack a CPU on which another one spins for them do not run one at a time', (t) => {
  const loop = ['main', 'await', 'loop:filled'];
  const builder = new ProfileBuilder({
    processors: 2,
    head: { publisher: 'pthread', cpuRunNs: 2 * second, cpuWaitNs: second },
  });
  for (let k = 0; k < 20; k++)
    builder.stretch(second / 20, [
      (k % 2 ? run : ready)('fill#1', ['main', 'fill']),
      (k % 2 ? ready : run)('fill#2', ['main', 'fill']),
      spin('view', loop),
    ]);
  const { findings } = buildModel(builder.build());
  t.is(findings[0]?.kind, 'oversubscription');
  t.false(findings.some(({ kind }) => kind === 'serial'));
  t.is(ms(findings[0]!.savingNs), 333);
});

test('how much work there is for each wait is that of the phase in which those live who wait', (t) => {
  const stack = ['begin', 'consume', 'condition:full'];
  const recorded = (waits: number, others: readonly [string, string]): Model => {
    const [one, other] = others;
    return buildModel(
      new ProfileBuilder({ processors: 2, head: { publisher: 'pthread' } })
        .stretch(3 * second, [run(one, ['begin', 'hash']), run(other, ['begin', 'hash'])])
        .stretch(second, [
          run('w1', ['begin', 'produce']),
          { ...woken('w2', stack), state: 'useful' },
          wait('w3', stack),
        ])
        .object('condition:full', { contended: waits, acquisitions: waits })
        .build(),
    );
  };
  const found = ({ findings }: Model): string[] =>
    findings.filter(({ facts }) => facts.form === 'wake-ups').map(({ name }) => name);
  const model = recorded(60_000, ['x1', 'x2']);
  t.deepEqual(found(model), ['full']); // 33 us for each, 133 us in the whole program
  const { workNs } = factsOf(
    model.findings.find(({ facts }) => facts.form === 'wake-ups'),
    'wake-ups',
  );
  t.is(Math.round(workNs / 1000), 33);
  t.deepEqual(found(recorded(60_000, ['w2', 'w3'])), [], 'the same threads in both phases');
  t.deepEqual(found(recorded(6000, ['x1', 'x2'])), [], '333 us');
});

test('helpers of a run-time that wait for main now and then are no stages: what main does is serial', (t) => {
  const profile = (work: readonly string[]): Model => {
    const builder = new ProfileBuilder({ processors: 2, head: { publisher: 'pthread' } });
    for (let k = 0; k < 50; k++)
      for (const name of work)
        builder
          .stretch(second / 100, [run('main', ['main', 'run', name]), wait('helper', ['help', 'condition:given'])])
          .stretch(second / 2000, [run('main', ['main', 'run', name]), run('helper', ['help', 'collect'])]);
    builder.object('condition:given', { acquisitions: 100, contended: 100 });
    const raw = builder.build();
    const main = raw.entities.findIndex(({ kind, name }) => kind === 'thread' && name === 'main');
    for (const thread of raw.threads) if (thread.entity !== main) thread.creator = main;
    return buildModel(raw);
  };
  t.deepEqual(
    profile(['parse']).findings.map(({ kind, name }) => `${kind} ${name}`),
    ['serial parse'],
  );
  const model = profile(['parse', 'print']);
  t.is(model.findings[0]?.kind, 'serial');
  const { parts } = factsOf(model.findings[0], 'serial');
  t.true(model.findings.every(({ kind }) => kind !== 'pipeline'));
  t.deepEqual([model.findings[0]?.name, ...parts.map((id) => nameOf(model, id))].slice(-2), ['parse', 'print']);
});
