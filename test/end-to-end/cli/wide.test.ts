/**
 * A program with 256 busy processors (a synthetic one, because no machine here has as many): recorded, checked,
 * reported, shown.
 */
import { join } from 'node:path';
import test from 'ava';
import { root } from '../../support/root.js';
import { openModel } from '../../support/record.js';
import { directory, quartz } from '../../support/run-quartz.js';
import { schemaErrors } from '../../support/json-schema.js';

const processors = 256;

test.serial('256 busy processors: recorded by one and by several threads, and shown in every view', async (t) => {
  for (const threads of [1, 3]) {
    const file = join(directory(), 'wide.quartz');
    const recorded = await quartz(
      [
        'record',
        '--rate',
        '500',
        '--threads',
        String(threads),
        '-o',
        file,
        '--',
        join(root, 'build/test/end-to-end/sampler/publisher'),
        'run',
        '700',
        '0',
      ],
      { env: { PUBLISHER_PROCESSORS: String(processors), PUBLISHER_BUSY: '1' } },
    );
    t.is(recorded.status, 0, recorded.stderr);
    const checked = await quartz(['check', file]);
    t.is(checked.status, 0, checked.stderr);
    const model = openModel(file);
    t.is(model.processors, processors);
    t.is(model.head.samplerThreads, threads);
    t.is(model.head.invalid, 0);
    t.is(model.balance.byBusyNs[processors], model.elapsedNs, 'all were busy all the time');
    t.is(model.root.processorTimeNs, processors * model.elapsedNs);
    const workers = model.entities.find((one) => one.kind === 'thread' && one.members.length > 0);
    t.is(workers?.members.length, processors - 1);
    for (const view of [[], ['--view', 'locks'], ['--view', 'threads'], ['--focus', model.root.name], ['--csv']]) {
      const { status, stdout, stderr } = await quartz(['report', ...view, file]);
      t.is(status, 0, `${view.join(' ')}: ${stderr}`);
      t.not(stdout, '');
    }
    t.is(schemaErrors((await quartz(['report', '--json', file])).stdout), '');
  }
});
