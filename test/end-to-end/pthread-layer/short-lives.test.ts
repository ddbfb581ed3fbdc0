/** Threads that live for few samples: what they execute is charged to its procedures, not to their start routine. */
import { needing } from '../../support/capabilities.js';
import { openModel, sampler, start, temporaryFile } from '../../support/record.js';
import { program, skipsWithoutCpus } from './helpers.js';

const test = needing('perf_event_open', 'process_vm_readv');

test('threads that live for less than the interval of samples have the procedures of their like', async (t) => {
  const file = temporaryFile('profile.quartz');
  const { stderr, status } = await start(sampler, ['record', '-q', '-o', file, '--', program('short_lives')]).ended;
  t.is(status, 0, stderr);
  const model = openModel(file);
  const timeOf = (name: string): number =>
    model.entities
      .filter((one) => one.kind === 'procedure' && one.name === name)
      .reduce((sum, one) => sum + one.processorTimeNs, 0);
  const [life, shorter, longer] = [timeOf('life'), timeOf('shorter'), timeOf('longer')];
  t.true(shorter + longer > 0.85 * life, `${(shorter + longer) / 1e6} of ${life / 1e6} ms`);
  // the kernel may begin a new interval with each thread
  if (skipsWithoutCpus(t, model)) return;
  t.true(Math.abs(longer / (shorter + longer) - 3 / 4) < 0.12, `${longer / 1e6} and ${shorter / 1e6} ms`);
});
