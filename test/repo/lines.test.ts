/**
 * Lines have at most 120 columns: clang-format and prettier break code, and this holds them, and all that these leave
 * alone, to it: strings, comments, scripts, build files and pages.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { root } from '../support/root.js';
import { sources } from '../support/sources.js';

const most = 120;
const written = /(\.(c|h|inc|cc|cpp|hpp|S|ts|js|sh|cmake|md)|CMakeLists\.txt|bin\/quartz)$/;

/** What cannot be broken: rows of tables in pages, and a regular expression that has a line of its own. */
const whole = (file: string, line: string): boolean =>
  (file.endsWith('.md') && line.trimStart().startsWith('|')) ||
  (file.endsWith('.ts') && /^\s*\/.*\/[a-z]*[,;.]/.test(line));

test(`no line of code or text is longer than ${most} columns`, (t) => {
  const files = sources().filter((file) => written.test(file));
  t.true(files.length > 500);
  t.deepEqual(
    files.flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .flatMap((line, at) =>
          line.length > most && !whole(file, line) ? [`${file}:${at + 1} has ${line.length} columns`] : [],
        ),
    ),
    [],
  );
});

/** A file holds one concept; what has more lines is split. */
const mostLines = 400;

test(`no source has more than ${mostLines} lines`, (t) => {
  const files = sources().filter((file) => /\.(c|h|inc|cc|cpp|hpp|S|ts|js)$/.test(file));
  t.deepEqual(
    files.filter((file) => readFileSync(join(root, file), 'utf8').split('\n').length - 1 > mostLines),
    [],
  );
});
