/** Code that is seen in several ways, some of it while all processors are busy: one finding has all of it. */
import { needing } from '../../support/capabilities.js';
import { factsOf } from '../../support/facts.js';
import { openModel, sampler, start, temporaryFile } from '../../support/record.js';
import type { Model } from '../../../ts-frontend/src/model/index.js';
import { program, skipsWithoutCpus } from './helpers.js';

async function record(name: string): Promise<Model> {
  const file = temporaryFile('profile.quartz');
  const { status, stderr } = await start(sampler, ['record', '-q', '-o', file, '--', program(name)]).ended;
  if (status !== 0) throw new Error(stderr);
  return openModel(file);
}

needing('perf_event_open', 'process_vm_readv')(
  'unevenly divided code that is slow as well: the finding says what all of it takes',
  async (t) => {
    const model = await record('split_search');
    // others may make any thread late
    if (skipsWithoutCpus(t, model)) return;
    const { findings, entities, elapsedNs } = model;
    t.is(findings[0]?.kind, 'imbalance');
    const { faster } = factsOf(findings[0], 'uneven-division');
    t.true(['search', 'work_own_us'].includes(entities[faster!.entity]!.name)); // the latter is inlined there
    // all but starting and ending; and more than what runs while one thread has work, which is what its cost is
    t.true(faster!.ns > 0.8 * elapsedNs, `${faster!.ns / 1e6} of ${elapsedNs / 1e6} ms`);
    t.true(faster!.ns > findings[0]!.costNs);
  },
);

const small = program('openmp_small');
needing(`file:${small}`, 'perf_event_open')('serial code of a team that gains nothing: one thread', async (t) => {
  const model = await record('openmp_small');
  // what the team needs most is a CPU for each thread
  if (skipsWithoutCpus(t, model)) return;
  const { findings } = model;
  const serial = findings.find(
    ({ facts, name }) => facts.form === 'serial' && ['prepare', 'work_own_us'].includes(name),
  );
  t.is(findings[0], serial);
  t.not(factsOf(serial, 'serial').teamNs, null);
});
