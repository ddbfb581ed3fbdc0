/** Threads that take turns by busy-waiting for each other: what one thread alone would save. */
import test from 'ava';
import { buildModel, noPaths, type Model } from '../../../../ts-frontend/src/model/index.js';
import { factsOf, ms, namesOf } from '../../../support/facts.js';
import { ProfileBuilder as Builder, ready, run, spin } from '../../../support/profile-builder.js';

const second = 1e9;
const builderOf = (): Builder =>
  new Builder({
    processors: 2,
    head: { publisher: 'pthread', paths: { ...noPaths, running: true }, usageKnown: true },
  });
const worksA = run('main', ['main', 'send']);
const worksB = run('echo', ['start', 'echo']);
const spinsA = spin('main', ['main', 'await', 'loop:await at a.c:5']);
const spinsB = spin('echo', ['start', 'await', 'loop:await at a.c:9']);
const isTurns = ({ findings }: Model): boolean => findings.some(({ facts }) => facts.form === 'spin-turns');

/** They work in turns for `work` of a second together; for the rest both wait for what the other one has written. */
function turns(work: number): Model {
  const builder = builderOf();
  for (let k = 0; k < 20; k++)
    builder
      .stretch(0.025 * work * second, [worksA, spinsB])
      .stretch(0.05 * (1 - work) * second, [spinsA, spinsB])
      .stretch(0.025 * work * second, [spinsA, worksB]);
  return buildModel(builder.build());
}

test('one thread would do the work of both sooner: first, with both loops, and no stage or uneven division', (t) => {
  const model = turns(0.4);
  const [finding] = model.findings;
  t.deepEqual([finding?.kind, finding?.change, ms(finding!.savingNs)], ['spinning', 'fewer-threads', 600]);
  const { objects, threads, waitingNs, workNs } = factsOf(finding, 'spin-turns');
  t.deepEqual(namesOf(model, objects).sort(), ['await at a.c:5', 'await at a.c:9']);
  t.deepEqual([threads, ms(waitingNs), ms(workNs)], [2, 1600, 400]);
  for (const { facts } of model.findings)
    t.notRegex(facts.form, /^(uneven-division|mutual-wait|slowest-stage)$/, 'what turns look like');
});

test('none where a thread works at each moment, only one waits, or threads lack a CPU', (t) => {
  t.false(isTurns(turns(0.95)));
  const stage = builderOf(),
    poller = builderOf(),
    without = builderOf();
  for (let k = 0; k < 20; k++) {
    stage.stretch(0.025 * second, [worksA, spinsB]).stretch(0.025 * second, [worksA, worksB]);
    poller.stretch(0.03 * second, [spinsB]).stretch(0.02 * second, [worksB]);
    without
      .stretch(0.01 * second, [worksA, spinsB])
      .stretch(0.03 * second, [ready('main', ['main', 'send']), spinsB])
      .stretch(0.01 * second, [spinsA, worksB]);
  }
  for (const builder of [stage, poller, without]) t.false(isTurns(buildModel(builder.build())));
});
