/** Threads without a CPU, beside a lock that most of the work is done in: they would wait for it, not work. */
import test from 'ava';
import { buildModel, type RawProfile } from '../../../../ts-frontend/src/model/index.js';
import { lockBoundOf } from '../../../../ts-frontend/src/model/evidence/undisturbed/lock-bound.js';
import { ProfileBuilder, ready, run, wait } from '../../../support/profile-builder.js';
import { second } from '../../../support/example-profiles.js';

/**
 * Two CPUs, of which others have one: one thread executes, for `inside` of the time in a lock, while two wait for a
 * CPU, outside of the lock; now and then they were seen to wait for it.
 */
function starved(inside: number, lock = 'mutex:m'): RawProfile {
  const builder = new ProfileBuilder({
    processors: 2,
    head: { publisher: 'pthread', cpuRunNs: second, cpuWaitNs: 2 * second },
  });
  const outside = ['start', 'parse'],
    within = ['start', 'update', lock, 'shrink'],
    waiting = ['start', 'update', lock];
  for (let k = 0; k < 20; k++) {
    const [a, b, c] = ['w1', 'w2', 'w3'].map((_, n, all) => all[(n + k) % 3]!) as [string, string, string];
    const length = 0.05 * second;
    builder.stretch(0.9 * inside * length, [run(a, within), ready(b, outside), ready(c, outside)]);
    builder.stretch(0.1 * inside * length, [run(a, within), wait(b, waiting), wait(c, waiting)]);
    builder.stretch((1 - inside) * length, [run(a, outside), ready(b, outside), ready(c, outside)]);
  }
  return builder.object(lock, { contended: 40, acquisitions: 60 }).build();
}

test('if nine tenths of the work hold one lock, no more threads would work: it comes first, with its gain', (t) => {
  const raw = starved(0.9);
  t.true(Math.abs(lockBoundOf(raw)!.most - 1 / 0.9) < 0.01);
  const [first] = buildModel(raw).findings;
  t.is(first?.facts.form, 'lock');
  // one of two CPUs, nearly all the time
  t.true(first!.savingNs > 0.4 * second, `${first!.savingNs / second} s`);
});

test('a lock that half of the work holds bounds nothing on two CPUs, nor does one that several may hold', (t) => {
  t.is(lockBoundOf(starved(0.45)), null);
  const lock = buildModel(starved(0.45)).findings.find(({ facts }) => facts.form === 'lock');
  t.true((lock?.savingNs ?? 0) < 0.1 * second); // what was seen of it
  t.is(lockBoundOf(starved(0.9, 'rwlock:m')), null);
});
