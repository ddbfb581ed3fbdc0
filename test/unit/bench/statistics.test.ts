/** Known answers of the benchmarks' statistics. */
import test from 'ava';
import {
  estimate,
  geometricMean,
  independentRatio,
  mannWhitney,
  median,
  medianRank,
  pairedRatio,
} from '../../../bench/harness/statistics.js';

test('median: the middle, or the mean of the two', (t) => {
  t.is(median([3, 1, 2]), 2);
  t.is(median([4, 1, 3, 2]), 2.5);
  t.is(median([7]), 7);
  t.true(Number.isNaN(median([])));
});

test('ranks of the interval of a median are those of the binomial table', (t) => {
  // P(binomial(n, 1/2) <= k) for the largest k with a tail of at most 2.5 %
  const table: readonly (readonly [number, number, number])[] = [
    [6, 0, 1 - 2 / 64],
    [9, 1, 1 - 20 / 512],
    [12, 2, 1 - (2 * 79) / 4096],
    [20, 5, 0.9586],
  ];
  for (const [n, skip, coverage] of table) {
    const rank = medianRank(n);
    t.is(rank.skip, skip, `n = ${n}`);
    t.true(Math.abs(rank.coverage - coverage) < 1e-4, `n = ${n}: ${rank.coverage}`);
  }
});

test('few samples: the whole range, and how little it covers', (t) => {
  const { value, low, high, coverage } = estimate([5, 1, 3]);
  t.deepEqual([value, low, high, coverage], [3, 1, 5, 0.75]);
  t.is(estimate([4]).coverage, 0);
});

test('the interval does not hang on one outlier', (t) => {
  const { low, high } = estimate([1, 2, 3, 4, 5, 6, 7, 8, 1e9]);
  t.deepEqual([low, high], [2, 8]);
});

test('ratios of pairs cancel what both have in common', (t) => {
  const disturbed = [1, 3, 2, 10, 1, 5, 1];
  const { value, low, high } = pairedRatio(
    disturbed.map((x) => 2 * x),
    disturbed,
  );
  t.deepEqual([value, low, high], [2, 2, 2]);
});

test('Mann-Whitney: the distribution of U, as in its table', (t) => {
  t.deepEqual(
    mannWhitney(2, 2).map((p) => Math.round(p * 6)),
    [1, 2, 4, 5, 6],
  ); // 6 orders: U = 0, 1, 2, 2, 3, 4
  const tails = mannWhitney(7, 7); // critical value 8 for 5 % on two sides
  t.true(tails[8]! <= 0.025 && tails[9]! > 0.025);
  t.true(Math.abs(tails.at(-1)! - 1) < 1e-12);
});

test('a sample compared with itself has changed by 1', (t) => {
  const sample = [3.1, 2.9, 3.0, 3.4, 2.8, 3.2, 3.05];
  const { value, low, high } = independentRatio(sample, sample);
  t.is(value, 1);
  t.true(low <= 1 && high >= 1);
});

test('samples that lie apart have a ratio whose interval lies apart', (t) => {
  const { value, low } = independentRatio([20, 21, 22, 23, 24, 25], [10, 10.5, 11, 11.5, 12, 12.5]);
  t.true(value > 1.8 && value < 2.2);
  t.true(low > 1.5);
});

test('geometric mean', (t) => {
  t.true(Math.abs(geometricMean([1, 4, 16]) - 4) < 1e-12);
});
