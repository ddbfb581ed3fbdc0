/** The sleeps of threads: when they ended, and how long they were, by what the program asks for. */
import test from 'ava';
import { skip } from '../../support/capabilities.js';
import { openModel, sampler, start, temporaryFile } from '../../support/record.js';
import { program } from './helpers.js';

test('sleeps of 6 to 18 ms after work of 3 ms: they are seen, and keep no pace', async (t) => {
  const file = temporaryFile('profile.quartz');
  const command = [program('bursts'), '2', '1', '3000', '12000', '1'];
  const { stdout, stderr, status } = await start(sampler, ['record', '-q', '-o', file, '--', ...command]).ended;
  t.is(status, 0, stderr);
  const model = openModel(file);
  const [most] = [...model.raw.threads].sort((a, b) => b.sleeps - a.sleeps);
  const { sleeps, intervalUs, lengthUs } = most!;
  const naps = Number(/^naps (\d+)$/m.exec(stdout)?.[1]);
  const everyMs = model.head.elapsedNs / model.head.snapshots / 1e6;
  if (naps < 40 || everyMs > 3) {
    t.log(`${naps} sleeps in 2 s, a snapshot in ${everyMs.toFixed(1)} ms`);
    skip(t, 'other programs had the CPUs');
    return;
  }
  t.true(sleeps >= naps / 2 && sleeps <= naps, `${sleeps} of ${naps} sleeps`);
  const meanUs = lengthUs / sleeps;
  t.true(meanUs >= 6000 && meanUs <= 40_000, `${meanUs} us each`);
  t.true(intervalUs / sleeps >= meanUs, `${intervalUs / sleeps} us from end to end`);
  t.false(model.notices.some(({ form }) => form === 'pace'));
});
