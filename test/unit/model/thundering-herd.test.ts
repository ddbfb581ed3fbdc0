/** Threads that are woken for nothing, by hand. P = 2, kernel threads. */
import test from 'ava';
import { buildModel, type Model } from '../../support/sentences.js';
import { ProfileBuilder, run, tries, wait } from '../../support/profile-builder.js';
import { second } from '../../support/example-profiles.js';

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
const told = (model: Model): string =>
  [
    ...model.findings.map(({ text, remedy }) => `${text} ${remedy}`),
    ...model.notices.map(({ reason, remedy }) => `${reason} ${remedy}`),
  ].join(' ');

test('more waits than any lock was taken: the rest were woken for nothing, which is told with what that costs', (t) => {
  const model = profile(100_000, 40_000);
  const [finding] = model.findings.filter(({ kind }) => kind === 'overhead');
  t.is(finding?.name, 'turn');
  t.regex(
    finding!.text,
    /Of these at least 60,000 of 100,000 waits at condition turn \(60\.0 %\) were of threads that had waited there, and waited again/,
  );
  t.regex(finding!.remedy, /^Wake only who can go on: signal in place of broadcast/);
  t.is(told(model).split('waited again').length, 2, 'once');
});

test('as many waits as the lock was taken, few of them, or threads of the package: nothing is known', (t) => {
  t.notRegex(told(profile(100_000, 100_000)), /waited again/);
  t.notRegex(told(profile(100_000, 80_000)), /waited again/);
  t.notRegex(told(profile(1000, 100)), /waited again/);
  t.notRegex(told(profile(100_000, 40_000, 'threadlib')), /waited again/);
});
