/** A result is written whole or not at all; what is no ordinary file keeps its kind. */
import { chmodSync, linkSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { mkdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { writeResult } from '../../../ts-frontend/src/cli/result-file.js';

const folder = mkdtempSync(join(tmpdir(), 'quartz-result-'));
test.after.always(() => {
  rmSync(folder, { recursive: true, force: true });
});
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

test.serial('a file is replaced, and keeps its mode; nothing else is left', (t) => {
  const file = join(folder, 'page');
  writeResult(file, 'first');
  chmodSync(file, 0o640);
  writeResult(file, Buffer.from('second'));
  t.is(read('page'), 'second');
  t.is(statSync(file).mode & 0o777, 0o640);
  t.deepEqual(readdirSync(folder), ['page']);
});

test.serial('links stay links', (t) => {
  symlinkSync('page', join(folder, 'soft'));
  writeResult(join(folder, 'soft'), 'third');
  t.true(lstatSync(join(folder, 'soft')).isSymbolicLink());
  t.is(read('page'), 'third');
  linkSync(join(folder, 'page'), join(folder, 'hard'));
  writeResult(join(folder, 'hard'), 'fourth');
  t.is(read('page'), 'fourth');
});

test.serial('a failure is one line, and leaves nothing', (t) => {
  mkdirSync(join(folder, 'taken'));
  for (const name of ['taken', 'gone/page'])
    t.throws(
      () => {
        writeResult(join(folder, name), 'x');
      },
      { message: /cannot be written: / },
    );
  t.deepEqual(readdirSync(folder).sort(), ['hard', 'page', 'soft', 'taken']);
});
