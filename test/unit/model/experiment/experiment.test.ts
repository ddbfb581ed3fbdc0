/**
 * Experiments: intervals that contain the truth as often as they promise, two modes without false alarms, orders,
 * matched findings.
 */
import test from 'ava';
import {
  buildModel,
  experimentOf,
  item,
  orderOf,
  recordedRun,
  withExperiment,
  type ExperimentInput,
  type ExperimentRun,
  type Finding,
  type Model,
  type Verification,
} from '../../../../ts-frontend/src/model/index.js';
import { dipOf } from '../../../../ts-frontend/src/model/experiment/dip.js';
import { criticalDip, modesOf } from '../../../../ts-frontend/src/model/experiment/modes.js';
import { median, pairedTimes, ratioOf } from '../../../../ts-frontend/src/model/experiment/paired.js';
import { adviserOf, remedyOf } from '../../../../ts-frontend/src/model/experiment/remedies.js';
import { ProfileBuilder, run } from '../../../support/profile-builder.js';

/** Random numbers that are the same in each run (Park and Miller): uniform ones, and normal ones as sums of twelve. */
function draws(seed: number): { uniform: () => number; normal: () => number } {
  let state = seed;
  const uniform = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
  return { uniform, normal: () => Array.from({ length: 12 }, uniform).reduce((a, b) => a + b, -6) };
}
const close = (a: number, b: number): boolean => Math.abs(a - b) < 1e-9;

test('the ratio is the geometric mean, with the interval of Student', (t) => {
  const { ratio, low, high } = ratioOf([1, 1, 1], [2, 2, 2])!;
  t.deepEqual(
    [ratio, low, high].map((value) => Number(value.toFixed(9))),
    [2, 2, 2],
  );
  const wide = ratioOf([1, 1], [Math.exp(0.1), Math.exp(0.3)])!;
  t.true(close(wide.ratio, Math.exp(0.2)));
  t.true(close(Math.log(wide.high), 0.2 + 12.7062047361747 * 0.1)); // standard error 0.1414 / sqrt 2
  t.is(ratioOf([1], [2]), null, 'one pair says nothing');
  t.is(ratioOf([1, 0], [2, 2]), null);
  t.is(median([3, 1, 2]), 2);
  t.is(median([4, 1, 2, 3]), 2.5);
  const took = (elapsedNs: number): { elapsedNs: number; userNs: number; systemNs: number } => ({
    elapsedNs,
    userNs: 2,
    systemNs: 0,
  });
  const paired = pairedTimes([took(1), took(3)], [took(2), took(6)]);
  t.like(paired, { rounds: 2, beforeNs: 2, afterNs: 4 });
  t.true(close(paired.elapsed!.ratio, 2) && close(paired.processor!.ratio, 1));
});

test('95 % intervals hold the true ratio in 93 % of 4,000 experiments or more, with drift and late runs', (t) => {
  const { uniform, normal } = draws(411);
  for (const [what, noise] of [
    ['normal', (): number => Math.exp(0.05 * normal())],
    ['late runs', (): number => 1 + 0.05 * -Math.log(uniform())],
  ] as const)
    for (const drift of [0, 0.02])
      for (const rounds of [3, 5, 10]) {
        let holds = 0;
        for (let k = 0; k < 4000; k++) {
          const before: number[] = [],
            after: number[] = [];
          let slot = 0;
          for (const order of orderOf(rounds, 2, uniform))
            for (const which of order)
              (which === 0 ? before : after).push((which === 0 ? 1 : 1.3) * noise() * Math.exp(drift * slot++));
          const { low, high } = ratioOf(before, after)!;
          if (low <= 1.3 && high >= 1.3) holds++;
        }
        t.true(holds / 4000 > 0.93, `${what}, drift ${drift}, ${rounds} rounds: ${holds / 4000}`);
      }
});

test('each version runs once in a round; every second round is the one before it, the other way round', (t) => {
  const { uniform } = draws(7);
  const seen = new Set<string>();
  for (const rounds of [1, 2, 5]) {
    for (let k = 0; k < 50; k++) {
      const orders = orderOf(rounds, 3, uniform);
      t.is(orders.length, rounds);
      orders.forEach((order, round) => {
        t.deepEqual([...order].sort(), [0, 1, 2]);
        if (round % 2 === 0) seen.add(order.join());
        else t.deepEqual(order, [...item(orders, round - 1)].reverse());
      });
    }
  }
  t.is(seen.size, 6, 'all orders come up');
});

test('the dip: values by hand, and by linear programming', (t) => {
  t.true(close(dipOf([1, 2, 3, 4]), 1 / 8), 'even spacing has none beyond half a step');
  t.true(close(dipOf([0, 0, 1, 1]), 1 / 4));
  t.true(close(dipOf([0, 1, 2, 3, 100]), 1 / 10), 'one value far out is no second mode');
  // The least distance to any distribution with one mode, found by an independent linear program (scipy's linprog).
  for (const [values, dip] of oracle) t.true(Math.abs(dipOf(values) - dip) < 1e-6, `${values.join(' ')}: ${dip}`);
});
const oracle: readonly (readonly [number[], number])[] = [
  [[2, 46, 64, 78, 79], 0.1],
  [[5, 13, 26, 37, 40, 55], 0.104166667],
  [[17, 22, 26, 27, 42, 61, 71, 97], 0.082386364],
  [[5, 27, 45, 54, 61, 62, 63, 89, 93], 0.096296296],
  [[1, 2, 4, 40, 41, 45, 48], 0.197802198],
  [[10, 11, 12, 13, 14, 15, 30, 60, 61, 62], 0.141489362],
];

test('two modes are claimed by chance in at most one of 20 cases, whatever the one mode looks like', (t) => {
  const { uniform, normal } = draws(99);
  const kinds: [string, () => number, number][] = [
    ['uniform', () => 1 + uniform(), 0.07],
    ['normal', () => Math.exp(0.05 * normal()), 0.04],
    ['late runs', () => 1 - 0.2 * Math.log(uniform()), 0.05],
    ['some runs far out', () => Math.exp(0.05 * normal()) - (uniform() < 0.2 ? Math.log(uniform()) : 0), 0.05],
  ];
  for (const [what, draw, most] of kinds)
    for (const runs of [5, 6, 8, 11, 17, 40]) {
      let claimed = 0;
      for (let k = 0; k < 2000; k++) {
        const modes = modesOf(
          Array.from({ length: runs }, (_, number) => ({ number, elapsedNs: draw(), othersNs: 0 })),
        );
        if (modes !== null) claimed++;
      }
      t.true(claimed / 2000 <= most, `${what}, ${runs} runs: ${claimed / 2000}`);
    }
});

test('two modes that are apart are found, with the runs of each', (t) => {
  const { normal } = draws(5);
  for (const [runs, slow, noise] of [
    [5, 2, 0.02],
    [6, 3, 0.05],
    [8, 3, 0.05],
    [10, 3, 0.05],
    [20, 3, 0.05],
    [20, 10, 0.05],
  ] as const) {
    let found = 0;
    for (let k = 0; k < 500; k++) {
      const isSlow = (number: number): boolean => (number * 7) % runs < slow;
      const modes = modesOf(
        Array.from({ length: runs }, (_, number) => ({
          number,
          elapsedNs: (isSlow(number) ? 2 : 1) * Math.exp(noise * normal()),
          othersNs: 0,
        })),
      );
      if (modes === null) continue;
      found++;
      t.true(modes.apart ? modes.gap >= 2 : modes.dip > modes.critical);
      t.true(close(modes.critical, criticalDip(runs)));
      t.is(modes.slow.runs.length, modes.slow.runs.filter(isSlow).length);
      t.is(modes.fast.runs.length + modes.slow.runs.length, runs);
    }
    t.true(found / 500 > 0.85, `${slow} slow ones of ${runs}: ${found / 500}`);
  }
});

test('modes that follow one another, or that others may cause, are reported as such', (t) => {
  const runs = (times: readonly number[], others: (ns: number) => number): ReturnType<typeof modesOf> =>
    modesOf(times.map((elapsedNs, number) => ({ number, elapsedNs, othersNs: others(elapsedNs) })));
  t.like(
    runs([10, 10.1, 9.9, 20, 20.1, 19.9], () => 0),
    { inOrder: true, othersMayCause: false },
  );
  t.like(
    runs([20, 20.1, 19.9, 10, 10.1, 9.9], (ns) => ns - 10),
    { inOrder: true, othersMayCause: true },
  );
  t.like(
    runs([10, 20, 10.1, 20.1, 19.9, 9.9], (ns) => (ns - 10) / 4),
    { inOrder: false, othersMayCause: false },
  );
  t.is(
    runs([1, 1, 2, 2], () => 0),
    null,
    'four runs say nothing',
  );
});

const base = (): Model =>
  buildModel(new ProfileBuilder({ processors: 2 }).stretch(1e9, [run('main', ['main'])]).build());
const used = (threadsAtOnce: number, minor: number, spinningNs = 0): Model => {
  const model = base();
  return {
    ...model,
    balance: { ...model.balance, spinningNs },
    kernelUsage: {
      ns: 1e9,
      userNs: 0,
      systemNs: 0,
      cpusUsed: 1,
      cpus: 2,
      switches: null,
      faults: { minor, major: 0 },
      residentBytes: 0,
      calls: null,
      waits: null,
      threads: threadsAtOnce,
      threadsAtOnce,
    },
  };
};
const start = (words: string, environment: Record<string, string> = {}): Parameters<typeof remedyOf>[0] => ({
  words: words.split(' '),
  environment,
});

test('a change is what its form and what was seen both say, and nothing else', (t) => {
  const original = start('prog -t 8 in');
  const of = (changed: ReturnType<typeof start>, before: Model, after: Model): ReturnType<typeof remedyOf> =>
    remedyOf(original, changed, before, after);
  const fewer = start('prog -t 8 in', { OMP_NUM_THREADS: '2' });
  t.is(of(fewer, used(8, 0), used(2, 0)), 'fewer-threads');
  t.is(of(fewer, used(8, 0), used(8, 0)), null, 'it had no effect');
  t.is(of(start('prog -t 8 in', { OMP_NUM_THREADS: '2', OTHER: '1' }), used(8, 0), used(2, 0)), null);
  t.is(of(start('prog -t 2 in'), used(8, 0), used(2, 0)), 'fewer-threads');
  t.is(of(start('prog -t 16 in'), used(8, 0), used(2, 0)), null, 'a larger number');
  t.is(of(start('prog -t 2 other'), used(8, 0), used(2, 0)), null, 'more than one word');
  t.is(of(start('other -t 8 in'), used(8, 0), used(2, 0)), null, 'another program');
  t.is(of(start('prog -t 8 in 1'), used(8, 0), used(2, 0)), null);
  const malloc = start('prog -t 8 in', { MALLOC_TRIM_THRESHOLD_: '1000000000', MALLOC_MMAP_THRESHOLD_: '1000000000' });
  t.is(of(malloc, used(8, 1000), used(8, 100)), 'keep-memory');
  t.is(of(malloc, used(8, 1000), used(8, 950)), null, 'it had no effect');
  t.is(
    of(start('prog -t 8 in', { GLIBC_TUNABLES: 'glibc.malloc.trim_threshold=1' }), used(8, 9), used(8, 1)),
    'keep-memory',
  );
  t.is(
    of(start('prog -t 8 in', { GLIBC_TUNABLES: 'glibc.cpu.hwcaps=x:glibc.malloc.x=1' }), used(8, 9), used(8, 1)),
    null,
  );
  const passive = start('prog -t 8 in', { OMP_WAIT_POLICY: 'passive' });
  t.is(of(passive, used(8, 0, 1e9), used(8, 0, 1e8)), 'block-instead-of-spin');
  t.is(of(passive, used(8, 0, 1e9), used(8, 0, 9e8)), null);
});

const finding = (more: Partial<Finding> = {}): Finding => ({
  entity: 0,
  name: 'prog',
  kind: 'oversubscription',
  change: 'fewer-threads',
  advice: { pieces: null, threads: 'fewer' },
  facts: {
    form: 'oversubscription',
    oversubscribedNs: 1e9,
    runnable: 8,
    harmful: true,
    handOvers: null,
    spinners: { threads: 6, object: 0 },
    woken: null,
    cpuWait: null,
    fewer: { savesNs: 3e8, mostNs: null },
    blocking: null,
    passing: null,
  },
  costNs: 3e8,
  costCi95: { lowNs: 2.5e8, highNs: 3.5e8 },
  savingNs: 3e8,
  savingCi95: { lowNs: 2.5e8, highNs: 3.5e8 },
  processorUse: { busy: 2, spinning: 1, idle: 0 },
  bound: null,
  related: [],
  alternatives: [],
  othersMayCause: false,
  ...more,
});

test('two findings that advise the same are matched by neither', (t) => {
  t.is(adviserOf([finding({ change: 'balance' }), finding()], 'fewer-threads')?.change, 'fewer-threads');
  t.is(adviserOf([finding(), finding()], 'fewer-threads'), null);
  t.is(adviserOf([], 'fewer-threads'), null);
  t.is(
    adviserOf(
      [finding(), finding({ change: 'balance', facts: { form: 'spinning', savesNs: 1 } })],
      'block-instead-of-spin',
    )?.change,
    'fewer-threads',
    'the other way to the same',
  );
});

/** Rounds of a run without Quartz, a recorded one and a changed one, with these times; the first run is in no round. */
function experiment(
  rounds: readonly (readonly [number, number, number])[],
  more: Partial<ExperimentInput> = {},
): {
  input: ExperimentInput;
  model: Model;
} {
  const model = { ...used(8, 0), findings: [finding()] };
  const runs: ExperimentRun[] = [];
  const add = (round: number, version: ExperimentRun['version'], elapsedNs: number): void => {
    const change = version === 'changed' ? 0 : null;
    runs.push({ number: runs.length + 1, round, version, change, elapsedNs, userNs: elapsedNs, systemNs: 0 });
  };
  add(0, 'recorded', 1e12);
  rounds.forEach(([plain, recorded, changed], k) => {
    add(k + 1, 'changed', changed);
    add(k + 1, 'recorded', recorded);
    add(k + 1, 'unrecorded', plain);
  });
  const input: ExperimentInput = {
    rounds: rounds.length,
    complete: rounds.length,
    ended: 'done',
    runs,
    recorded: runs
      .filter(({ version, round }) => version === 'recorded' && round > 0)
      .map(({ number, elapsedNs }) => recordedRun(number, elapsedNs, model)),
    kept: 3,
    original: start('prog 8'),
    sharedCores: null,
    changes: [
      { text: 'OMP_NUM_THREADS=2', start: start('prog 8', { OMP_NUM_THREADS: '2' }), profile: null, model: used(2, 0) },
    ],
    ...more,
  };
  return { input, model };
}

test('an experiment: only complete rounds count, the first run counts in none, and the model is held to it', (t) => {
  const { input, model } = experiment([
    [100, 110, 70],
    [101, 112, 70],
    [99, 108, 71],
  ]);
  const all = experimentOf(input, model);
  t.like(all.recording, { rounds: 3, beforeNs: 100, afterNs: 110, verdict: 'more' });
  t.like(all.changes[0], { change: 'OMP_NUM_THREADS=2', rounds: 3, beforeNs: 100, afterNs: 70, verdict: 'faster' });
  t.deepEqual(all.recorded, {
    runs: 3,
    kept: 3,
    first: [{ kind: 'oversubscription', name: 'prog', runs: 3 }],
    tested: false,
    modes: null,
  });
  const estimated = (shareLeast: number, share: number): string | null | undefined =>
    experimentOf(input, { ...model, slowdown: { ...model.slowdown, shareLeast, share } }).recording?.verdict;
  t.is(estimated(0.09, 0.1), 'as-estimated');
  t.is(estimated(0.05, 0.06), 'more');
  t.is(estimated(0.2, 0.3), 'less');
  t.is(estimated(0.05, 0), 'as-estimated', 'a share of 0 below the least one: without bound');
  const one = experimentOf({ ...input, complete: 1 }, model);
  t.like(one.recording, { rounds: 1, elapsed: null, verdict: null });
  t.like(experimentOf({ ...input, complete: 0 }, model), { recording: null, changes: [] });
});

for (const [what, changed, promised, verdict] of [
  ['a gain as promised', [70, 70.5, 69.5], {}, 'verified'],
  ['more than promised', [40, 40.5, 39.5], {}, 'verified'],
  ['a gain of less than was promised', [95, 95.3, 94.7], {}, 'less'],
  ['no gain of that size', [100, 100.3, 99.7], {}, 'not-confirmed'],
  ['a loss', [120, 121, 119], {}, 'not-confirmed'],
  ['noise', [60, 140, 100], {}, 'undecided'],
  ['a gain that nobody promised', [95, 95.3, 94.7], { savingNs: 0 }, 'verified'],
] as const)
  test(`a finding whose change was tried: ${what}`, (t) => {
    const { input, model } = experiment(changed.map((ns) => [100, 100, ns] as const));
    const given = { ...model, findings: [finding(promised), finding({ change: 'balance' })] };
    const [tried, other] = withExperiment(given, experimentOf(input, given), input).findings;
    const verification: Verification | undefined = tried?.verifications?.[0];
    t.is(verification?.verdict, verdict);
    t.is(verification?.promised?.share, 'savingNs' in promised ? undefined : 0.3);
    t.is(other?.verifications, undefined);
  });

test('a change without a recorded run, or of another kind, verifies nothing; nor does one pair', (t) => {
  const { input, model } = experiment([
    [100, 100, 70],
    [101, 100, 70],
  ]);
  const verified = (its: ExperimentInput): boolean =>
    withExperiment(model, experimentOf(its, model), its).findings.some(
      ({ verifications }) => verifications !== undefined,
    );
  const [change] = input.changes;
  t.true(verified(input));
  t.false(verified({ ...input, changes: [{ ...change!, model: null }] }));
  t.false(verified({ ...input, changes: [{ ...change!, start: start('prog 8', { OTHER: '2' }) }] }));
  t.false(verified({ ...input, complete: 1 }));
});
