/** Threads that begin and end between two snapshots: their time is theirs, not that of who was seen. */
import test from 'ava';
import { openModel, sampler, start, temporaryFile } from '../../support/record.js';
import { program } from './helpers.js';

test('the work of threads that no snapshot saw is not that of main, nor beside it', async (t) => {
  const file = temporaryFile('profile.quartz');
  const { stdout, stderr, status } = await start(sampler, ['record', '-q', '-o', file, '--', program('short_rounds')])
    .ended;
  t.is(status, 0, stderr);
  const model = openModel(file);
  const [mainsNs = 0, aloneNs = 0] = stdout.split(' ').map(Number);
  const main = model.entities.find(({ kind, thread }) => kind === 'thread' && thread?.creator === 0);
  const ofMain = main?.processorTimeNs ?? 0;
  t.true(Math.abs(ofMain - mainsNs) <= 0.15 * mainsNs, `main: ${ofMain / 1e6} ms reported, ${mainsNs / 1e6} ms real`);
  // where it works alone, 1 / b of its time is all of it
  t.true((main?.nptNs ?? 0) >= 0.85 * aloneNs, `${(main?.nptNs ?? 0) / 1e6} of ${aloneNs / 1e6} ms alone`);
  // threads that no snapshot visited are not alive at once
  t.true((model.kernelUsage?.threadsAtOnce ?? 0) <= 3, `${model.kernelUsage?.threadsAtOnce} at once`);
});
