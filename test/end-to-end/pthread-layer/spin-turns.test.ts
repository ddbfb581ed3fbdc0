/** Threads that take turns by busy-waiting, with less work between two waits than handing over takes. */
import { factsOf, nameOf } from '../../support/facts.js';
import { needing } from '../../support/capabilities.js';
import { openModel, sampler, start, temporaryFile } from '../../support/record.js';
import { lineOf, program, skipsWithoutCpus } from './helpers.js';

needing('perf_event_open', 'x86-64')(
  'one thread would do the work of both sooner: said first, with the loop',
  async (t) => {
    const file = temporaryFile('profile.quartz');
    const { status, stderr } = await start(sampler, ['record', '-q', '-o', file, '--', program('spin_turns')]).ended;
    t.is(status, 0, stderr);
    const model = openModel(file);
    if (skipsWithoutCpus(t, model)) return;
    const { objects, threads, aloneNs } = factsOf(model.findings[0], 'spin-turns');
    t.is(threads, 2);
    t.true(objects.some((id) => nameOf(model, id) === `loop at spin_turns.c:${lineOf('spin_turns.c', '/* waits */')}`));
    // Alone it takes a tenth; what is seen as work includes waits for the cells, which move from CPU to CPU.
    t.true(aloneNs > 0.2 * model.elapsedNs, `${aloneNs / 1e6} of ${model.elapsedNs / 1e6} ms`);
  },
);
