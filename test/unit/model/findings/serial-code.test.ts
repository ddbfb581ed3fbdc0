/** Serial code: of one thread in several procedures, in calls of libraries and interpreters, beside an unused team. */
import test from 'ava';
import { buildModel, type Model } from '../../../../ts-frontend/src/model/index.js';
import { factsOf, ms, namesOf } from '../../../support/facts.js';
import { ProfileBuilder as Builder, run, wait } from '../../../support/profile-builder.js';

const second = 1e9;

test('serial code that one call runs is one finding', (t) => {
  const written = (origin: 'installed' | 'own'): Model => {
    const builder = new Builder({ processors: 2 });
    const row = ['main', 'save', 'png_write_row'];
    builder
      .stretch(0.4 * second, [run('main', row)])
      .stretch(0.3 * second, [run('main', [...row, 'deflate'])])
      .stretch(0.3 * second, [run('main', ['main', 'load']), run('worker', ['start', 'load'])]);
    for (const name of ['png_write_row', 'deflate']) builder.describe(name, { origin });
    return buildModel(builder.build());
  };
  const costs = ({ findings }: Model): string[] =>
    findings.filter(({ kind }) => kind === 'serial').map(({ name, costNs }) => `${name} ${ms(costNs)}`);
  const model = written('installed');
  t.deepEqual(costs(model), ['png_write_row 700']);
  t.deepEqual(namesOf(model, factsOf(model.findings[0], 'serial').parts), ['deflate']);
  t.deepEqual(costs(written('own')), ['png_write_row 700']);
});

test('what an interpreter calls inside of what it interprets is no call of the program', (t) => {
  const loop = (...rest: string[]): string[] => ['main', 'eval', ...rest];
  const builder = new Builder({ processors: 2 })
    .stretch(0.3 * second, [run('main', loop('fast'))])
    .stretch(0.3 * second, [run('main', loop('fast', 'eval', 'deflate'))])
    .stretch(0.2 * second, [run('main', loop('hash'))])
    .stretch(0.2 * second, [run('main', loop('load'))]);
  for (const name of ['eval', 'fast', 'deflate', 'hash', 'load']) builder.describe(name, { origin: 'installed' });
  const model = buildModel(builder.build());
  const { pieces } = factsOf(model.findings[0], 'serial');
  t.deepEqual(pieces.map(({ entity, costNs }) => `${namesOf(model, [entity]).join()} ${ms(costNs)}`).sort(), [
    'deflate 300',
    'fast 300',
    'hash 200',
    'load 200',
  ]);
});

test('what one thread runs alone in all is explained by the finding that says so', (t) => {
  const model = (rest: number): Model => {
    const builder = new Builder({ processors: 2 }).stretch(0.6 * second, [run('main', ['main', 'parse'])]);
    for (let k = 0; k < 20; k++) builder.stretch((rest / 20) * second, [run('main', ['main', `small${k}`])]);
    return buildModel(
      builder.stretch((0.4 - rest) * second, [run('main', ['main', 'a']), run('w', ['start', 'a'])]).build(),
    );
  };
  const { findings, notices } = model(0.3);
  t.is(ms(factsOf(findings[0], 'serial').inAll!.costNs), 900);
  t.false(notices.some(({ form }) => form === 'unexplained'));
});

test('what idle processors cost beyond the findings that a report has is said with its size', (t) => {
  const spread = (alone: number): Model => {
    const builder = new Builder({ processors: 2 });
    for (let k = 0; k < alone; k++) builder.stretch(0.04 * second, [run(`t${k}`, [`start${k}`])]);
    return buildModel(
      builder.stretch((1 - 0.04 * alone) * second, [run('w1', ['main', 'a']), run('w2', ['main', 'a'])]).build(),
    );
  };
  const costs = ({ notices }: Model): number[] =>
    notices.flatMap((one) => (one.form === 'unexplained' ? [ms(one.ns)] : []));
  t.deepEqual([costs(spread(6)), costs(spread(4))], [[80], []]); // two findings of 20 ms each, beside code
});

test('a team that no region uses, made by a library, waits for nothing of the program', (t) => {
  const rest = 'futex:inside libgomp.so.1';
  const serialOf = (used: boolean): ReturnType<typeof factsOf<'serial'>> => {
    const builder = new Builder({ processors: 2, head: { publisher: 'pthread' } })
      .describe('GOMP_parallel', { origin: 'openmp' })
      .describe('worker', { origin: 'openmp' })
      .describe(rest, { origin: 'openmp' })
      .stretch(second, [run('main', ['main', 'smooth']), wait('w', ['worker', rest])]);
    if (used)
      builder.stretch(0.03 * second, [run('main', ['main', 'GOMP_parallel', 'part']), run('w', ['worker', 'part'])]);
    return factsOf(
      buildModel(builder.build()).findings.find(({ name }) => name === 'smooth'),
      'serial',
    );
  };
  t.is(serialOf(true).waiting?.threads, 1);
  t.not(serialOf(true).teamNs, null); // one thread would take no longer
  t.is(serialOf(false).waiting, null);
  t.is(serialOf(false).teamNs, null); // there are no pieces that could be larger
});
