/** Events counted on each path: page faults, in place of the events that processors count. */
import { costIndex, countedInAll, viewOf, type Model } from '../../../ts-frontend/src/model/index.js';
import { needing } from '../../support/capabilities.js';
import { record } from '../../support/record.js';
import { program } from './helpers.js';

const test = needing('perf_event_open', 'process_vm_readv');

const faultsOf = (model: Model, name: string): number =>
  viewOf(model, 'flat')
    .open(costIndex.faults)
    .flatMap((module) => module.open(costIndex.faults))
    .flatMap((file) => file.open(costIndex.faults))
    .filter(({ subject }) => subject.kind === 'entity' && model.entities[subject.entity]?.name === name)
    .reduce((sum, row) => sum + (row.total[costIndex.faults] ?? 0), 0);

test('page faults belong to the procedure that touches pages first, and to its callers', async (t) => {
  const { model, status, stderr } = await record(program('page_faults'));
  t.is(status, 0, stderr);
  const all = countedInAll(model.raw).faults ?? 0;
  // On a loaded machine the sampler may read late, and then some samples find no space. Each sample stands for 256 or,
  // where there are many, 1,024 faults of a CPU; which of them are this program's is by chance where others fault, too:
  // four standard deviations.
  t.true(all > 300_000 && all < 400_000 + 4 * Math.sqrt(400_000 * 1024), `${all}`);
  const touch = faultsOf(model, 'touch');
  t.true(touch > 0.95 * all, `${touch} of ${all}`);
  t.true(faultsOf(model, 'touch_again') < 0.02 * all);
  const [many, few] = [faultsOf(model, 'many'), faultsOf(model, 'few')];
  t.true(Math.abs(many / (many + few) - 0.75) < 0.08, `${many}, ${few}`);
});
