/** Parses the argument of `--try`: environment assignments, a command line, or both. */
import { delimiter, join } from 'node:path';
import type { ProgramStart } from '../../model/index.js';
import { exitCodes, Failure, usage } from '../failure.js';
import { executable } from '../files.js';

const example = "for example: --try 'OMP_NUM_THREADS=2', or --try './prog -t 2 input'";

/** Splits text into words and removes quotes as a shell does; expands nothing. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  const part = /(\s+)|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\([^])|([^\s'"\\]+)/gy;
  let word: string | undefined;
  let end = 0;
  for (const [all, blank, single, double, escaped, plain] of text.matchAll(part)) {
    end += all.length;
    if (blank === undefined) {
      word = (word ?? '') + (single ?? double?.replace(/\\([\\"$`])/g, '$1') ?? escaped ?? plain ?? '');
    } else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  if (end < text.length) throw usage(`--try "${text}" has a quote that does not end, or a \\ before nothing`, example);
  return word === undefined ? words : [...words, word];
}

/** Assignments come first, as in a shell. The rest is the changed command line; if there is none, it is `original`. */
export function changeOf(text: string, original: readonly string[]): ProgramStart {
  const words = wordsOf(text);
  const assigned = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  const settings = assigned < 0 ? words : words.slice(0, assigned);
  const command = assigned < 0 ? [] : words.slice(assigned);
  if (words.length === 0) throw usage('--try names no change', example);
  return {
    words: command.length > 0 ? command : original,
    environment: Object.fromEntries(
      settings.map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)]),
    ),
  };
}

/** Checks before the first run that the changed program exists. */
export function checkProgram(text: string, { words: [program = ''], environment }: ProgramStart): void {
  const path = environment['PATH'] ?? process.env['PATH'] ?? '';
  const places = program.includes('/') ? [program] : path.split(delimiter).map((place) => join(place || '.', program));
  if (!places.some(executable))
    throw new Failure(
      `--try "${text}": there is no program ${program} that can be executed`,
      'check its name, or give its path, as in ./prog',
      exitCodes.notFound,
    );
}
