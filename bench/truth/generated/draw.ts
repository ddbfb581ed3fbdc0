/** Programs drawn from a seed: which components, of what size, one after another or side by side. Pure. */
import type { Component, Numbers } from './component.js';
import { components } from './components.js';
import { randomOf, type Random } from './random.js';

export interface Part {
  component: Component;
  numbers: Numbers;
}
export interface Generated {
  name: string;
  openmp: boolean;
  together: boolean; // the parts run side by side
  parts: readonly Part[];
}
/** The change of one part. */
export interface Variant {
  part: number;
  fix: 1 | 2;
}

const leastMs = 500,
  mostMs = 1200;
const ofOpenmp = new Set(['serial', 'even', 'sleep', 'churn']); // beside components of OpenMP itself

function differing(random: Random, from: readonly Component[], count: number): Component[] {
  const left = [...from];
  return Array.from({ length: count }, () => left.splice(Math.floor(random.part() * left.length), 1)[0]!);
}

export function generated(seed: number, index: number): Generated {
  const random = randomOf(seed * 1_000_003 + index * 7919);
  for (let k = 0; k < 8; k++) random.part(); // seeds are near each other
  const openmp = random.part() < 0.25;
  const count = random.of([1, 1, 1, 2, 2, 2, 2, 3, 3, 3]);
  const own = components.filter((one) => (one.openmp ?? false) === openmp);
  const also = openmp ? components.filter(({ kind }) => ofOpenmp.has(kind)) : [];
  const chosen = openmp
    ? [...differing(random, own, Math.min(count, 2)), ...differing(random, also, Math.max(0, count - 2))]
    : differing(random, own, count);
  const together = !openmp && count > 1 && random.part() < 0.2;
  const ms = random.between(leastMs, mostMs);
  const weights = chosen.map(() => 0.2 + random.part());
  const all = weights.reduce((sum, one) => sum + one, 0);
  const parts = chosen.map((component, k) => ({
    component,
    numbers: component.draw(random, ms * (together ? 0.6 : weights[k]! / all)),
  }));
  return { name: `${seed}-${index}`, openmp, together, parts };
}

const numberText = (value: number): string => String(Number.isInteger(value) ? value : Number(value.toPrecision(4)));

/** Its command line, with the change of one part, or as it is. */
export function wordsOf({ together, parts }: Generated, variant?: Variant): string[] {
  const words = parts.map(({ component, numbers }, k) => {
    const { t, n, a, b, c } = numbers;
    const said = Object.entries({ t, n, a, b, c }).filter(([, value]) => value !== undefined);
    const fix = variant?.part === k ? [`fix=${variant.fix}`] : [];
    const pairs = said.map(([key, value]) => `${key}=${numberText(value!)}`);
    return `${component.kind}:${[...pairs, ...fix].join(',')}`;
  });
  return together ? ['together', ...words] : words;
}

export const variantsOf = ({ parts }: Generated): Variant[] =>
  parts.flatMap(({ component: { changes } }, part) => changes.map(({ fix }) => ({ part, fix })));
