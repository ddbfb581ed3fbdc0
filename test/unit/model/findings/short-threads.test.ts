/** Threads that are made for hardly any work, on profiles made by hand (publisher pthread). */
import test from 'ava';
import { buildModel, type Model } from '../../../../ts-frontend/src/model/index.js';
import { Purpose } from '../../../../ts-frontend/src/model/profile/abi.js';
import { shortOf } from '../../../../ts-frontend/src/model/evidence/threads/short-lived.js';
import { ThreadRoles } from '../../../../ts-frontend/src/model/metrics/thread-roles.js';
import { factsOf } from '../../../support/facts.js';
import { io, ProfileBuilder, ready, run, wait } from '../../../support/profile-builder.js';
import { second } from '../../../support/example-profiles.js';

test('threads that are made for hardly any work: at least what making them takes', (t) => {
  const recorded = (spawns: number): Model['findings'][number] | undefined =>
    buildModel(
      new ProfileBuilder({ processors: 2, head: { publisher: 'pthread', spawns } })
        .stretch(second, [
          wait('main', ['main', 'join']),
          run('task#1', ['main', 'task']),
          run('task#2', ['main', 'task']),
        ])
        .build(),
    ).findings.find(({ kind }) => kind === 'overhead');
  const many = recorded(40_000)!;
  t.deepEqual(
    [many.name, many.change, Math.round(many.costNs / 1e6), Math.round(many.savingNs / 1e6)],
    ['task', 'coarsen', 200, 180],
  );
  const { spawns, workNs, savesNs, mostNs } = factsOf(many, 'short-threads');
  t.deepEqual([savesNs, mostNs], [180e6, 180e6], 'two processors are busy with their work all the time');
  t.deepEqual([spawns, workNs], [40_000, 50_000]);
  t.is(recorded(8_000), undefined, '250 us for each are worth a thread');
});

test('threads that are made for hardly any work: what one thread that does it itself saves', (t) => {
  const recorded = (creator: 'blocked' | 'io'): Model['findings'][number] =>
    buildModel(
      new ProfileBuilder({ processors: 2, head: { publisher: 'pthread', spawns: 5000 } })
        .stretch(second / 4, [run('task#1', ['main', 'task']), wait('main', ['main', 'join'])])
        .stretch(
          (3 * second) / 4,
          creator === 'blocked'
            ? [wait('main', ['main', 'join'])]
            : [wait('main', ['main', 'join']), io('task#1', ['task'])],
        )
        .build(),
    ).findings.find(({ kind }) => kind === 'overhead')!;
  const { inlineNs, savesNs, mostNs } = factsOf(recorded('blocked'), 'short-threads');
  t.deepEqual([inlineNs, savesNs, mostNs], [second / 4, (3 * second) / 4, (7 * second) / 8]);
  t.is(factsOf(recorded('io'), 'short-threads').inlineNs, null, 'threads that sleep beside each other');
});

/** One thread makes 2,500 others, which mostly wait for a CPU that another program has. */
function madeBesideOthers(makesIn: string): Model {
  const making = ['main', makesIn];
  const builder = new ProfileBuilder({
    processors: 2,
    head: { publisher: 'pthread', spawns: 2_500, cpuRunNs: 0.8 * second, cpuWaitNs: 1.4 * second },
  });
  builder.describe(makesIn, { origin: 'runtime', purposes: Purpose.threadMaking });
  return buildModel(
    builder
      .stretch(0.6 * second, [
        { ...run('main', making), kernel: 'memory' },
        ready('task#1', ['task']),
        ready('task#2', ['task']),
      ])
      .stretch(0.2 * second, [run('task#1', ['task']), ready('task#2', ['task']), wait('main', ['main', 'join'])])
      .build(),
  );
}

test('threads that are made for hardly any work and wait for a CPU: their work is what they ran', (t) => {
  const { findings } = madeBesideOthers('pthread_create');
  const forms = findings.map(({ facts }) => (facts.form === 'kernel-work' ? facts.work : facts.form));
  t.is(forms[0], 'short-threads');
  t.false(forms.includes('memory'), 'mapping their stacks belongs to them');
  const { workNs, kernelNs } = factsOf(findings[0], 'short-threads');
  t.is(workNs, 80_000);
  t.true(kernelNs! > 0.25 * second && kernelNs! <= 0.6 * second, String(kernelNs));
});

test('threads that are made for hardly any work, beside others: by kind, and while only they live', (t) => {
  const recorded = (spawns: number, work: number): Model =>
    buildModel(
      new ProfileBuilder({ processors: 2, head: { publisher: 'pthread', spawns } })
        .stretch(second / 100, [run('main', ['main'])])
        .stretch(work * second, [run('pool#1', ['work']), run('pool#2', ['work']), wait('main', ['main', 'join'])])
        .stretch(second / 10, [run('task#1', ['task']), wait('main', ['main', 'join'])])
        .stretch(second / 4, [wait('main', ['main', 'join'])])
        .stretch(second / 10, [run('task#2', ['task']), wait('main', ['main', 'join'])])
        .build(),
    );
  const finding = recorded(2002, 1).findings.find(({ kind }) => kind === 'overhead');
  const { spawns, workNs, inlineNs } = factsOf(finding, 'short-threads');
  t.deepEqual([finding!.name, spawns, workNs], ['task', 2000, 1e5]);
  const { savesNs, mostNs } = factsOf(finding, 'short-threads');
  t.deepEqual(
    [savesNs, mostNs].map((ns) => Math.round(ns / 1e6)),
    [250, 355],
    'and half of their work',
  );
  t.is(Math.round(inlineNs! / 1e6), 1210, 'all but the time in which nothing runs');
  t.is(recorded(1002, 1).findings.filter(({ facts }) => facts.form === 'short-threads').length, 0, '200 us for each');
});

test('threads that no snapshot saw are like those of all kinds that live for a moment', (t) => {
  const builder = new ProfileBuilder({ processors: 2, head: { publisher: 'pthread', spawns: 4000 } });
  for (let k = 0; k < 1000; k++)
    builder.stretch(k === 500 ? second / 2000 : second / 1000, [
      wait('main', ['main', 'join']),
      run(k === 500 ? 'odd' : `task#${k + 1}`, ['main', 'task']),
    ]);
  // 250 us for each: the single one of another name does not stand for the 3,000 that were not seen
  const model = buildModel(builder.build());
  const short = shortOf(model, new ThreadRoles(model.raw, new Uint32Array(model.entities.length)));
  t.true((short?.spawns ?? 0) < 10, `${short?.spawns} threads`);
});
