/** Whether threads wait in the middle of their work, and what they can save who are woken often. */
import test from 'ava';
import { buildModel } from '../../../../ts-frontend/src/model/index.js';
import { waitInTheirWork } from '../../../../ts-frontend/src/model/metrics/waits-in-work.js';
import { factsOf } from '../../../support/facts.js';
import { noPaths } from '../../../../ts-frontend/src/model/index.js';
import { inKernel, ProfileBuilder, run, tries, wait, type Doing } from '../../../support/profile-builder.js';

const second = 1e9;
const paths = { ...noPaths, running: true, kernel: true };

test('a procedure that only waits and wakes does no work: threads that wait below it wait for work', (t) => {
  const waits = (inReceive: (thread: string) => Doing): boolean => {
    const builder = new ProfileBuilder({ processors: 2, head: { publisher: 'pthread' } });
    for (const thread of ['a', 'b']) {
      const box = `condition:box ${thread}`;
      builder
        .stretch(0.1 * second, [run(thread, ['act', 'sum'])])
        .stretch(0.05 * second, [inReceive(thread)])
        .stretch(second, [wait(thread, ['act', 'receive', box])])
        .stretch(0.02 * second, [wait(thread, ['act', box])]); // a path without `receive`
    }
    const ids = (...names: string[]): Set<number> => new Set(names.map((name) => builder.id(name)));
    return waitInTheirWork(builder.build(), ids('thread:a', 'thread:b'), ids('condition:box a', 'condition:box b'));
  };
  t.false(waits((thread) => inKernel('futex', thread, ['act', 'receive'])));
  t.true(waits((thread) => run(thread, ['act', 'receive'])));
});

test('waking others less often saves no more than the longest work of one thread leaves', (t) => {
  const waits = 50_000;
  const recorded = (worksNs: number): number | null => {
    const builder = new ProfileBuilder({ processors: 2, head: { publisher: 'pthread', cpuRunNs: 2 * second, paths } });
    const box = ['act', 'condition:box'];
    builder
      .stretch(worksNs, [run('router', ['route', 'check']), tries('b', box), wait('c', box)])
      .stretch(second - worksNs, [inKernel('futex', 'router', ['route']), tries('b', box), wait('c', box)])
      .object('condition:box', { acquisitions: waits, contended: waits, waitNs: second })
      .object('mutex:box', { acquisitions: waits });
    const finding = buildModel(builder.build()).findings.find(({ facts }) => facts.form === 'wake-ups');
    return finding ? Math.round(factsOf(finding, 'wake-ups').mostNs / 1e6) : null;
  };
  t.is(recorded(second), null, 'it works all the time');
  t.is(recorded(0.8 * second), 200);
});
