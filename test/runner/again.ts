/** --again: what becomes of results when tests that failed have run once more. */
import type { Result } from './result.js';

export const failing = (results: readonly Result[]): Result[] => results.filter(({ outcome }) => outcome === 'failed');

/** A regular expression of CMake's that matches these names alone. */
export const anyOf = (names: readonly string[]): string =>
  `^(${names.map((name) => name.replace(/[^\w ]/g, (sign) => (sign === '^' ? '\\^' : `[${sign}]`))).join('|')})$`;

/**
 * The results after another run, of all tests or of those that failed alone. A failed test has passed when it was seen
 * to: where the other run did not come to it, it has failed. A runner that failed in one of both runs does not count.
 * `differ`: what failed in one of both.
 */
export function afterAnother(
  before: readonly Result[],
  now: readonly Result[],
): { results: Result[]; differ: string[] } {
  const byName = (results: readonly Result[]): Map<string, Result> =>
    new Map(results.filter(({ ofRunner }) => !ofRunner).map((result) => [result.name, result]));
  const first = byName(before),
    second = byName(now);
  const results = new Map([...second, ...first]);
  const differ: string[] = [];
  for (const [name, { outcome }] of first) {
    const other = second.get(name);
    if (!other || (other.outcome === 'failed') === (outcome === 'failed')) continue;
    if (outcome === 'failed') results.set(name, other);
    differ.push(name);
  }
  const hurt = before.filter(({ ofRunner }) => ofRunner),
    hurtAgain = now.filter(({ ofRunner }) => ofRunner);
  if (hurt.length > 0 && hurtAgain.length > 0) return { results: [...results.values(), ...hurtAgain], differ };
  return { results: [...results.values()], differ: [...differ, ...[...hurt, ...hurtAgain].map(({ name }) => name)] };
}
