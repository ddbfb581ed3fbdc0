/** Gates: parsing of rules, comparisons of equal programs without alarms, and detection of planted changes. */
import test from 'ava';
import {
  GateError,
  gateRule,
  gateValue,
  buildModel,
  evaluateGate,
  type GateValue,
} from '../../../../ts-frontend/src/model/index.js';
import { chiSquareLow, studentQuantile } from '../../../../ts-frontend/src/model/metrics/confidence.js';
import { gateLine } from '../../../../ts-frontend/src/render/index.js';
import { ProfileBuilder, run } from '../../../support/profile-builder.js';

const rule = gateRule('npt(work) > 5 %');
const exactly = (...values: number[]): GateValue[] => values.map((value) => ({ value, deviation: 0 }));

test('rules', (t) => {
  t.like(rule, { metric: 'npt', name: 'work', floor: { of: 'before', amount: 0.05 } });
  t.like(gateRule(' waited(mutex a(b) > c) > 1.5ms '), {
    metric: 'waited',
    name: 'mutex a(b) > c',
    floor: { of: 'ns', amount: 1.5e6 },
  });
  t.like(gateRule('elapsed > 2 s'), { metric: 'elapsed', name: '', floor: { of: 'ns', amount: 2e9 } });
  t.like(gateRule('calls(f) > 0'), { metric: 'calls', floor: { of: 'count', amount: 0 } });
});

for (const [text, message] of [
  ['npt(f)', /it is no rule/],
  ['npt(f) < 5 %', /it is no rule/],
  ['cpu(f) > 5 %', /no metric "cpu"; there are elapsed, npt/],
  ['elapsed(f) > 5 %', /takes no name/],
  ['npt > 5 %', /npt of what\?/],
  ['npt() > 5 %', /npt of what\?/],
  ['npt(f) > 5', /no unit/],
  ['calls(f) > 5 ms', /counted/],
] as const)
  test(`no rule: ${text}`, (t) => {
    t.throws(() => gateRule(text), { instanceOf: GateError, message });
  });

test('each of the conditions keeps a gate open', (t) => {
  const verdict = (before: GateValue[], after: GateValue[]): string => evaluateGate(rule, before, after).verdict;
  t.is(verdict(exactly(100, 101, 102), exactly(120, 121, 122)), 'worse');
  t.is(verdict(exactly(100, 101, 102), exactly(99, 100, 101)), 'not-more');
  t.is(verdict(exactly(100, 101, 102), exactly(104, 105, 106)), 'within-floor');
  t.is(verdict(exactly(80, 100, 120), exactly(103, 118, 133)), 'within-spread');
  // More runs that vary as much: the change is known, but a single run shows it no better.
  const many = (m: number): GateValue[] => exactly(...Array.from({ length: 60 }, (_, k) => m + 20 * ((k % 3) - 1)));
  t.is(verdict(many(100), many(115)), 'within-spread');
  t.is(verdict(many(100), many(118)), 'worse');
  // Equal by chance, although the error of sampling alone may be larger.
  const unsure = (value: number): GateValue => ({ value, deviation: 30 });
  t.is(verdict([100, 100, 100].map(unsure), [120, 120, 120].map(unsure)), 'uncertain');
  t.is(evaluateGate(gateRule('calls(f) > 0'), exactly(1000), exactly(1001)).verdict, 'worse');
  t.is(evaluateGate(gateRule('calls(f) > 0'), exactly(1000), exactly(1000)).verdict, 'not-more');
  t.is(evaluateGate(rule, exactly(0, 0, 0), exactly(5, 5, 5)).verdict, 'worse', 'what is new');
});

test("the interval is Welch's", (t) => {
  // Means 10 and 20, variances 1 and 4, three runs each: 2.94 degrees of freedom, of which 2 are used (4.303).
  const { ci95, change } = evaluateGate(rule, exactly(9, 10, 11), exactly(18, 20, 22));
  t.is(change, 10);
  t.true(Math.abs(ci95.high - 10 - 4.302653 * Math.sqrt(5 / 3)) < 1e-5);
});

test('several rules together are wrong no more often than one', (t) => {
  // 99 % instead of 95 % each: 9.925 standard errors with 2 degrees of freedom.
  const { ci95 } = evaluateGate(rule, exactly(9, 10, 11), exactly(18, 20, 22), 5);
  t.true(Math.abs(ci95.high - 10 - 9.924843 * Math.sqrt(5 / 3)) < 1e-5);
  const [before, after] = [exactly(28, 36, 40, 37), exactly(47.5, 52.5, 44.5, 45.5)];
  t.is(evaluateGate(rule, before, after).verdict, 'worse');
  t.is(evaluateGate(rule, before, after, 5).verdict, 'uncertain');
});

/** Random numbers that are the same in each run (Park and Miller), normal ones as sums of twelve. */
function normals(seed: number): () => number {
  let state = seed;
  const next = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
  return () => Array.from({ length: 12 }, next).reduce((a, b) => a + b, -6);
}

test("quantiles of Student's t", (t) => {
  for (const [freedom, misses, quantile] of [
    [1, 0.05, 12.7062],
    [2, 0.01, 9.9248],
    [3, 0.05, 3.1824],
    [6, 0.01, 3.7074],
    [9, 0.02, 2.8214],
    [30, 0.05, 2.0423],
    [1000, 0.05, 2.0423],
  ] as const)
    t.true(Math.abs(studentQuantile(freedom, misses) - quantile) < 1e-4, `${freedom}, ${misses}`);
});

test('what the runs themselves exclude does not count as their variance', (t) => {
  for (const [freedom, quantile] of [
    [4, 0.711],
    [9, 3.325],
    [29, 17.708],
  ] as const)
    t.true(Math.abs(chiSquareLow(freedom) / quantile - 1) < 0.04, `${freedom}`);
  const ten = (m: number): GateValue[] =>
    Array.from({ length: 10 }, (_, k) => ({ value: m + 2 * ((k % 2) - 0.5), deviation: 40 }));
  t.is(evaluateGate(rule, ten(100), ten(120)).verdict, 'worse', 'ten runs within 1 % are not alike by chance');
  t.is(evaluateGate(rule, ten(100).slice(0, 3), ten(120).slice(0, 3)).verdict, 'worse');
  const one = [{ value: 100, deviation: 40 }];
  t.is(evaluateGate(gateRule('npt(work) > 0 %'), one, [{ value: 120, deviation: 40 }]).verdict, 'uncertain');
});

test('2,000 A/A comparisons: few alarms; planted changes found, and with more runs more of them', (t) => {
  const next = normals(20090);
  // By how much runs vary, the increase, and the least share found of 3, 5 and 10 runs each.
  for (const [noise, planted, least] of [
    [0.02, 10, [0.8, 0.98, 0.99]],
    [0.05, 10, [0.15, 0.55, 0.85]],
    [0.05, 30, [0.85, 0.99, 0.99]],
    [0.1, 30, [0.35, 0.85, 0.98]],
  ] as const)
    for (const [k, runs] of [3, 5, 10].entries()) {
      const side = (level: number): GateValue[] =>
        Array.from({ length: runs }, () => ({ value: level * (1 + noise * next()), deviation: 0 }));
      let alarms = 0;
      let found = 0;
      for (let n = 0; n < 2000; n++) {
        if (evaluateGate(rule, side(100), side(100)).verdict === 'worse') alarms++;
        if (evaluateGate(rule, side(100), side(100 + planted)).verdict === 'worse') found++;
      }
      t.true(alarms <= 70, `${alarms} of 2,000 at ${noise} with ${runs} runs`); // 2.5 %, and three standard errors
      t.true(found >= 2000 * least[k]!, `${found} of 2,000 with ${planted} % more found at ${noise}, ${runs} runs`);
    }
});

test('values of a run', (t) => {
  const model = buildModel(
    new ProfileBuilder({ processors: 2 })
      .stretch(1e9, [run('t', ['main', 'work'])])
      .stretch(1e9, [run('t', ['main', 'work']), run('u', ['main', 'other'])])
      .call('main', 'work', 7)
      .build(),
    { compensate: false },
  );
  const work = model.entities.find(({ name }) => name === 'work')!;
  t.is(gateValue(model, 'npt', work)!.value, 1.5e9);
  t.true(gateValue(model, 'npt', work)!.deviation > 0);
  t.is(gateValue(model, 'time', work)!.value, 2e9);
  const npt = gateValue(model, 'npt', work)!;
  t.is(gateValue(model, 'time', work)!.deviation / 2e9, npt.deviation / npt.value, 'the same samples');
  t.is(gateValue(model, 'self', work)!.deviation, npt.deviation, 'all of it is its own');
  t.is(gateValue(model, 'calls', work)!.value, 7);
  t.is(gateValue(model, 'waited', work), null);
  const none = gateValue({ ...model, samples: 300 }, 'npt', null)!;
  t.deepEqual([none.value, Math.round(none.deviation)], [0, Math.round(model.elapsedNs / 100 / 1.959963985)]);
  t.deepEqual(gateValue(model, 'calls', null), { value: 0, deviation: 0 });
  t.is(gateValue(model, 'elapsed', null)!.value, 2e9);
});

test('a line says what was compared, and why', (t) => {
  t.is(
    gateLine(evaluateGate(rule, exactly(1e9, 1.01e9, 1.02e9), exactly(1.2e9, 1.21e9, 1.22e9)), { ascii: true }),
    'FAIL npt(work) > 5 %: 1.01 s -> 1.21 s (+19.8 %, 95 % interval +17.6 % to +22.0 %, ' +
      'runs vary by 1.0 %): more than allowed, and more than runs of one version vary',
  );
});
