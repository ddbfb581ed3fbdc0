import test from 'ava';
import { cut, width, wrap } from '../../../ts-frontend/src/render/format/text.js';
import {
  count,
  estimatedRange,
  figure,
  percent,
  plusMinus,
  range,
  rate,
  signedPercent,
  signedRange,
  time,
} from '../../../ts-frontend/src/render/format/units.js';

const unicode = { ascii: false };

test('times have three digits and a unit, also next to the border of a unit', (t) => {
  const cases: [number, string][] = [
    [0, '0'],
    [1, '1 ns'],
    [999, '999 ns'],
    [999.9, '1.00 µs'],
    [1234, '1.23 µs'],
    [99_960, '100 µs'],
    [999_600, '1.00 ms'],
    [24_120_000, '24.1 ms'],
    [1.624e9, '1.62 s'],
    [16.36e9, '16.4 s'],
    [1234e9, '1,234 s'],
    [-5e6, '-5.00 ms'],
  ];
  for (const [ns, text] of cases) t.is(time(ns, unicode), text);
  t.is(time(1500, { ascii: true }), '1.50 us');
});

test('shares below 0 and above 1', (t) => {
  const cases: [number, string][] = [
    [0.0123, '1.2 %'],
    [-0.004, '-0.4 %'],
    [-0.0001, '0.0 %'],
    [1.5, '150.0 %'],
    [12.345, '1,235 %'],
    [-3276.476, '-327,648 %'],
  ];
  for (const [share, text] of cases) t.is(signedPercent(share), text);
  t.is(signedRange(-0.0001, 12.345), '0.0 to 1,235 %');
});

test('what is estimated between two bounds, or is at least that', (t) => {
  const cases: [number, number, string, string][] = [
    [0, 0.4, 'less than 0.1 %', 'less than 0.1 %, or more'],
    [13, 13, 'about 1.3 %', '1.3 % or more'],
    [0.4, 250, 'about 0 to 25.0 %', '0 to 25.0 % or more'],
    [13, 250, 'about 1.3 to 25.0 %', '1.3 to 25.0 % or more'],
  ];
  for (const [least, most, about, atLeast] of cases) {
    const bounds = [
      { part: least, whole: 1000 },
      { part: most, whole: 1000 },
    ] as const;
    t.is(estimatedRange(...bounds, false), about);
    t.is(estimatedRange(...bounds, true), atLeast);
  }
  t.is(estimatedRange({ part: 13, whole: 1000 }, { part: 1, whole: 0 }, false), 'about 1.3 % or more');
  t.is(estimatedRange({ part: 13, whole: 1000 }, { part: 1, whole: 0 }, true), '1.3 % or more');
});

test('an interval has the unit of its value, and is 0 only where it is', (t) => {
  t.is(plusMinus(1.62e9, 31e6, unicode), '±0.03');
  t.is(plusMinus(23.4e9, 3e6, unicode), '±0.003');
  t.is(plusMinus(1.62e9, 10, unicode), '±<0.001');
  t.is(plusMinus(1.62e9, 0, unicode), '±0');
  t.is(plusMinus(0, 192_036, unicode), '±192 µs');
});

test('shares, counts, figures, rates', (t) => {
  t.deepEqual(
    [percent(1, 4), percent(0, 4), percent(1, 1e6), percent(4, 4), percent(1, 0)],
    ['25.0 %', '0 %', '<0.1 %', '100 %', '0 %'],
  );
  t.deepEqual(
    [count(1234567), count(0), figure(0.001), figure(2.345), figure(12.34)],
    ['1,234,567', '0', '<0.01', '2.35', '12.3'],
  );
  t.deepEqual([rate(950.6), rate(10000)], ['951 Hz', '10.0 kHz']);
});

test('two bounds are one number where they read the same, and the upper one is left open where it is all', (t) => {
  const of = (least: number, most: number, whole = 1000): string =>
    range({ part: least, whole: 1000 }, { part: most, whole });
  t.deepEqual(
    [of(13, 250), of(243, 243.4), of(0, 20), of(0.1, 20), of(0, 0.3), of(0, 0)],
    ['1.3 to 25.0 %', '24.3 %', '0 to 2.0 %', '0 to 2.0 %', '<0.1 %', '0 %'],
  );
  t.is(of(13, 1500, 0), '1.3 % or more');
});

test('text is cut in the middle and counted in columns', (t) => {
  t.is(cut('std::vector<int>::push_back', 12, unicode), 'std::v…_back');
  t.is(width('漢字e\u0301'), 5);
  t.is(width('🚀→ж\u200b'), 4);
  t.true(width(cut('漢字漢字漢字漢字', 7, unicode)) <= 7);
  for (const line of wrap(`a bb ${'c'.repeat(100)} dd`, 20, 2, unicode)) t.true(width(line) <= 20);
});
