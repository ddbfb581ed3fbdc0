/**
 * What would remain without waiting and waking: bounds by the program's own work, on profiles made by hand. P = 2,
 * kernel threads.
 */
import test from 'ava';
import { buildModel, type Model } from '../../../../ts-frontend/src/model/index.js';
import { factsOf } from '../../../support/facts.js';
import { second } from '../../../support/example-profiles.js';
import { inKernel, io, ProfileBuilder, run, wait, type Doing } from '../../../support/profile-builder.js';

const near = (ns: number, seconds: number): boolean => Math.abs(ns / second - seconds) < 0.005;
const stack = ['main', 'take', 'condition:full'];

/**
 * 0.1 s in which both threads work (one of them `more` alone), 0.6 s in which both wait and wake; for the rest of a
 * second nothing runs.
 */
function handing(more: number, resting: Doing, waitPs = 0): Model {
  return buildModel(
    new ProfileBuilder({ processors: 2, head: { publisher: 'pthread', cpuRunNs: 2 * second, waitPs } })
      .stretch(0.1 * second, [run('w1', ['main', 'put']), run('w2', ['main', 'take'])])
      .stretch(more * second, [run('w1', ['main', 'put']), wait('w2', stack)])
      .stretch(0.6 * second, [inKernel('futex', 'w1', ['main', 'put']), inKernel('futex', 'w2', ['main', 'take'])])
      .stretch((0.3 - more) * second, [wait('w1', stack), resting])
      .object('condition:full', { contended: 100_000, acquisitions: 100_000 })
      .build(),
  );
}
const asleep = wait('w2', stack);

test('items that are handed over one by one: one thread would take their work, two threads half of it', (t) => {
  const facts = factsOf(
    handing(0, asleep).findings.find(({ facts: { form } }) => form === 'wake-ups'),
    'wake-ups',
  );
  t.true(near(facts.wakingNs, 0.6));
  t.true(near(facts.leastNs, 0.8) && near(facts.mostNs, 0.9), `${facts.leastNs} to ${facts.mostNs}`);
});

test('what recording adds to each wait is no cost of the program', (t) => {
  const of = (waitPs: number): Model => handing(0, asleep, waitPs);
  const facts = (model: Model): { leastNs: number; mostNs: number } =>
    factsOf(
      model.findings.find(({ facts: { form } }) => form === 'wake-ups'),
      'wake-ups',
    );
  const model = of(1_000_000); // 1 us for each of 100,000 waits
  t.true(near(model.slowdown.waitsNs, 0.1), String(model.slowdown.waitsNs));
  t.true(near(facts(of(0)).leastNs - facts(model).leastNs, 0.1), String(facts(model).leastNs));
});

test('a thread with more work than the others takes it in any case', (t) => {
  const { leastNs, mostNs } = factsOf(
    handing(0.2, asleep).findings.find(({ facts: { form } }) => form === 'wake-ups'),
    'wake-ups',
  );
  t.true(near(leastNs, 0.6) && near(mostNs, 0.7), `${leastNs} to ${mostNs}`);
});

test('sleep of a thread that has work stays', (t) => {
  const { leastNs, mostNs } = factsOf(
    handing(0, io('w2', ['main', 'take'])).findings.find(({ facts: { form } }) => form === 'wake-ups'),
    'wake-ups',
  );
  t.true(near(leastNs, 0.54) && near(mostNs, 0.6), `${leastNs} to ${mostNs}`);
});

test('findings that are close to each other are said to be', (t) => {
  const recorded = (first: number, second: number): Model =>
    buildModel(
      new ProfileBuilder({ processors: 2, head: { snapshots: 400 } })
        .stretch(first * 1e9, [run('main', ['main', 'load'])])
        .stretch(0.4 * 1e9, [run('main', ['main', 'a']), run('w', ['start', 'a'])])
        .stretch(second * 1e9, [run('main', ['main', 'store'])])
        .build(),
    );
  const isSaid = (model: Model): boolean => model.notices.some(({ form }) => form === 'close-findings');
  t.deepEqual(
    recorded(0.41, 0.4)
      .findings.slice(0, 2)
      .map(({ kind }) => kind),
    ['serial', 'serial'],
  );
  t.true(isSaid(recorded(0.41, 0.4)));
  t.false(isSaid(recorded(0.6, 0.2)));
});

test('code to make faster that just comes first, or just does not, is said to be close', (t) => {
  const recorded = (serial: number): Model =>
    buildModel(
      new ProfileBuilder({ processors: 2, head: { snapshots: 400 } })
        .stretch(serial * 1e9, [run('main', ['main', 'load'])])
        .stretch((1 - serial) * 1e9, [run('a', ['start', 'hash']), run('b', ['start', 'hash'])])
        .build(),
    );
  const said = (model: Model): string => {
    const close = model.notices.find(({ form }) => form === 'close-findings');
    return `${model.findings[0]?.name}${close?.form === 'close-findings' && close.code ? ' close' : ''}`;
  };
  t.deepEqual([0.1, 0.18, 0.22, 0.4].map(recorded).map(said), ['hash', 'hash close', 'load close', 'load']);
});
