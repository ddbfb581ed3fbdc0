/** The cost of more threads than CPUs, on profiles made by hand. P = 2 and kernel threads (publisher pthread). */
import test from 'ava';
import { buildModel, type Model } from '../../../../ts-frontend/src/model/index.js';
import { factsOf, findingOf, ms, nameOf, namesOf, noticesOf } from '../../../support/facts.js';
import {
  inKernel,
  ProfileBuilder,
  ready,
  run,
  spin,
  wait,
  woken,
  type Doing,
} from '../../../support/profile-builder.js';
import { oversubscriptionFirst } from '../../../../ts-frontend/src/model/findings/oversubscription.js';
import { second } from '../../../support/example-profiles.js';

/** A thread that would spin, but has no CPU at the moment. */
const spinReady = (thread: string, stack: string[]): Doing => ({ thread, state: 'ready', stack, waiting: true });
const builder = (): ProfileBuilder =>
  new ProfileBuilder({ processors: 2, head: { publisher: 'pthread', cpuRunNs: 2 * second, cpuWaitNs: 2 * second } });
const oversubscriptions = (model: Model): Model['findings'] =>
  model.findings.filter(({ kind }) => kind === 'oversubscription');
const near = (ns: number, seconds: number): boolean => Math.abs(ns / second - seconds) < 0.005;

test('one thread at work and three that spin on two CPUs: it gets half a CPU where it could have one', (t) => {
  const gate = ['main', 'spinlock:gate'];
  const model = buildModel(
    builder()
      .stretch(second, [run('w1', ['main', 'a']), spin('w2', gate), spinReady('w3', gate), spinReady('w4', gate)])
      .build(),
  );
  const [finding] = oversubscriptions(model);
  t.is(model.findings[0], finding);
  t.true(near(finding!.savingNs, 0.5), String(finding!.savingNs));
  t.is(finding!.change, 'fewer-threads');
  t.is(model.entities[finding!.related[0]!]!.name, 'gate');
  t.false(
    model.findings.some(({ kind }) => kind === 'spinning'),
    'one cause is reported once',
  );
});

test('threads that spin in a channel: more at a time instead of fewer threads, and what passes the values on', (t) => {
  const passing = (libraryWait: 'data' | 'unknown'): Model => {
    const at = (call: string): string[] => ['main', call, 'snooze', `loop:${call}`];
    return buildModel(
      builder()
        .describe('send', { libraryWait })
        .describe('recv', { libraryWait })
        .stretch(second, [
          run('w1', ['main', 'a']),
          spin('w2', at('send')),
          spinReady('w3', at('recv')),
          spinReady('w4', at('recv')),
        ])
        .build(),
    );
  };
  const model = passing('data'),
    [finding] = oversubscriptions(model);
  t.deepEqual(
    factsOf(finding, 'oversubscription').passing?.map((id) => nameOf(model, id)),
    ['recv', 'send'],
  );
  t.deepEqual([finding!.change, finding!.advice.threads, finding!.advice.pieces], ['coarsen', null, 'larger']);
  const [other] = oversubscriptions(passing('unknown'));
  t.deepEqual([other!.change, factsOf(other, 'oversubscription').passing], ['fewer-threads', null]);
});

test('what part of the CPUs spinning takes is what the samples of running threads say, where there are enough', (t) => {
  const gate = ['main', 'spinlock:gate'];
  const lost = (oversubscribedSamples: number, oversubscribedSpinning: number): number =>
    oversubscriptions(
      buildModel(
        new ProfileBuilder({
          processors: 2,
          head: {
            publisher: 'pthread',
            cpuRunNs: 2 * second,
            cpuWaitNs: 2 * second,
            oversubscribedSamples,
            oversubscribedSpinning,
          },
        })
          .stretch(second, [run('w1', ['main', 'a']), spin('w2', gate), spinReady('w3', gate), spinReady('w4', gate)])
          .build(),
      ),
    )[0]?.savingNs ?? 0;
  t.true(near(lost(1000, 900), 0.8), String(lost(1000, 900))); // a fifth of a CPU remains for work
  t.true(near(lost(1000, 500), 0), String(lost(1000, 500))); // it has a whole one
  t.true(near(lost(10, 9), 0.5), 'too few');
});

test('who spins and then blocks: the calls that wait and wake cost too, what blocking at once would leave', (t) => {
  const gate = ['main', 'meet', 'spinlock:gate'],
    met = ['main', 'meet', 'condition:met'],
    a = ['main', 'a'];
  const head = {
    publisher: 'pthread' as const,
    cpuRunNs: 2 * second,
    cpuWaitNs: 2 * second,
    oversubscribedSamples: 1000,
    oversubscribedSpinning: 500,
    oversubscribedHanding: 250,
  };
  const profile = new ProfileBuilder({ processors: 2, head }).stretch(second, [
    run('w1', a),
    run('w2', a),
    spinReady('w3', gate),
    spinReady('w4', gate),
  ]);
  const [finding] = oversubscriptions(buildModel(profile.build()));
  t.true(near(finding!.savingNs, 0.75), String(finding!.savingNs)); // a quarter of the CPUs' time is work
  t.deepEqual(
    finding!.alternatives.map(({ change, savingNs }) => [change, near(savingNs, 0.5)]),
    [['block-instead-of-spin', true]],
  );
  t.is(factsOf(finding, 'oversubscription').fewer.mostNs, null);
  // Then one works, one spins, and two have blocked in the same procedure: without waiting, twice as much would be
  // done.
  profile.stretch(second, [run('w1', a), spin('w2', gate), wait('w3', met), wait('w4', met)]);
  const [more] = oversubscriptions(buildModel(profile.build()));
  t.true(near(more!.savingNs, 0.75));
  const { fewer, blocking } = factsOf(more, 'oversubscription');
  t.deepEqual([fewer.savesNs, fewer.mostNs!, blocking!].map(ms), [750, 1250, 500]);
});

test('two threads at work and two that spin on two CPUs: half of both CPUs is lost, though none looks it', (t) => {
  const gate = ['main', 'barrier:gate'];
  const model = buildModel(
    builder()
      .stretch(second, [
        run('w1', ['main', 'a']),
        run('w2', ['main', 'a']),
        spinReady('w3', gate),
        spinReady('w4', gate),
      ])
      .build(),
  );
  t.true(near(oversubscriptions(model)[0]!.savingNs, 0.5));
});

test(
  'one thread at work, one that spins and two that were woken on two CPUs: a CPU is lost to the spinning, where ' +
    'a woken one could run',
  (t) => {
    const gate = ['main', 'spinlock:gate'],
      full = ['main', 'condition:full'];
    const model = buildModel(
      builder()
        .stretch(second, [run('w1', ['main', 'a']), spin('w2', gate), woken('w3', full), woken('w4', full)])
        .build(),
    );
    t.true(near(oversubscriptions(model)[0]!.savingNs, 0.5), String(oversubscriptions(model)[0]!.savingNs));
  },
);

test('four threads at work on two CPUs: said, and that it costs nothing', (t) => {
  const a = ['main', 'a'];
  const model = buildModel(
    builder()
      .stretch(second, [run('w1', a), run('w2', a), ready('w3', a), ready('w4', a)])
      .build(),
  );
  t.deepEqual(oversubscriptions(model), []);
  t.deepEqual(noticesOf(model, 'many-threads'), [{ form: 'many-threads', ns: second, runnable: 4, cpus: 2 }]);
  t.deepEqual(noticesOf(model, 'cpu-wait'), [], 'said already');
});

test('threads that were woken and have no CPU yet are runnable, wait for nothing, and hold no lock', (t) => {
  const a = ['main', 'a'];
  const profile = builder()
    .stretch(second, [run('w1', a), run('w2', a), woken('w3', ['main', 'mutex:m']), wait('w4', ['main', 'mutex:m'])])
    .build();
  Object.assign(profile.head, { usageKnown: true, switchesKnown: true, usageNs: second });
  for (const object of profile.objects) object.contended = 100_000; // 20 us of processor time for each
  const model = buildModel(profile);
  const [finding] = oversubscriptions(model);
  const { runnable, woken: those, cpuWait } = factsOf(finding, 'oversubscription');
  t.deepEqual([runnable, those?.threads, nameOf(model, those!.object)], [3, 1, 'm']);
  t.deepEqual(cpuWait, { waitNs: 2 * second, ownNs: second });
  t.is(finding!.savingNs, 0);
  const lock = model.entities.find(({ name }) => name === 'm')!;
  t.deepEqual([lock.states.ready.ns, lock.states.blocked.ns, lock.object!.holdNs], [second, second, 0]);
});

test('more than there are CPUs, because other programs have these: nothing to say', (t) => {
  const a = ['main', 'a'];
  const profile = new ProfileBuilder({
    processors: 2,
    head: { publisher: 'pthread', cpuRunNs: 0.2 * second, cpuWaitNs: 3 * second },
  });
  const model = buildModel(
    profile.stretch(second, [run('w1', a), run('w2', a), woken('w3', ['main', 'mutex:m'])]).build(),
  );
  t.deepEqual(oversubscriptions(model), []);
});

test('as many as there are CPUs, waiting or not; or more, for a moment: nothing to say', (t) => {
  const a = ['main', 'a'];
  const few = buildModel(
    builder()
      .stretch(second, [run('w1', a), run('w2', a), wait('w3', ['main', 'mutex:m'])])
      .build(),
  );
  t.deepEqual(oversubscriptions(few), []);
  const short = buildModel(
    builder()
      .stretch(second, [run('w1', a), run('w2', a)])
      .stretch(second / 10, [run('w1', a), run('w2', a), ready('w3', a)])
      .build(),
  );
  t.deepEqual(oversubscriptions(short), []);
});

test('threads of the package are meant to be many', (t) => {
  const a = ['main', 'a'];
  const model = buildModel(
    new ProfileBuilder({ processors: 2 })
      .stretch(second, [run('w1', a), run('w2', a), ready('w3', a), ready('w4', a)])
      .build(),
  );
  t.deepEqual(oversubscriptions(model), []);
});

test('threads that are woken for hardly any work: too fine a grain; with more work for each wait: none', (t) => {
  const stack = ['main', 'consume', 'condition:full'];
  const recorded = (contended: number): Model =>
    buildModel(
      builder()
        .stretch(second, [
          run('w1', ['main', 'produce']),
          { ...woken('w2', stack), state: 'useful' },
          wait('w3', stack),
        ])
        .object('condition:full', { contended, acquisitions: contended })
        .build(),
    );
  const model = recorded(400_000); // 2 s of processor time
  const finding = findingOf(model, 'overhead');
  t.deepEqual([finding?.name, finding?.change], ['full', 'coarsen']);
  t.true(near(finding!.costNs, 0.5) && near(finding!.savingNs, 0.45));
  const { waits, workNs, objects } = factsOf(finding, 'wake-ups');
  t.deepEqual([waits, workNs, ...namesOf(model, objects)], [400_000, 5000, 'full']);
  t.is(findingOf(recorded(6000), 'overhead'), undefined);
});

test('20 us of work for each wait: too fine a grain, if waiting and waking take a tenth of the processor time', (t) => {
  const stack = ['main', 'consume', 'condition:full'];
  const recorded = (woke: number): Model =>
    buildModel(
      builder()
        .stretch(second - woke, [run('w1', ['main', 'produce']), run('w2', ['main', 'consume']), wait('w3', stack)])
        .stretch(woke, [run('w1', ['main', 'produce']), { ...woken('w2', stack), state: 'useful' }, wait('w3', stack)])
        .object('condition:full', { contended: 100_000, acquisitions: 100_000 })
        .build(),
    );
  t.is(findingOf(recorded(0.1 * second), 'overhead'), undefined);
  const finding = findingOf(recorded(0.3 * second), 'overhead');
  t.is(finding?.facts.form, 'wake-ups');
  t.true(near(finding!.costNs, 0.15) && near(finding!.savingNs, 0.135));
});

test('rare waits: too fine a grain up to three times the usual limit, where waiting and waking take much time', (t) => {
  const stack = ['main', 'consume', 'condition:full'];
  const forms = (woke: number, contended: number, idle = 0): (string | undefined)[] =>
    buildModel(
      builder()
        .stretch(idle, [wait('w1', stack), wait('w2', stack), wait('w3', stack)])
        .stretch(second - woke, [run('w1', ['main', 'produce']), run('w2', ['main', 'consume']), wait('w3', stack)])
        .stretch(woke, [run('w1', ['main', 'produce']), { ...woken('w2', stack), state: 'useful' }, wait('w3', stack)])
        .object('condition:full', { contended, acquisitions: contended })
        .build(),
    ).findings.map(({ facts }) => facts.form);
  t.true(forms(0.7 * second, 14_000).includes('wake-ups')); // 143 us, 35 % of them for waking
  t.true(forms(0.5 * second, 9000).includes('wake-ups')); // 222 us, 25 %
  t.false(forms(0.4 * second, 9000).includes('wake-ups')); // 222 us, 20 %
  t.false(forms(0.9 * second, 6000).includes('wake-ups')); // 333 us, 45 %
  t.false(forms(0.5 * second, 9000, 4 * second).includes('wake-ups')); // it mostly waits for something else
});

test('what waking saves is no more than goes while threads wait for each other: other phases stay', (t) => {
  const stack = ['main', 'consume', 'condition:full'];
  const model = buildModel(
    builder()
      .stretch(second / 4, [run('w3', ['main', 'load'])])
      .stretch(second / 4, [run('w4', ['main', 'load'])])
      .stretch(second / 4, [{ ...woken('w2', stack), state: 'useful' }, wait('w1', stack)])
      .stretch(second / 4, [run('w1', ['main', 'produce']), wait('w2', stack)])
      .object('condition:full', { contended: 100_000, acquisitions: 100_000 })
      .build(),
  );
  // Spread over both processors, the work would take 0.375 s. But for half of the time no thread waits.
  const { leastNs, mostNs } = factsOf(findingOf(model, 'overhead'), 'wake-ups');
  t.true(near(leastNs, 0.25) && near(mostNs, 0.5), `${leastNs} ${mostNs}`);
});

test('what waiting and waking take is no work: elements that are handed over one by one, in futex calls', (t) => {
  const stack = ['main', 'take', 'condition:full'];
  const recorded = (work: 'futex' | 'none'): Model =>
    buildModel(
      builder()
        .stretch(0.7 * second, [inKernel(work, 'w1', ['main', 'put']), inKernel(work, 'w2', ['main', 'take'])])
        .stretch(0.3 * second, [wait('w1', stack), wait('w2', stack)])
        .object('condition:full', { contended: 100_000, acquisitions: 100_000 })
        .build(),
    );
  const [first] = recorded('futex').findings; // 20 us each, 6 us of these are work
  t.deepEqual([first?.kind, first?.name, first?.facts.form], ['overhead', 'full', 'wake-ups']);
  t.true(near(factsOf(first, 'wake-ups').wakingNs, 0.7));
  // Nothing runs for 3 us each time: the woken thread is on its way to a CPU.
  for (const work of ['futex', 'none'] as const)
    t.false(recorded(work).findings.some(({ facts }) => facts.form === 'nothing-runs'));
  t.false(recorded('none').findings.some(({ facts }) => facts.form === 'wake-ups'));
});

test('where the processors are busy, code and serial code come before what waits could save', (t) => {
  const recorded = (alone: number): Model =>
    buildModel(
      builder()
        .stretch((0.96 - alone) * second, [run('w1', ['main', 'hash']), run('w2', ['main', 'hash'])])
        .stretch(0.04 * second, [run('w1', ['main', 'hash']), wait('w2', ['main', 'take', 'mutex:m'])])
        .stretch(alone * second, [run('w1', ['main', 'read'])])
        .object('mutex:m', { contended: 20, acquisitions: 40 })
        .build(),
    );
  t.is(recorded(0).findings[0]?.kind, 'optimize');
  t.deepEqual(
    recorded(0.2)
      .findings.map(({ kind }) => kind)
      .slice(0, 2),
    ['serial', 'optimize'],
  );
});

test('who has a lock and no CPU: said with the contention, by how much', (t) => {
  const held = ['main', 'update', 'mutex:m'],
    gate = ['main', 'spinlock:gate'];
  const reported = (model: Model): [string | null, number | null] => {
    const { holder, unserved } = factsOf(
      model.findings.find(({ name }) => name === 'm'),
      'lock',
    );
    return [nameOf(model, holder), unserved];
  };
  const oversubscribed = (holder: Doing): Model =>
    buildModel(
      builder()
        .stretch(second, [holder, wait('w2', held), woken('w3', held), spin('w4', gate), spin('w5', gate)])
        .stretch(second, [run('w1', held), wait('w2', held)])
        .object('mutex:m', { acquisitions: 10, contended: 10 })
        .build(),
    );
  t.deepEqual(reported(oversubscribed(ready('w1', held))), ['update', 0.5]);
  const alone = builder().stretch(second, [run('w1', held), wait('w2', held)]);
  t.deepEqual(reported(buildModel(alone.build())), ['update', null]);
});

test('threads woken often because spinning ones have the CPUs: oversubscription first if it saves as much', (t) => {
  const gate = ['main', 'spinlock:gate'],
    stack = ['main', 'consume', 'condition:full'];
  const spinning = builder().stretch(second, [run('w1', ['main', 'a']), spin('w2', gate), spinReady('w3', gate)]);
  const waking = builder()
    .stretch(second, [run('w1', ['main', 'produce']), { ...woken('w2', stack), state: 'useful' }, wait('w3', stack)])
    .object('condition:full', { contended: 400_000, acquisitions: 400_000 });
  const [over] = oversubscriptions(buildModel(spinning.build()));
  const wakeUps = findingOf(buildModel(waking.build()), 'overhead');
  t.deepEqual([over?.facts.form, wakeUps?.facts.form], ['oversubscription', 'wake-ups']);
  const order = (saved: number): string[] =>
    oversubscriptionFirst([wakeUps!, over!], (one) => (one === over ? saved : 1)).map(({ facts }) => facts.form);
  t.deepEqual(order(0.9), ['oversubscription', 'wake-ups']);
  t.deepEqual(order(0.7), ['wake-ups', 'oversubscription']);
  t.true(over!.facts.form === 'oversubscription' && over!.facts.fewer.mostNs === null);
  if (over!.facts.form === 'oversubscription') {
    const { savesNs } = over!.facts.fewer;
    over!.facts.fewer = { savesNs, mostNs: 1.25 * savesNs };
    t.deepEqual(order(0.7), ['oversubscription', 'wake-ups'], 'its upper bound counts');
    t.deepEqual(order(0.6), ['wake-ups', 'oversubscription']);
  }
  t.deepEqual(
    oversubscriptionFirst([wakeUps!], () => 1),
    [wakeUps],
  );
});
