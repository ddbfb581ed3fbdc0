/** "What if" from the columns of a profile: what is exact, bounds for the rest, and what findings then promise. */
import test from 'ava';
import {
  buildModel,
  checkInvariants,
  noPaths,
  workSpanOf,
  type RawProfile,
} from '../../../../ts-frontend/src/model/index.js';
import { whatIfKinds } from '../../../../ts-frontend/src/model/profile/abi.js';
import { ProfileBuilder, run, wait } from '../../../support/profile-builder.js';
import { second } from '../../../support/example-profiles.js';

type Answer = RawProfile['whatIf'][number];

/** Two seconds alone in `a`, then two processors for one in `b`: work 4, span 3. */
function recorded(answers: readonly Partial<Answer>[], head: Partial<RawProfile['head']> = {}): RawProfile {
  const raw = new ProfileBuilder({
    processors: 2,
    head: { spanRecorded: true, workNs: 4 * second, spanNs: 3 * second, levelNs: second, ...head },
  })
    .stretch(2 * second, [run('main', ['main', 'a']), wait('w1', ['main', 'b'])])
    .stretch(second, [run('w1', ['main', 'b']), run('w2', ['main', 'b'])])
    .build();
  const named = (name: string): number => raw.entities.findIndex((one) => one?.name === name);
  const node = (name: string): number => raw.stacks.entity.indexOf(named(name));
  return {
    ...raw,
    onSpan: {
      stack: Uint32Array.of(node('a'), node('b')),
      thread: Uint32Array.of(0, 0),
      count: Float64Array.of(2000, 1000),
      ns: Float64Array.of(2 * second, second),
    },
    levels: { ns: Float64Array.of(second, second, 2 * second) },
    whatIf: answers.map((answer) => ({
      kind: whatIfKinds.procedure,
      name: 'a',
      entity: named('a'),
      seen: true,
      found: true,
      missed: false,
      factor: 0,
      spanNs: second,
      workNs: 2 * second,
      site: 0,
      sinceNs: 0,
      ...answer,
    })),
  };
}
const answer = (change: Partial<Answer>) => workSpanOf(buildModel(recorded([change])))!.whatIf[0]!;

test('what hooks reported is exact, and lies between the bounds of the prediction', (t) => {
  const { basis, spanNs, savesNs, lowNs, highNs, prediction } = answer({});
  t.deepEqual([basis, spanNs, savesNs, lowNs, highNs], ['exact', second, 2 * second, second, second]);
  const on = (P: number): readonly number[] => {
    const { ns, lowNs, highNs } = prediction.find(({ processors }) => processors === P)!;
    return [ns, lowNs, highNs].map((time) => time / second);
  };
  t.deepEqual(on(1), [2, 2, 2]);
  t.deepEqual(on(2).slice(1), [1, 1.5], 'max(2 / 2, 1), and 2 / 2 + 1 / 2');
});

test('more processors make no prediction longer', (t) => {
  const raw = recorded([{ spanNs: 3 * second, workNs: 3.3 * second }], { workNs: 12 * second });
  const levels = { ns: Float64Array.of(6 * second, 4 * second, 2 * second) };
  const { prediction, whatIf } = workSpanOf(buildModel({ ...raw, levels }))!;
  // between its bounds, the prediction for 2 processors is the lower one, that for 3 is not
  t.true(prediction[1]!.ns === prediction[1]!.lowNs && prediction[2]!.ns > prediction[2]!.lowNs);
  for (const rows of [prediction, whatIf[0]!.prediction])
    rows.forEach(({ ns, lowNs, highNs }, k) => {
      t.true(lowNs <= ns && ns <= highNs && ns <= (rows[k - 1]?.ns ?? Infinity), `${rows[k]!.processors}: ${ns}`);
    });
});

test('what was not reported leaves bounds: no chain loses more than it has on the span', (t) => {
  const one = answer({ missed: true, spanNs: 2 * second, workNs: 3 * second });
  t.is(one.basis, 'sampled');
  t.true(one.lowNs! <= one.spanNs! && one.spanNs! <= one.highNs!);
  t.true(one.lowNs! >= 0 && one.lowNs! <= second, 'two of three seconds are on the span, or more');
  t.is(one.highNs, 2 * second, 'what was reported is lost at least');
  const nearlyAll = answer({ missed: true, seen: false, spanNs: 3 * second, workNs: 4 * second });
  t.true(nearlyAll.highNs! <= 3 * second && nearlyAll.highNs! <= 1.1 * nearlyAll.workNs! + second, 'span <= work left');
  const now = workSpanOf(buildModel(recorded([{}])))!.prediction;
  for (const { processors, lowNs, ns, highNs } of nearlyAll.prediction) {
    t.true(lowNs <= ns && ns <= highNs);
    t.true(highNs <= now.find((row) => row.processors === processors)!.ns, `no longer than now on ${processors}`);
  }
  const costly = answer({ missed: true, factor: 2, spanNs: 3 * second });
  t.true(costly.lowNs! >= 3 * second && costly.lowNs! <= 5 * second);
  t.true(costly.highNs! >= 5 * second && costly.highNs! < 5.6 * second, 'not 6: all of its work is two seconds');
});

test('no answer: it never ran, nothing was measured for it, nothing has the name, nobody waited', (t) => {
  const nothing = { seen: false, entity: 0 };
  const hooked = recorded([nothing], { paths: { ...noPaths, hooks: true } });
  t.is(workSpanOf(buildModel(hooked))!.whatIf[0]!.basis, 'never-ran');
  t.is(answer({ ...nothing }).basis, 'unseen', 'without hooks it may have run');
  t.is(answer({ ...nothing, found: false }).basis, 'unknown');
  t.is(answer({ ...nothing, kind: whatIfKinds.lock, found: false, name: 'x' }).basis, 'unknown');
  t.is(answer({ ...nothing, kind: whatIfKinds.site }).basis, 'never-ran');
  t.is(workSpanOf(buildModel(recorded([{ ...nothing, site: 5 }])))?.whatIf.length, 0, 'chosen, and then not seen');
});

test('a lane that is longer than the span with a smaller factor breaks an invariant', (t) => {
  const broken = (change: Partial<Answer>): string =>
    checkInvariants(buildModel(recorded([change], { typicalSpanNs: 3 * second })))
      .filter((line) => line.includes('what if'))
      .join();
  t.is(broken({}), '');
  t.regex(broken({ factor: 0.5, spanNs: 3.1 * second }), /span with it and without/);
  t.regex(broken({ factor: 0.5, workNs: 4.1 * second }), /work with it and without/);
  t.regex(broken({ factor: 0.5, spanNs: 1.4 * second }), /span with it and without/, 'no strand takes less than half');
});

test('a finding promises no more than if what it is about took no time', (t) => {
  const serial = (answers: readonly Partial<Answer>[]) => {
    const finding = buildModel(recorded(answers)).findings.find(({ kind }) => kind === 'serial')!;
    return { savingNs: finding.savingNs, free: finding.whatIf };
  };
  const before = serial([]);
  t.true(before.savingNs > 0.9 * second && before.free === undefined, `${before.savingNs}`);
  // Something else runs in parallel: no schedule of the rest takes less than 2.6 of 3 seconds.
  const after = serial([{ spanNs: 2.6 * second, workNs: 2 * second }]);
  t.true(Math.abs(after.savingNs - 0.4 * second) < 1, `${after.savingNs}`);
  t.is(after.free?.tighter, true);
  t.is(serial([{}]).savingNs, before.savingNs, 'a looser one changes nothing');
});
