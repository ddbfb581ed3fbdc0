/** The facts that work and span give about other numbers of processors. */
import test from 'ava';
import { predictions } from '../../../../ts-frontend/src/model/path/prediction.js';
import { scalingOf, type ScalingInput } from '../../../../ts-frontend/src/model/path/scaling.js';

const ci95 = { lowNs: 0, highNs: 0 };

/** That much work, the first `serial` of it alone, the rest in parallel in the last level. */
function input(serial: number, change: Partial<ScalingInput> = {}): ScalingInput {
  const [workNs, levelNs] = [1000, 10];
  const spanNs = serial + levelNs;
  const levels = new Float64Array(spanNs / levelNs).fill(levelNs);
  levels[levels.length - 1] = workNs - serial;
  return {
    processors: 2,
    workNs,
    spanNs,
    typicalSpanNs: spanNs,
    burdenedSpanNs: spanNs,
    spanIsSure: true,
    prediction: predictions({ workNs, spanNs, leastNs: spanNs, levels, levelNs }),
    procedures: [
      { entity: 1, onSpanNs: spanNs, onSpanSelfNs: levelNs, ci95, workNs },
      { entity: 2, onSpanNs: serial, onSpanSelfNs: serial, ci95, workNs: serial },
    ],
    sites: [],
    locks: [],
    freeSpanOf: () => null,
    callersOf: () => [],
    ...change,
  };
}

test('much parallelism: twice the processors, and what that saves of the time on those of the run', (t) => {
  // 200 + 800 / P
  t.deepEqual(scalingOf(input(200)), [{ form: 'more-processors-help', processors: 4, savesNs: 200, share: 1 / 3 }]);
});

test('little: the procedure that most of the span is in itself, not the one above it', (t) => {
  // On two processors 900 + 50, on four 900 + 25.
  t.deepEqual(scalingOf(input(900)), [
    {
      form: 'span-limits',
      processors: 4,
      savesNs: 25,
      share: 25 / 950,
      parallelism: 1000 / 910,
      code: { entity: 2, selfNs: 900, share: 900 / 910, freeSpanNs: null, callers: [] },
    },
  ]);
  const even = Array.from({ length: 10 }, (_, k) => ({ entity: k, onSpanNs: 91, onSpanSelfNs: 91, ci95, workNs: 91 }));
  const [fact] = scalingOf(input(900, { procedures: even }));
  t.is(fact?.form === 'span-limits' ? fact.code : undefined, null, 'none stands out');
});

test('a lock is named from the hold on that limits twice the processors', (t) => {
  const forms = (holdNs: number): string[] =>
    scalingOf(input(0, { locks: [{ entity: 7, holdNs }] })).map(({ form }) => form);
  t.deepEqual(forms(249), ['more-processors-help']);
  t.deepEqual(forms(251), ['lock-limits', 'more-processors-help']);
});

test('a fine grain is that of what is spawned most often', (t) => {
  const site = {
    site: 1,
    caller: 0,
    line: 0,
    start: 3,
    spanNs: 1,
    topSpanNs: 1,
    parallelism: 1,
    onSpanNs: 0,
    onSpanSelfNs: 0,
  };
  const sites = [
    { ...site, count: 5, workNs: 500, topCount: 5, topWorkNs: 500 },
    { ...site, count: 50, workNs: 900, topCount: 1, topWorkNs: 400 },
  ];
  t.deepEqual(scalingOf(input(0, { burdenedSpanNs: 26, sites })).at(-1), {
    form: 'fine-grain',
    site: 1,
    calls: 50,
    meanWorkNs: 8,
    burdenNs: 16,
  });
  t.deepEqual(scalingOf(input(0, { burdenedSpanNs: 15, sites })).length, 1, 'not yet');
});
