/** While nothing runs: what only a time limit ends, and what ends by itself. */
import test from 'ava';
import { buildModel } from '../../../../ts-frontend/src/model/index.js';
import { factsOf, ms, nameOf, waitingIn } from '../../../support/facts.js';
import type { Doing } from '../../../support/profile-builder.js';
import { ProfileBuilder as Builder, ready, run, wait } from '../../../support/profile-builder.js';
import { second } from '../../../support/example-profiles.js';

test('all threads wait and nobody could wake them: a time limit, reported with what is waited for', (t) => {
  const builder = new Builder({ processors: 2 });
  for (let k = 0; k < 50; k++)
    builder
      .stretch(0.005 * second, [run('w1', ['make']), run('w2', ['make']), wait('drain', ['drain', 'condition:full'])])
      .stretch(0.015 * second, [
        wait('w1', ['make', 'condition:room']),
        wait('w2', ['make', 'condition:room']),
        wait('drain', ['drain', 'condition:full']),
      ]);
  builder
    .object('condition:full', { contended: 50, acquisitions: 50 })
    .object('condition:room', { contended: 100, acquisitions: 100 });
  const model = buildModel(builder.build());
  const [finding] = model.findings;
  t.deepEqual([finding!.kind, finding!.name, finding!.change], ['dependency', 'room', 'wait-less']);
  t.is(ms(finding!.costNs), 750);
  const { waiting, waits } = factsOf(finding, 'nothing-runs');
  t.deepEqual(waitingIn(model, waiting), ['2 at room', '1 at full']);
  const full = waits.find(({ entity }) => nameOf(model, entity) === 'full');
  t.deepEqual([full!.count, ms(full!.meanNs)], [50, 20]);
});

test('gaps while threads wake each other are no time limit', (t) => {
  const builder = new Builder({ processors: 2, snapshotNs: 1e4 });
  for (let k = 0; k < 100; k++)
    builder
      .stretch(2e4, [run('a', ['ping']), wait('b', ['pong', 'condition:ball'])])
      .stretch(3e4, [wait('a', ['ping', 'condition:ball']), wait('b', ['pong', 'condition:ball'])]);
  builder.object('condition:ball', { contended: 1000, acquisitions: 1000 });
  t.false(buildModel(builder.build()).findings.some(({ facts }) => facts.form === 'nothing-runs'));
});

test('gaps while woken threads wait for CPUs that others have are no time limit; long ones are', (t) => {
  const gapsOf = (gapNs: number): boolean => {
    const builder = new Builder({
      processors: 2,
      head: { cpuRunNs: second, cpuWaitNs: 4 * second, cpuDispatches: 1000 },
    });
    for (let k = 0; k < 100; k++)
      builder
        .stretch(0.01 * second, [run('a', ['ping']), wait('b', ['pong', 'condition:ball'])])
        .stretch(gapNs, [wait('a', ['ping', 'condition:ball']), wait('b', ['pong', 'condition:ball'])]);
    builder.object('condition:ball', { contended: 200, acquisitions: 200 });
    return buildModel(builder.build()).findings.some(({ facts }) => facts.form === 'nothing-runs');
  };
  t.deepEqual([gapsOf(0.001 * second), gapsOf(0.02 * second)], [false, true]); // each waits 4 ms for a CPU
});

test('while a thread can run that had been in output, others wait for it, not for a time limit', (t) => {
  const limitsBeside = (thread: Doing): boolean => {
    const builder = new Builder({ processors: 2 });
    const waits = [wait('w1', ['take', 'condition:room']), wait('w2', ['take', 'condition:full'])];
    for (let k = 0; k < 50; k++)
      builder.stretch(0.005 * second, [run('main', ['add']), ...waits]).stretch(0.015 * second, [thread, ...waits]);
    for (const name of ['condition:room', 'condition:full', 'condition:added'])
      builder.object(name, { contended: 50, acquisitions: 50 });
    return buildModel(builder.build()).findings.some(({ facts }) => facts.form === 'nothing-runs');
  };
  t.deepEqual(
    [limitsBeside(ready('main', ['add', 'pwrite'])), limitsBeside(wait('main', ['add', 'condition:added']))],
    [false, true],
  );
});
