/** Serial code between phases that are divided among threads, as short as the lag of paths of running threads. */
import test from 'ava';
import type { Model } from '../../../../ts-frontend/src/model/index.js';
import { buildModel } from '../../../../ts-frontend/src/model/index.js';
import { ProfileBuilder, run, spin, wait, type Doing } from '../../../support/profile-builder.js';
import { second } from '../../../support/example-profiles.js';
import { close } from '../expected.js';

const dock = 'futex:inside libgomp.so.1';
const serial = ['main', 'update', 'crunch'];
const region = (thread: string): string[] =>
  thread === 'main' ? ['main', 'relax', 'GOMP_parallel', 'body', 'crunch'] : ['main', 'start', 'body', 'crunch'];
const waits: Doing = spin('w', ['main', 'start', dock]);

/**
 * For one second both threads work, for another only main; for `lag` of each, main's path is still that of the other
 * phase.
 */
function recorded(lag: number): Model {
  return buildModel(
    new ProfileBuilder({ processors: 2, head: { publisher: 'pthread' } })
      .describe('GOMP_parallel', { origin: 'openmp' })
      .describe('start', { origin: 'openmp' })
      .stretch((1 - lag) * second, [run('main', region('main')), run('w', region('w'))])
      .stretch(lag * second, [run('main', serial), run('w', region('w'))])
      .stretch((1 - lag) * second, [run('main', serial), waits])
      .stretch(lag * second, [run('main', region('main')), waits])
      .build(),
  );
}

test('serial code between parallel regions is serial, however short these are', (t) => {
  for (const lag of [0, 0.2, 0.45]) {
    const { findings } = recorded(lag);
    t.deepEqual([findings[0]?.kind, findings[0]?.name], ['serial', 'update'], `${lag}`);
    close(t, 'cost', findings[0]!.costNs, 1);
    close(t, 'saving', findings[0]!.savingNs, 0.5);
    t.false(
      findings.some(({ kind }) => kind === 'imbalance'),
      `${lag}`,
    );
  }
});

test('a region that one thread has more of is uneven, beside serial code as well', (t) => {
  const { findings } = buildModel(
    new ProfileBuilder({ processors: 2, head: { publisher: 'pthread' } })
      .describe('GOMP_parallel', { origin: 'openmp' })
      .describe('start', { origin: 'openmp' })
      .stretch(second, [run('main', region('main')), run('w', region('w'))])
      .stretch(0.7 * second, [run('main', region('main')), waits])
      .stretch(0.5 * second, [run('main', serial), waits])
      .build(),
  );
  const costOf = (kind: string): number => Math.round((findings.find((one) => one.kind === kind)?.costNs ?? 0) / 1e8);
  t.deepEqual([costOf('imbalance'), costOf('serial')], [7, 5]);
  t.is(findings.find(({ kind }) => kind === 'serial')?.name, 'update');
});

test('two procedures that threads run beside each other are no serial code, however the shares differ', (t) => {
  const { findings } = buildModel(
    new ProfileBuilder({ processors: 2, head: { publisher: 'pthread' } })
      .stretch(second, [run('a', ['start', 'first']), run('b', ['start', 'second'])])
      .stretch(0.6 * second, [run('a', ['start', 'first']), wait('b', ['start', 'barrier:end'])])
      .build(),
  );
  t.is(findings[0]?.kind, 'imbalance');
});
