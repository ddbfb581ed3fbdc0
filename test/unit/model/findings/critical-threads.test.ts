/** Changes that do not pay beside a thread that the program waits for; profiles made by hand. P = 2 throughout. */
import test from 'ava';
import { buildModel, type Finding } from '../../../../ts-frontend/src/model/index.js';
import { nameOf } from '../../../support/facts.js';
import { io, ProfileBuilder, run, wait, type Doing } from '../../../support/profile-builder.js';
import { second } from '../../../support/example-profiles.js';

const profile = (doings: Doing[]): ProfileBuilder => new ProfileBuilder({ processors: 2 }).stretch(second, doings);
const of = (builder: ProfileBuilder, kind: string): Finding | undefined =>
  buildModel(builder.build()).findings.find((finding) => finding.kind === kind);
const table = ['main', 'helper', 'mutex:table'];

test('a hot lock among helpers, while main computes from the beginning to the end: nothing to save there', (t) => {
  const builder = profile([run('main', ['main', 'solve']), wait('w1', table), io('w2', [...table, 'load'])]);
  const finding = of(builder, 'lock-contention');
  t.is(finding?.name, 'table');
  t.deepEqual([finding!.costNs, finding!.savingNs, finding!.bound?.mostNs], [second, 0, 0]);
  t.deepEqual(
    [nameOf(buildModel(builder.build()), finding!.bound!.thread), finding!.bound!.outsideNs],
    ['main', second],
  );
  t.is(buildModel(builder.build()).findings[0]!.kind, 'serial', 'what can pay comes first');
});

test('the same lock where main takes it too, or only works for half of the time: it pays', (t) => {
  t.is(of(profile([run('main', [...table, 'solve']), wait('w1', table)]), 'lock-contention')!.bound, null);
  const half = profile([run('main', ['main', 'solve']), wait('w1', table), io('w2', [...table, 'load'])]).stretch(
    second,
    [wait('main', ['main', 'join:end']), wait('w1', table), run('w2', [...table, 'store'])],
  );
  t.is(of(half, 'lock-contention')!.bound, null);
});

test('code to make faster beside a thread that is joined at the end: only what that leaves', (t) => {
  const beside = (last: Doing[]): ProfileBuilder =>
    new ProfileBuilder({ processors: 2 })
      .stretch(0.9 * second, [run('main', ['main', 'merge']), run('w', ['worker', 'render'])])
      .stretch(0.1 * second, last);
  const joined = buildModel(beside([wait('main', ['main', 'join:w']), run('w', ['worker', 'render'])]).build());
  t.false(
    joined.findings.some(({ name }) => name === 'merge'),
    'nobody waits for it',
  );
  // A thread that works until it is asked to end runs as long as main does.
  const reported = buildModel(beside([run('main', ['main', 'merge']), run('w', ['worker', 'render'])]).build());
  t.true(reported.findings.some(({ name, bound }) => name === 'merge' && bound === null));
});
