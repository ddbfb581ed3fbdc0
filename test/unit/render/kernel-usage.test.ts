/** The line of a report's head with the kernel's counts. */
import test from 'ava';
import { buildModel } from '../../../ts-frontend/src/model/index.js';
import { kernelUsageText } from '../../../ts-frontend/src/render/wording/kernel-usage.js';
import { example } from './example.js';

const usage = {
  usageKnown: true,
  switchesKnown: true,
  usageNs: 2e9,
  userNs: 1.5e9,
  systemNs: 0.5e9,
  voluntarySwitches: 12_345,
  involuntarySwitches: 1,
  minorFaults: 1,
  majorFaults: 0,
};
const text = (change: Parameters<typeof example>[0]): string =>
  kernelUsageText(buildModel(example(change)), { ascii: true });

test('CPUs used, times, threads, switches and faults', (t) => {
  t.is(
    text(usage),
    'CPUs: 1.00 of 5 used, 2.45 threads runnable on average; user 1.50 s, system 500 ms; 5 threads; 12,345 ' +
      'voluntary context switches and 1 involuntary; 1 page fault.',
  );
});

test('what is not known is left out', (t) => {
  t.is(
    text({ ...usage, switchesKnown: false, majorFaults: 2 }),
    'CPUs: 1.00 of 5 used, 2.45 threads runnable on average; user 1.50 s, system 500 ms; 5 threads; 3 page ' +
      'faults (2 of them read from storage).',
  );
  t.is(text({}), '');
});

test('waits that can not all have slept', (t) => {
  const model = buildModel(example({ ...usage, publisher: 'pthread', voluntarySwitches: 0 }));
  t.deepEqual(model.kernelUsage?.waits, { count: 1, atOnce: 1 });
  t.regex(kernelUsageText(model, { ascii: true }), /1 wait for objects, of which at least 1 did not sleep/);
});
