/** The end of a run of tests: what failed, what was skipped and why, and the one line that counts them. */
import type { Result } from './result.js';

/** A skip that even a machine with everything installed cannot avoid: its test's name, which may end in *, and why. */
export interface Declared { name: string; reason: string }

/** Lines of `NAME: REASON`; # begins a comment. */
export function readDeclared(text: string): Declared[] {
  return text.split('\n').filter((line) => /^[^#\s]/.test(line)).map((line) => {
    const [, name, reason] = /^(.+?): +(\S.*)$/.exec(line) ?? [];
    if (name === undefined || reason === undefined) throw new Error(`"${line}" is not NAME: REASON`);
    return { name, reason };
  });
}

const fits = ({ name: declared }: Declared, name: string): boolean =>
  declared.endsWith('*') ? name.startsWith(declared.slice(0, -1)) : name === declared;

export interface Tally { text: string; failed: boolean }

/** @param declared where given, every other skip counts as failed */
export function tally(results: readonly Result[], declared?: readonly Declared[]): Tally {
  const forbidden = ({ name }: Result): boolean => declared !== undefined && !declared.some((one) => fits(one, name));
  const skips = results.filter(({ outcome }) => outcome === 'skipped');
  const allowed = skips.filter((one) => !forbidden(one)), refused = skips.filter(forbidden);
  const failures = results.filter(({ outcome }) => outcome === 'failed');
  const passed = results.length - skips.length - failures.length, failed = failures.length + refused.length;
  const lines: string[] = [];
  const section = (title: string, entries: readonly string[]): void => {
    if (entries.length > 0) lines.push('', title, ...entries.map((entry) => `  ${entry}`));
  };
  section('Skipped', allowed.map(({ name, detail }) => `${name}: ${detail}`));
  section('Skipped, though nothing may be here', refused.map(({ name, detail }) => `${name}: ${detail}`));
  section('Failed', failures.map(({ name }) => name));
  if (results.length === 0) lines.push('', 'No test ran.');
  lines.push('', `${passed} passed, ${failed} failed, ${allowed.length} skipped`);
  return { text: `${lines.join('\n')}\n`, failed: failed > 0 || passed === 0 };
}
