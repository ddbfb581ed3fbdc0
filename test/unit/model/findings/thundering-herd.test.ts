/** Threads that are woken needlessly, on profiles made by hand. P = 2, kernel threads. */
import test from 'ava';
import { buildModel, type Model } from '../../../../ts-frontend/src/model/index.js';
import { factsOf, findingOf, nameOf, noticesOf } from '../../../support/facts.js';
import { inKernel, ProfileBuilder, ready, run, tries, wait, type Doing } from '../../../support/profile-builder.js';
import { second } from '../../../support/example-profiles.js';
import { findingSentences } from '../../../../ts-frontend/src/render/findings/index.js';

const turn = ['main', 'condition:turn'];
/** Three of four threads wait for their turn, one of them just woken; 24 us of processor time for each wait. */
const profile = (waits: number, taken: number, publisher: 'pthread' | 'threadlib' = 'pthread'): Model =>
  buildModel(
    new ProfileBuilder({ processors: 2, head: { publisher, cpuRunNs: 24_000 * waits } })
      .stretch(second, [run('w1', ['main', 'play']), tries('w2', turn), wait('w3', turn), wait('w4', turn)])
      .object('condition:turn', { acquisitions: waits, contended: waits, waitNs: 2 * second })
      .object('mutex:state', { acquisitions: taken })
      .build(),
  );
/** How often threads waited again, as reported in findings and notices. */
const reported = (model: Model): number =>
  model.findings.filter(({ facts }) => facts.form === 'wake-ups' && facts.again !== null).length +
  noticesOf(model, 'waits-again').length;

test('more waits than any lock was taken: the rest were woken for nothing, with what that costs', (t) => {
  const model = profile(100_000, 40_000);
  const finding = findingOf(model, 'overhead');
  t.is(finding?.name, 'turn');
  const { again } = factsOf(finding, 'wake-ups');
  t.deepEqual([nameOf(model, again!.condition), again!.count, again!.waits], ['turn', 60_000, 100_000]);
  t.is(reported(model), 1, 'once');
});

test('as many waits as the lock was taken, few of them, or threads of the package: nothing is known', (t) => {
  t.is(reported(profile(100_000, 100_000)), 0);
  t.is(reported(profile(100_000, 80_000)), 0);
  t.is(reported(profile(1000, 100)), 0);
  t.is(reported(profile(100_000, 40_000, 'threadlib')), 0);
});

/**
 * Like `profile`, beside a mutex that is taken a million times, with the takers and the waiters as far as they are
 * known.
 */
const beside = (waits: number, taken: readonly (readonly [procedure: string, count: number])[]): Model => {
  const builder = new ProfileBuilder({ processors: 2, head: { publisher: 'pthread', cpuRunNs: 24_000 * waits } })
    .stretch(second, [run('w1', ['main', 'play']), tries('w2', turn), wait('w3', turn), wait('w4', turn)])
    .object('condition:turn', { acquisitions: waits, contended: waits, waitNs: 2 * second })
    .object('mutex:state', { acquisitions: taken.reduce((sum, [, count]) => sum + count, 0) })
    .object('mutex:table', { acquisitions: 1e6 })
    .call('await', 'condition:turn', waits)
    .call('find', 'mutex:table', 1e6);
  for (const [procedure, count] of taken) builder.call(procedure, 'mutex:state', count);
  return buildModel(builder.build());
};
const againOf = (model: Model): number | undefined => {
  const finding = findingOf(model, 'overhead');
  return finding?.facts.form === 'wake-ups' ? (finding.facts.again?.count ?? 0) : undefined;
};

test('the lock is that of the procedure that waits: neither who posts nor other locks hide futile wake-ups', (t) => {
  t.is(
    againOf(
      beside(100_000, [
        ['await', 40_000],
        ['post', 40_000],
      ]),
    ),
    60_000,
  );
  t.falsy(
    againOf(
      beside(100_000, [
        ['await', 90_000],
        ['post', 10_000],
      ]),
    ),
    'few',
  );
  t.falsy(againOf(beside(100_000, [['work', 40_000]])), 'a caller of the procedure takes it: it may be any of them');
  t.falsy(againOf(beside(100_000, [['await', 10]])), 'more waits than four threads have: another lock');
});

test('what goes are the futile wake-ups: all of it where threads have no CPU for it, else none of it for sure', (t) => {
  const factsWith = (others: readonly Doing[]): readonly number[] => {
    const finding = findingOf(
      buildModel(
        new ProfileBuilder({ processors: 2, head: { publisher: 'pthread', cpuRunNs: 24e8 } })
          .stretch(second, [run('w1', ['main', 'play']), tries('w2', turn), wait('w3', turn), ...others])
          .object('condition:turn', { acquisitions: 1e5, contended: 1e5, waitNs: 2 * second })
          .object('mutex:state', { acquisitions: 4e4 })
          .build(),
      ),
      'overhead',
    );
    const { leastNs, mostNs } = factsOf(finding, 'wake-ups');
    return [leastNs, mostNs, finding!.savingNs].map((ns) => Math.round(ns / 1e6));
  };
  t.deepEqual(factsWith([]), [0, 300, 150], 'half of the time of two processors, three fifths of it futile');
  t.deepEqual(factsWith([ready('w4', ['main', 'play'])]), [300, 300, 300]);
});

/** P = 2: four clients wait at one condition for replies, all of them woken for each, while one of them goes on. */
function oneConditionForAll(taken: number): Model {
  const builder = new ProfileBuilder({ processors: 2, head: { publisher: 'pthread', cpuRunNs: 2 * second } });
  for (let k = 0; k < 100; k++) {
    const waiting = ['start', ...(k === 0 ? ['begin'] : ['ask', 'await']), 'condition:answered'];
    const one = `w${k % 4}`,
      others = [1, 2, 3].map((n) => `w${(k + n) % 4}`);
    builder
      .stretch(0.006 * second, [run(one, ['start', 'ask']), ...others.map((its) => wait(its, waiting))])
      .stretch(0.004 * second, [inKernel('futex', one, ['start', 'ask']), ...others.map((its) => wait(its, waiting))]);
  }
  return buildModel(
    builder
      .object('condition:answered', { acquisitions: 200_000, contended: 200_000 })
      .object('mutex:state', { acquisitions: taken })
      .call('await', 'mutex:state', taken)
      .call('await', 'condition:answered', 200_000)
      .build(),
  );
}

test('a condition that is handed on, at which most wake-ups are futile: wake fewer, not share it less', (t) => {
  const [first] = oneConditionForAll(80_000).findings;
  t.is(first?.name, 'answered');
  const { again } = factsOf(first, 'hand-overs');
  t.deepEqual([again?.count, again?.waits], [120_000, 200_000]);
  t.is(factsOf(oneConditionForAll(200_000).findings[0], 'hand-overs').again, null);
});

/**
 * A condition made of a futex, whose lock is not counted: `woken` of six workers have been woken there and have no CPU
 * yet, while another one has one, for `work` of its time to do something.
 */
function ofFutex(woken: number, work: number): Model {
  const builder = new ProfileBuilder({ processors: 2, head: { publisher: 'pthread', cpuRunNs: 2 * second } });
  const at = ['start', 'Condvar::wait', 'futex:added'];
  const workers = (first: Doing): Doing[] => [
    run('main', ['main', 'post']),
    first,
    ...[2, 3, 4, 5, 6].map((k) =>
      k < 2 + woken ? { ...tries(`w${k}`, at), state: 'ready' as const } : wait(`w${k}`, at),
    ),
  ];
  return buildModel(
    builder
      .stretch((1 - work) * second, workers(tries('w1', at)))
      .stretch(work * second, workers(run('w1', ['start', 'check'])))
      .object('futex:added', { acquisitions: 100_000, contended: 100_000, waitNs: 5 * second })
      .build(),
  );
}

test('a condition of futexes: many woken threads without a CPU, of which hardly any has work', (t) => {
  const finding = findingOf(ofFutex(3, 0.01), 'overhead');
  const { again } = finding?.facts.form === 'hand-overs' ? finding.facts : factsOf(finding, 'wake-ups');
  t.is(again?.count, null);
  t.is(again?.together?.workNs, 100);
  t.true(again!.together!.mean >= 3);
  t.regex(
    findingSentences(ofFutex(3, 0.01), finding!, { ascii: false }).remedy,
    /^Wake only threads that can continue/,
  );
  const named = (model: Model): number =>
    model.findings.filter(({ facts }) => 'again' in facts && facts.again !== null && typeof facts.again === 'object')
      .length;
  t.is(named(ofFutex(0, 0.01)), 0, 'one at a time');
  t.is(named(ofFutex(3, 0.5)), 0, 'each has work');
});
