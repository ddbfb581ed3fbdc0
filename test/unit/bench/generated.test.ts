/** Programs that are generated from a seed, and how reports on them are judged (bench/truth/generated). */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { components } from '../../../bench/truth/generated/components.js';
import { generated, variantsOf, wordsOf } from '../../../bench/truth/generated/draw.js';
import { isSure, placesOf } from '../../../bench/truth/generated/judge.js';
import { gainsOf } from '../../../bench/truth/generated/measure.js';
import { root } from '../../support/root.js';

const programs = join(root, 'bench/truth/generated/programs');
const sources = new Map(readdirSync(programs).map((file) => [file, readFileSync(join(programs, file), 'utf8')]));

test('a seed and a number give one program, others another', (t) => {
  const words = (seed: number, index: number): string => wordsOf(generated(seed, index)).join(' ');
  t.is(words(3, 5), words(3, 5));
  const all = Array.from({ length: 200 }, (_, index) => [words(1, index), words(2, index)]).flat();
  t.is(new Set(all).size, 400);
});

test('each component is drawn, and at most once in a program', (t) => {
  const many = Array.from({ length: 400 }, (_, index) => generated(1, index));
  const kinds = new Set(many.flatMap(({ parts }) => parts.map(({ component }) => component.kind)));
  t.deepEqual([...kinds].sort(), components.map(({ kind }) => kind).sort());
  for (const { parts } of many) t.is(new Set(parts.map(({ component }) => component)).size, parts.length);
});

test('a variant is the same program with one number more', (t) => {
  for (let index = 0; index < 50; index++) {
    const program = generated(1, index);
    const plain = wordsOf(program);
    for (const variant of variantsOf(program)) {
      const words = wordsOf(program, variant);
      const changed = words.filter((word, k) => word !== plain[k]);
      t.deepEqual(
        changed.map((word) => word.replace(/,fix=[12]$/, '')),
        plain.filter((word, k) => word !== words[k]),
      );
      t.is(changed.length, 1);
    }
  }
});

test('lines of the sources, and names in them, belong to components', (t) => {
  const kindAt = placesOf(sources);
  for (const { kind, names } of components) {
    const found = [...sources].flatMap(([file, text]) =>
      text
        .split('\n')
        .flatMap((line, k) =>
          /^(WORK\(|static |__attribute__)/.test(line) && names.test(line) ? [kindAt(file, k + 1)] : [],
        ),
    );
    t.true(found.length > 0, kind);
    t.deepEqual(
      found.filter((one) => one !== kind),
      [],
      kind,
    );
  }
  t.is(kindAt('crew.h', 3), undefined);
});

test('what a change gains is that of the medians', (t) => {
  const program = Array.from({ length: 20 }, (_, index) => generated(1, index)).find(
    (one) => variantsOf(one).length === 1,
  )!;
  const rounds = [10, 20, 11].map((alone, k) => ({
    alone,
    recorded: undefined,
    changed: [[8, 7, 30][k]!],
    cpu: { alone, recorded: undefined },
  }));
  const [gain] = gainsOf(program, rounds);
  t.is(gain!.gain, 1 - 8 / 11);
  t.is(gain!.low, 1 - 8 / 10);
});

test('rounds that disagree by more than 15 points do not say what a change gains', (t) => {
  const gain = { part: 0, fix: 1 as const, gain: 0.2, low: 0.15, high: 0.28 };
  t.true(isSure([gain]));
  t.false(isSure([gain, { ...gain, high: 0.31 }]));
});
