/** Locks that are handed over, or taken, all the time. P = 2 and kernel threads (publisher pthread) throughout. */
import test from 'ava';
import { buildModel, type Model } from '../../../../ts-frontend/src/model/index.js';
import { factsOf, nameOf, namesOf } from '../../../support/facts.js';
import { inKernel, io, ProfileBuilder, run, wait } from '../../../support/profile-builder.js';
import { second } from '../../../support/example-profiles.js';

const builder = (): ProfileBuilder =>
  new ProfileBuilder({ processors: 2, head: { publisher: 'pthread', cpuRunNs: 2 * second, cpuWaitNs: 2 * second } });
const near = (ns: number, seconds: number): boolean => Math.abs(ns / second - seconds) < 0.005;

/**
 * Two threads and one lock: for half of the time one of them is in calls that wait and wake, including the lock's code.
 */
const handedOn = (count: number, head: object = {}, work: 'futex' | 'lock' | 'none' = 'futex'): Model => {
  const held = ['main', 'update', 'mutex:m'];
  return buildModel(
    new ProfileBuilder({ processors: 2, head: { publisher: 'pthread', ...head } })
      .stretch(0.5 * second, [run('w1', held), inKernel(work, 'w2', held)])
      .stretch(0.5 * second, [run('w1', held), wait('w2', held)])
      .object('mutex:m', { contended: count, acquisitions: 2 * count })
      .call('update', 'mutex:m', 2 * count)
      .build(),
  );
};

test('a lock that is handed on all the time: once, with what all of it takes, before the code that it slows', (t) => {
  for (const work of ['futex', 'lock'] as const) {
    const model = handedOn(400_000, {}, work);
    const [first, ...others] = model.findings;
    const { objects, waits, handingShare, leastNs, mostNs } = factsOf(first, 'hand-overs');
    t.deepEqual([first?.kind, first?.name, namesOf(model, objects)], ['overhead', 'm', ['m']]);
    t.deepEqual(waits, { count: 400_000, workNs: 3750 });
    t.true(Math.abs(handingShare - 1 / 3) < 1e-9);
    // One works at a time, although two could: half of the time is saved; what one does while the other hands over may
    // be waiting.
    t.true(near(leastNs, 0.5) && near(mostNs, 0.75) && near(first!.savingNs, 0.625));
    t.false(others.some(({ facts }) => facts.form === 'lock' || facts.form === 'wake-ups'));
  }
});

test('a lock that is handed on: what free locks take, and what recording adds, is not saved', (t) => {
  const head = { freeLockPs: 50_000, lockLeastPs: 0, lockMostPs: 25_000, waitPs: 100_000 };
  const { leastNs, mostNs } = factsOf(handedOn(100_000, { ...head, freeLockPs: 500_000 }).findings[0], 'hand-overs');
  // Of 0.5 s in the lock, 0.1 to 0.105 s remain; recording adds 0.1 µs to each of 100,000 waits; each hand-over may
  // move 2 µs of data.
  t.true(near(mostNs, 0.55) && near(leastNs, 0.4475 - 0.01), `${leastNs} ${mostNs}`);
});

test('a lock that is handed on: what recording adds to it is taken off once, not by the compensation, too', (t) => {
  const free = factsOf(handedOn(100_000, { freeLockPs: 500_000 }).findings[0], 'hand-overs');
  const recorded = handedOn(100_000, { lockLeastPs: 500_000, lockMostPs: 500_000 });
  t.true(recorded.compensation.processorTimeNs > 0.09 * second);
  const { leastNs, mostNs, handingShare } = factsOf(recorded.findings[0], 'hand-overs');
  t.true(near(leastNs, free.leastNs / second) && near(mostNs, free.mostNs / second));
  t.true(Math.abs(handingShare - free.handingShare) < 1e-9);
});

test('a lock whose holders sleep is not handed on, however little else the program does', (t) => {
  const held = ['main', 'update', 'futex:lock at a.rs:8'];
  for (const contended of [0, 40])
    t.deepEqual(
      buildModel(
        new ProfileBuilder({
          processors: 2,
          head: { publisher: 'pthread', switchesKnown: true, voluntarySwitches: 80, involuntarySwitches: 0 },
        })
          .stretch(2e5, [inKernel('futex', 'w2', held)])
          .stretch(0.4 * second, [io('w1', ['main', 'update']), wait('w2', held)])
          .object('futex:lock at a.rs:8', { contended, acquisitions: 80 })
          .build(),
      )
        .findings.map(({ facts }) => facts.form)
        .filter((form) => form === 'hand-overs'),
      [],
    );
});

test('a lock whose waiters sleep long, or in whose calls hardly any time goes, is not handed on', (t) => {
  const isReported = (model: Model): boolean => model.findings.some(({ facts }) => facts.form === 'hand-overs');
  t.true(isReported(handedOn(400_000)));
  t.false(isReported(handedOn(10)));
  t.false(isReported(handedOn(400_000, {}, 'none')));
});

/** Two threads that look something up under one lock all the time, with that share of the time in the lock's code. */
const lookedUp = (times: number, inLock: number, waits = 0): Model => {
  const held = ['main', 'look', 'rwlock:table'];
  return buildModel(
    new ProfileBuilder({
      processors: 2,
      head: { publisher: 'pthread', freeLockPs: 6000, lockLeastPs: 0, lockMostPs: 10_000 },
    })
      .stretch(inLock * second, [inKernel('lock', 'w1', held), inKernel('lock', 'w2', held)])
      .stretch((1 - inLock) * second, [run('w1', held), run('w2', held)])
      .object('rwlock:table', { contended: waits, acquisitions: times })
      .call('look', 'rwlock:table', times)
      .build(),
  );
};

test('a lock that is taken all the time, though nobody waits for it: before the code that it slows', (t) => {
  const model = lookedUp(10_000_000, 0.6);
  const [first, second_] = model.findings;
  const facts = factsOf(first, 'lock-churn');
  t.deepEqual([first?.kind, first?.name, nameOf(model, facts.by)], ['overhead', 'table', 'look']);
  const { times, waits, freeNs, eachNs } = facts.counts!;
  t.deepEqual([times, waits, freeNs], [10_000_000, 0, 6]);
  // Of 1.2 s of processor time recording has added up to 0.1 s.
  t.true(Math.abs(eachNs - 115) < 0.1 && Math.abs(facts.share - 1.15 / 1.95) < 1e-3, JSON.stringify(facts));
  t.true(near(facts.mostNs, 0.54) && near(facts.leastNs, 0.495));
  t.true(second_ === undefined || second_.kind === 'optimize');
  t.deepEqual(
    model.notices.filter(({ form }) => form === 'lock-churn'),
    [],
    'it is reported once',
  );
});

test('a lock that is taken often is not what costs where little time goes into it, or its waiters sleep', (t) => {
  const isReported = (model: Model): boolean => model.findings.some(({ facts }) => facts.form === 'lock-churn');
  t.true(isReported(lookedUp(10_000_000, 0.6)));
  t.false(isReported(lookedUp(10_000_000, 0.05)), 'recording adds as much');
  t.false(isReported(lookedUp(500_000, 0.6)), 'once in 4 us');
  t.false(isReported(lookedUp(10_000_000, 0.6, 1_000_000)), 'that is reported as waiting');
});

test('code of locks that nobody waits for is no waking, however few other switches there were', (t) => {
  const held = ['main', 'look', 'rwlock:table'];
  const head = { switchesKnown: true, voluntarySwitches: 3, involuntarySwitches: 0, cpuRunNs: 2 * second };
  const model = buildModel(
    new ProfileBuilder({ processors: 2, head: { publisher: 'pthread', ...head } })
      .stretch(0.99 * second, [inKernel('lock', 'w1', held), inKernel('lock', 'w2', held)])
      .stretch(0.01 * second, [run('w1', held), wait('w2', ['main', 'futex:inside a library'])])
      .object('rwlock:table', { contended: 0, acquisitions: 10_000_000 })
      .build(),
  );
  t.is(model.findings[0]?.facts.form, 'lock-churn');
  t.false(model.findings.some(({ facts }) => facts.form === 'wake-ups'));
});

test("locks of Go's run-time library, which nobody counts: who takes them is reported", (t) => {
  const recorded = (slow: string): Model =>
    buildModel(
      builder()
        .describe(slow, { origin: 'runtime' })
        .stretch(0.3 * second, [
          inKernel('lock', 'w1', ['main.work', 'main.look', slow]),
          run('w2', ['main.work', 'main.look']),
        ])
        .stretch(0.7 * second, [run('w1', ['main.work', 'main.look']), run('w2', ['main.work', 'main.look'])])
        .build(),
    );
  const [first] = recorded('sync.(*Mutex).lockSlow').findings;
  const { counts, by, share } = factsOf(first, 'lock-churn');
  t.deepEqual([first?.name, counts, by, share], ['main.look', null, first?.entity, 0.15]);
  t.true(near(first!.costNs, 0.15) && near(first!.savingNs, 0.135));
  t.false(recorded('pthread_cond_wait').findings.some(({ facts }) => facts.form === 'lock-churn'));
});

test("Go's channels, and its scheduler between them: values are passed on one by one; collection is not that", (t) => {
  const below = ['threadentry', 'runtime.mcall', 'runtime.schedule', 'runtime.nanotime'];
  const recorded = (name: string): Model => {
    const sending = ['main.main', name, 'runtime.lock2'];
    const made = builder().stretch(second, [run('w1', below), run('w2', sending)]);
    for (const one of [...below.slice(1), ...sending.slice(1)]) made.describe(one, { origin: 'runtime' });
    return buildModel(made.build());
  };
  const [first] = recorded('runtime.chansend').findings;
  const { passing, by, share } = factsOf(first, 'lock-churn');
  t.deepEqual([first?.name, first?.kind, passing, by, share], ['main.main', 'overhead', true, first?.entity, 1]);
  const half = recorded('runtime.mallocgc').findings.find(({ facts }) => facts.form === 'lock-churn');
  t.deepEqual([factsOf(half, 'lock-churn').share, factsOf(half, 'lock-churn').by], [0.5, null]);
});

test('channels that only one procedure uses: nobody at the other end takes or sends what would be passed on', (t) => {
  const oneSided = (other: string, scheduler: number): boolean => {
    const mine = ['main.main', 'main.collect', 'runtime.selectgo'];
    const theirs = ['main.main', other, 'runtime.chansend'];
    const idle = ['threadentry', 'runtime.mcall', 'runtime.schedule'];
    const made = builder()
      .stretch(second, [run('w1', mine), run('w2', ['main.main', 'main.work'])])
      .stretch(0.2 * second, [run('w1', mine), run('w2', theirs)])
      .stretch(scheduler * second, [run('w1', mine), run('w2', idle)]);
    for (const one of ['runtime.selectgo', 'runtime.chansend', 'runtime.mcall', 'runtime.schedule'])
      made.describe(one, { origin: 'runtime' });
    const found = buildModel(made.build()).findings.find(({ facts }) => facts.form === 'lock-churn');
    return factsOf(found, 'lock-churn').oneSided;
  };
  t.true(oneSided('main.collect', 0.01));
  t.false(oneSided('main.produce', 0.01)); // the sending procedure
  t.false(oneSided('main.collect.func1', 0.01)); // the same, in a closure
  t.false(oneSided('main.collect', 0.2)); // a thread waits, and is woken
});

test("closures of Go's count with the procedure that they stand in, where that is known", (t) => {
  const recorded = (outer: string): string | undefined => {
    const stacks = [
      [outer, 'runtime.chansend'],
      ['main.work.func1', 'runtime.chanrecv'],
    ];
    const made = builder().stretch(second, [run('w1', stacks[0]!), run('w2', stacks[1]!)]);
    made.stretch(0.1 * second, [run('w2', stacks[1]!), run('w1', [outer])]);
    for (const one of ['runtime.chansend', 'runtime.chanrecv']) made.describe(one, { origin: 'runtime' });
    return buildModel(made.build()).findings.find(({ facts }) => facts.form === 'lock-churn')?.name;
  };
  t.is(recorded('main.work'), 'main.work');
  t.is(recorded('main.other'), 'main.work.func1');
});
