/** Findings of one model never contradict each other. Models and findings made by hand. */
import test from 'ava';
import {
  buildModel,
  checkInvariants,
  contradictions,
  type Finding,
  type Model,
} from '../../../../ts-frontend/src/model/index.js';
import { findingOf, largerPieces } from '../../../../ts-frontend/src/model/evidence/context.js';
import { reconciled, unopposed } from '../../../../ts-frontend/src/model/evidence/advice.js';
import { factsOf } from '../../../support/facts.js';
import { ProfileBuilder, ready, run, spin, wait } from '../../../support/profile-builder.js';
import { second } from '../../../support/example-profiles.js';

const four = ['w1', 'w2', 'w3', 'w4'];
/**
 * For half of the time all threads work in OpenMP's library; for the other half one still works while the others are at
 * a barrier.
 */
function tasksAndBarrier(): Model {
  const round = (builder: ProfileBuilder, late: string): ProfileBuilder =>
    builder
      .stretch(
        0.05 * second,
        four.map((t) => run(t, ['main', 'sum', 'GOMP_task', 'malloc'])),
      )
      .stretch(
        0.02 * second,
        four.map((t) => run(t, ['main', 'blocks'])),
      )
      .stretch(
        0.03 * second,
        four.map((t) => (t === late ? run(t, ['main', 'blocks']) : wait(t, ['main', 'blocks', 'barrier:round']))),
      );
  let builder = new ProfileBuilder({ processors: 4, head: { publisher: 'pthread' } });
  for (let k = 0; k < 10; k++) builder = round(builder, four[k % 4]!);
  const profile = builder.object('barrier:round', { acquisitions: 40, contended: 30, capacity: 4 }).build();
  for (const entity of profile.entities) if (/GOMP|malloc/.test(entity.name)) entity.origin = 'openmp';
  return buildModel(profile);
}

test('pieces that are too small for one thing, and uneven in another: larger there, even division here', (t) => {
  const model = tasksAndBarrier();
  t.deepEqual(
    model.findings.slice(0, 2).map(({ facts, advice }) => [facts.form, advice.pieces]),
    [
      ['openmp', 'larger'],
      ['uneven-division', null],
    ],
  );
  t.is(factsOf(model.findings[0], 'openmp').use, 'pieces');
  t.is(factsOf(model.findings[1], 'uneven-division').among, 4);
  t.deepEqual(checkInvariants(model), []);
});

test('more threads than CPUs at one time, too few at another: no finding advises to make more of them', (t) => {
  const builder = new ProfileBuilder({ processors: 4, head: { publisher: 'pthread', cpuRunNs: 6 * second } });
  const gate = ['main', 'spinlock:gate'];
  const model = buildModel(
    builder
      .stretch(second, [run('a', ['main', 'load']), run('b', ['main', 'load'])])
      .stretch(second, [
        run('w1', ['main', 'work']),
        run('w2', ['main', 'work']),
        ...['x1', 'x2', 'x3', 'x4'].map((t) => ready(t, ['main', 'work'])),
        spin('s1', gate),
        spin('s2', gate),
      ])
      .build(),
  );
  const forms = model.findings.map(({ facts }) => facts.form);
  t.true(forms.includes('oversubscription') && forms.includes('too-few-threads'), forms.join());
  t.deepEqual(contradictions(model.findings), []);
  t.false(model.findings.some(({ advice }) => advice.threads === 'more'));
});

const someModel = tasksAndBarrier();
const strict = (entity: number, savingNs: number, pieces: 'larger' | 'smaller'): Finding =>
  findingOf(someModel, {
    entity,
    kind: 'overhead',
    change: 'coarsen',
    advice: { ...largerPieces, pieces },
    costNs: second,
    savingNs,
    processorUse: { busy: 1, spinning: 0, idle: 3 },
    facts: { form: 'package-work', events: null, savesNs: savingNs, coarser: 10 },
  });

test('of two findings that leave no other way the one that saves more stays', (t) => {
  const [less, more] = [strict(1, 1e8, 'smaller'), strict(2, 3e8, 'larger')];
  t.deepEqual(reconciled([less, more]), [more]);
  t.deepEqual(reconciled([more, less]), [more]);
  t.deepEqual(reconciled([less, strict(2, 3e8, 'smaller')]).length, 2);
  t.deepEqual(contradictions([less, more]), ['findings advise smaller and larger pieces']);
});

test('a notice leaves out what a finding advises against', (t) => {
  const advice = { pieces: 'larger', threads: 'fewer' } as const;
  t.deepEqual(unopposed(advice, [strict(1, 1e8, 'smaller')]), { pieces: null, threads: 'fewer' });
  t.deepEqual(unopposed(advice, [strict(1, 1e8, 'larger')]), advice);
  t.deepEqual(unopposed(advice, []), advice);
  t.deepEqual(contradictions([strict(1, 1e8, 'smaller'), { advice }]), ['findings advise smaller and larger pieces']);
});

test('a model whose findings are opposed breaks an invariant', (t) => {
  const { findings: own } = someModel;
  t.true(own.length > 0);
  const broken = checkInvariants({ ...someModel, findings: [strict(1, 1e8, 'smaller'), strict(2, 1e8, 'larger')] });
  t.deepEqual(broken, ['findings advise smaller and larger pieces']);
});
