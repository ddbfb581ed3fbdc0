/** Threads of Go's run-time library that rest: for a lock, at channels, or for lack of work. P = 2. */
import test from 'ava';
import { buildModel, type Model } from '../../../../ts-frontend/src/model/index.js';
import { Purpose } from '../../../../ts-frontend/src/model/profile/abi.js';
import { factsOf } from '../../../support/facts.js';
import { inKernel, ProfileBuilder, run, wait, woken } from '../../../support/profile-builder.js';
import { second } from '../../../support/example-profiles.js';

const rest = [
  'threadentry',
  'runtime.mcall',
  'runtime.schedule',
  'runtime.findRunnable',
  'runtime.stopm',
  'futex:rest',
];

/** A thread of the run-time that waits for it alone, at the same futex. */
const template = ['threadentry', 'runtime.templateThread', 'futex:rest'];

/** One goroutine runs, `where`; a thread rests; now and then one is seen in `call`, below `by`. */
function recorded(where: string[], by: string, call: string | null, wakes = 0): Model {
  const known = { usageKnown: true, switchesKnown: true, usageNs: second, voluntarySwitches: wakes };
  const head = { publisher: 'pthread', ...(wakes > 0 ? known : {}) } as const;
  const made = new ProfileBuilder({ processors: 2, head });
  for (const one of ['runtime.mcall', 'runtime.schedule', 'runtime.findRunnable', 'runtime.stopm'])
    made.describe(one, { origin: 'runtime', purposes: Purpose.decided | Purpose.handOver });
  const purposes = Purpose.decided | Purpose.libraryLock | (call?.includes('chan') ? Purpose.handOver : 0);
  if (call !== null) made.describe(call, { origin: 'runtime', purposes });
  for (let k = 0; k < 10; k++) {
    made.stretch(0.04 * second, [run('w1', where), wait('w2', rest)]);
    made.stretch(0.04 * second, [run('w2', where), wait('w1', rest)]);
    if (wakes > 0) made.stretch(0.01 * second, [run('w1', where), { ...woken('w2', rest), state: 'useful' }]);
    if (call !== null)
      made.stretch(0.005 * second, [run('w1', where), inKernel('lock', 'w2', ['main.worker', by, call])]);
    else made.stretch(0.005 * second, [run('w1', where), run('w2', ['main.worker'])]);
  }
  return buildModel(made.build());
}
const render = ['main.worker', 'main.(*Index).Add', 'main.render'];

test('goroutines that wait for a lock: who takes it is named, though no snapshot shows the wait', (t) => {
  const [first] = recorded(render, 'main.(*Index).Add', 'sync.(*Mutex).lockSlow').findings;
  const { code } = factsOf(first, 'goroutine-lock');
  t.deepEqual([first?.name, first?.kind, code === first?.entity], ['main.(*Index).Add', 'lock-contention', false]);
  t.true(Math.abs(first!.savingNs / second - 0.4) < 0.06, `${first?.savingNs}`);
});

test('that threads are woken from rest for the lock is no finding of its own', (t) => {
  const formsOf = (call: string): string[] =>
    recorded(render, 'main.(*Index).Add', call, 100_000).findings.map(({ facts }) => facts.form);
  t.true(formsOf('runtime.chanrecv').includes('wake-ups'));
  const forms = formsOf('sync.(*Mutex).lockSlow');
  t.deepEqual([forms[0], forms.includes('wake-ups')], ['goroutine-lock', false]);
});

test('code that runs outside of the procedure that takes the lock is no reason to wait for it', (t) => {
  const { findings } = recorded(['main.main', 'main.load'], 'main.(*Index).Add', 'sync.(*Mutex).lockSlow');
  t.false(findings.some(({ facts }) => facts.form === 'goroutine-lock'));
});

test('goroutines that wait at channels do not wait for a lock', (t) => {
  const channel = recorded(render, 'main.(*Index).Add', 'runtime.chanrecv').findings;
  t.false(channel.some(({ facts }) => facts.form === 'goroutine-lock'));
});

/**
 * Two threads run goroutines in turn and for a third of the time both, while the run-time's futex, which threads call
 * by two ways, has the other ones; `call` is seen below main.main now and then, or in a thread's scheduler.
 */
function beside(call: string | null, within: string[] = ['main.main']): Model {
  const made = new ProfileBuilder({ processors: 2, head: { publisher: 'pthread' } });
  for (const one of ['runtime.mcall', 'runtime.schedule', 'runtime.findRunnable', 'runtime.stopm'])
    made.describe(one, { origin: 'runtime', purposes: Purpose.decided | Purpose.handOver });
  const purposes = Purpose.decided | Purpose.libraryLock | (call?.includes('chan') ? Purpose.handOver : 0);
  if (call !== null) made.describe(call, { origin: 'runtime', purposes });
  made.describe('runtime.systemstack', { origin: 'runtime' });
  const housekeeping = Purpose.decided | Purpose.housekeeping;
  made.describe('runtime.templateThread', { origin: 'runtime', purposes: housekeeping });
  const idle = wait('w3', template);
  const [push, feed] = ['push', 'feed'].map((name) => ['main.main', `main.${name}`]);
  for (let k = 0; k < 10; k++) {
    made.stretch(0.03 * second, [run('w1', push!), wait('w2', rest), idle]);
    made.stretch(0.03 * second, [run('w2', feed!), wait('w1', rest), idle]);
    made.stretch(0.03 * second, [run('w1', push!), run('w2', feed!), idle]);
    if (call !== null) made.stretch(0.005 * second, [inKernel('lock', 'w1', [...within, call]), run('w2', feed!)]);
  }
  return buildModel(made.build());
}

test('what the threads of the library ran is no uneven division: too few goroutines could run', (t) => {
  for (const [call, goroutines, within] of [
    ['runtime.chanrecv', 'channels', ['main.main']],
    ['runtime.lock2', 'unknown', ['main', 'runtime.systemstack']], // who takes it is not known
    [null, 'unknown', ['main.main']],
  ] as const) {
    const { findings } = beside(call, [...within]);
    const few = findings.find(({ facts }) => facts.form === 'too-few-threads');
    t.is(factsOf(few, 'too-few-threads').goroutines, goroutines, `${call}`);
    t.false(findings.some(({ facts }) => facts.form === 'uneven-division' || facts.form === 'goroutine-lock'));
    t.true(Math.abs(few!.savingNs - 0.3 * second) < 0.05 * second, `${few?.savingNs}`);
  }
});
