/** Code that is in no file: it is reported as such, behind the locks that are held while it runs. */
import { join } from 'node:path';
import { root } from '../../support/root.js';
import { unwindingOf } from '../../../ts-frontend/src/model/index.js';
import { record } from '../../support/record.js';
import { needing } from '../../support/capabilities.js';

needing('perf_event_open')(
  'generated code stands on the path, behind the lock, and is what limits the program',
  async (t) => {
    const { model, status } = await record(join(root, 'build/test/end-to-end/pthread-layer/generated'));
    t.is(status, 0);
    const generated = model.entities.find(({ kind, name }) => kind === 'procedure' && name === 'generated code');
    const turn = model.entities.find(({ name }) => name === 'turn')!;
    t.truthy(generated, model.entities.map(({ name }) => name).join(', '));
    t.true(
      generated!.processorTimeSelfNs > 0.5 * model.root.processorTimeNs,
      'the program does nothing else, but it is seen only once the map was read again',
    );
    t.true(
      turn.processorTimeNs > 0.9 * model.root.processorTimeNs &&
        turn.processorTimeSelfNs < 0.4 * model.root.processorTimeNs,
      'it runs under the lock, which does not run itself',
    );
    t.true(
      model.findings.some(({ entity, related }) => entity === generated!.id || related.includes(generated!.id)),
      JSON.stringify(model.findings.map(({ facts }) => facts)),
    );
  },
);

needing('perf_event_open')(
  'code without unwind information has its own name, or none: not that of the procedure before it',
  async (t) => {
    const { model, status } = await record(join(root, 'build/test/end-to-end/pthread-layer/no_unwind_info'));
    t.is(status, 0);
    const most = model.entities
      .filter(({ kind, members }) => kind === 'procedure' && members.length === 0)
      .sort((a, b) => b.processorTimeSelfNs - a.processorTimeSelfNs)
      .slice(0, 2);
    t.deepEqual(most.map(({ name }) => name.replace(/0x[\da-f]+$/, '')).sort(), ['looks_like_data', 'no_unwind_info+']);
    for (const { name, processorTimeSelfNs } of most)
      t.true(processorTimeSelfNs > 0.3 * model.root.processorTimeNs, `${name}: ${processorTimeSelfNs / 1e6} ms`);
    // their callers are found by what their code does with the stack
    const { walks, cut, steps } = unwindingOf(model.raw);
    t.true(steps.code.likely > 0 && steps.code.invalid === 0, JSON.stringify(steps));
    t.true(Object.values(cut).reduce((sum, n) => sum + n, 0) <= 0.05 * walks, JSON.stringify({ walks, cut }));
  },
);
