/** The end of a run of tests: what failed, what was skipped and why, and the one line that counts them. */
import type { Result } from './result.js';

/**
 * A skip that even a machine with everything installed may be unable to avoid, by its test's name and its reason: all
 * of each.
 */
export interface Declared {
  name: RegExp;
  reason: RegExp;
}

/** In a declaration, * stands for any text. */
const pattern = (text: string): RegExp =>
  new RegExp(
    `^${text
      .split('*')
      .map((part) => part.replace(/[^\w ]/g, '\\$&'))
      .join('.*')}$`,
  );

/** Lines of `NAME: REASON`; # begins a comment. */
export function readDeclared(text: string): Declared[] {
  return text
    .split('\n')
    .filter((line) => /^[^#\s]/.test(line))
    .map((line) => {
      const [, name, reason] = /^(.+?): +(\S.*)$/.exec(line) ?? [];
      if (name === undefined || reason === undefined) throw new Error(`"${line}" is not NAME: REASON`);
      return { name: pattern(name), reason: pattern(reason) };
    });
}

export interface Tally {
  text: string;
  failed: boolean;
}

/** @param declared where given, every other skip counts as failed */
export function tally(results: readonly Result[], declared?: readonly Declared[]): Tally {
  const forbidden = ({ name, detail }: Result): boolean =>
    declared !== undefined && !declared.some((one) => one.name.test(name) && one.reason.test(detail));
  const skips = results.filter(({ outcome }) => outcome === 'skipped');
  const allowed = skips.filter((one) => !forbidden(one)),
    refused = skips.filter(forbidden);
  const failures = results.filter(({ outcome }) => outcome === 'failed');
  const passed = results.length - skips.length - failures.length,
    failed = failures.length + refused.length;
  const lines: string[] = [];
  const section = (title: string, entries: readonly string[]): void => {
    if (entries.length > 0) lines.push('', title, ...entries.map((entry) => `  ${entry}`));
  };
  section(
    'Skipped',
    allowed.map(({ name, detail }) => `${name}: ${detail}`),
  );
  section(
    'Skipped, though nothing may be here',
    refused.map(({ name, detail }) => `${name}: ${detail}`),
  );
  section(
    'Failed',
    failures.map(({ name }) => name),
  );
  if (results.length === 0) lines.push('', 'No test ran.');
  lines.push('', `${passed} passed, ${failed} failed, ${allowed.length} skipped`);
  return { text: `${lines.join('\n')}\n`, failed: failed > 0 || passed === 0 };
}
