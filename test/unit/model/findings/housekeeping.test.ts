/** Waits of internal threads of run-time systems, and of their schedulers: they do not limit the program. */
import test from 'ava';
import { buildModel, type Model } from '../../../../ts-frontend/src/model/index.js';
import { Purpose } from '../../../../ts-frontend/src/model/profile/abi.js';
import { factsOf, ms, waitingIn } from '../../../support/facts.js';
import { prepareWaitOverlap, waitersBeside } from '../../../../ts-frontend/src/model/evidence/wait-overlap.js';
import { io, ProfileBuilder as Builder, run, wait } from '../../../support/profile-builder.js';

const second = 1e9;

/** A thread computes for half of the time; a scheduler polls at the same time (`beside`), or while nothing runs. */
function polls(beside: boolean, purposes: number): Model {
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread' } });
  builder.describe('findRunnable', { origin: 'runtime', purposes });
  builder.describe('epollwait', { origin: 'runtime' });
  const poll = io('worker', ['schedule', 'findRunnable', 'epollwait']);
  for (let k = 0; k < 10; k++) {
    const work = run('main', ['main', 'compute']);
    builder
      .stretch(0.05 * second, beside ? [work, poll] : [work])
      .stretch(0.05 * second, beside ? [work] : [poll])
      .stretch(0.01 * second, [run('worker', ['schedule', 'goexit', 'compute'])]);
  }
  return buildModel(builder.build());
}
const ofIo = (model: Model): Model['findings'] => model.findings.filter(({ facts }) => facts.form === 'io');

test('a scheduler that polls beside other work limits nothing; while nothing runs the program waits', (t) => {
  t.is(ofIo(polls(true, Purpose.handOver)).length, 0);
  t.is(ofIo(polls(true, 0)).length, 1); // a thread of the program in this state could work instead
  t.is(ms(ofIo(polls(false, Purpose.handOver))[0]!.costNs), 500);
  t.is(ofIo(polls(false, Purpose.housekeeping)).length, 0);
});

/** Two threads read for most of the time; three internal threads wait for work all the time. */
function reads(purposes: number): Model {
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread' } });
  builder.describe('read', { origin: 'runtime', purposes: Purpose.read });
  builder.describe('wait_for_operation', { purposes });
  const idle = ['c1', 'vm', 'gc'].map((name) => wait(name, ['start', 'wait_for_operation', 'futex:inside']));
  for (let k = 0; k < 10; k++)
    builder
      .stretch(0.08 * second, [
        io('a', ['fetch', 'read']),
        io('b', ['fetch', 'read']),
        wait('main', ['main', 'park', 'futex:inside']),
        ...idle,
      ])
      .stretch(0.02 * second, [
        run('a', ['fetch', 'parse']),
        io('b', ['fetch', 'read']),
        wait('main', ['main', 'park', 'futex:inside']),
        ...idle,
      ]);
  return buildModel(builder.build());
}

test('threads of a run-time that wait for work are not among those that wait for what limits the program', (t) => {
  const waitingFor = (model: Model): string[] => waitingIn(model, factsOf(ofIo(model)[0], 'io').held);
  t.deepEqual(waitingFor(reads(0)), ['4 at inside']);
  t.deepEqual(waitingFor(reads(Purpose.housekeeping)), ['1 at inside']);
});

/** One thread works, four wait for work from a run-time system. */
function besideWork(purposes: number): Model {
  const builder = new Builder({ processors: 4, head: { publisher: 'pthread' } });
  builder.describe('loop_of_runtime', { purposes });
  const names = ['a', 'b', 'c', 'd'];
  for (let k = 0; k < 40; k++)
    builder.stretch(0.025 * second, [
      run('main', ['main', 'compute']),
      ...names.map((name) => wait(name, ['start', 'loop_of_runtime', 'condition:work'])),
    ]);
  return buildModel(builder.build());
}

test('what such threads wait for is not waited for while code of the program runs', (t) => {
  const serial = (model: Model): number =>
    factsOf(
      model.findings.find(({ facts }) => facts.form === 'serial'),
      'serial',
    ).waiting?.threads ?? 0;
  t.is(Math.round(serial(besideWork(0))), 4);
  t.is(serial(besideWork(Purpose.housekeeping)), 0);
});

test('who waits for an object for which no thread of the program waits is not beside what runs', (t) => {
  const raw = new Builder({ processors: 2 })
    .stretch(second, [run('main', ['main', 'compute']), wait('w', ['main', 'work', 'condition:more'])])
    .object('condition:others', {})
    .build();
  const { stack, object, ns, waitersNs } = raw.waitOverlap;
  const others = raw.entities.findIndex(({ name }) => name === 'others');
  const withOthers = {
    ...raw,
    waitOverlap: {
      ...raw.waitOverlap,
      stack: Uint32Array.from([...stack, stack[0]!]),
      object: Uint32Array.from([...object, others]),
      ns: Float64Array.from([...ns, ns[0]!]),
      waitersNs: Float64Array.from([...waitersNs, waitersNs[0]!]),
    },
  };
  const overlap = prepareWaitOverlap(withOthers);
  const means = [...waitersBeside(overlap, [stack[0]!])].map(([id, mean]) => [raw.entities[id]?.name, mean]);
  t.deepEqual(means, [['more', 1]]);
});

test('the only thread with work comes before collection that surely saves less', (t) => {
  /** One thread has work, and waits for the collector's two now and then, which is most of what collecting costs. */
  const model = (collecting: number): Model => {
    const builder = new Builder({ processors: 2 });
    for (let k = 0; k < 20; k++)
      builder
        .stretch(0.03 * second, [run('main', ['main', 'parse']), wait('sweeper', ['sweep', 'condition:idle'])])
        .stretch(0.015 * second, [run('main', ['main', 'append']), run('other', ['main', 'print'])])
        .stretch(collecting * second, [wait('main', ['main', 'parse', 'condition:end']), run('GC Thread#0', ['mark'])])
        .stretch(0.012 * second, [wait('main', ['main', 'parse', 'condition:end'])]);
    return buildModel(builder.build());
  };
  const formsOf = ({ findings }: Model): (string | undefined)[] => findings.slice(0, 2).map(({ facts }) => facts.form);
  const near = model(0.012);
  t.deepEqual(formsOf(near), ['serial', 'collection']);
  const { savesNs, mostNs } = factsOf(near.findings[1], 'collection');
  t.true(savesNs < near.findings[0]!.savingNs && near.findings[0]!.savingNs < (savesNs + mostNs) / 2);
  t.deepEqual(formsOf(model(0.04)), ['collection', 'serial']);
});
