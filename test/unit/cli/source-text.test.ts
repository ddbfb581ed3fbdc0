/** Source files by the names in the debug information: their lines, or why they cannot be shown. */
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { sourceText } from '../../../ts-frontend/src/cli/show/source-text.js';
import { temporaryDirectory } from '../../support/temporary.js';

const place = temporaryDirectory();
const at = (name: string, text: string): string => {
  const path = join(place, name);
  writeFileSync(path, text);
  return path;
};

test('lines of a file; the last one may have no end', (t) => {
  t.deepEqual(sourceText(at('two.c', 'int a;\n\tint b;\n')), { lines: ['int a;', '\tint b;', ''] });
  t.deepEqual(sourceText(at('one.c', 'int a;')), { lines: ['int a;'] });
  t.deepEqual(sourceText(at('none.c', '')), { lines: [''] });
});

test('bytes that are no text are shown as such, and end nothing', (t) => {
  const path = join(place, 'latin.c');
  writeFileSync(path, Buffer.from([0x2f, 0x2f, 0xe9, 0x0a, 0x78]));
  t.deepEqual(sourceText(path), { lines: ['//\ufffd', 'x'] });
});

test('what cannot be shown: the reason, with the name', (t) => {
  const large = at('large.c', '');
  truncateSync(large, 16 * 1024 * 1024 + 1);
  mkdirSync(join(place, 'folder.c'));
  for (const [path, why] of [
    [join(place, 'missing.c'), 'is not on this machine'],
    [join(place, 'folder.c'), 'is not on this machine'],
    ['/dev/zero', 'is not on this machine'],
    [large, 'is too large to show'],
  ] as const)
    t.deepEqual(sourceText(path), { error: `${path} ${why}` });
  truncateSync(large, 16 * 1024 * 1024);
  t.true('lines' in sourceText(large));
});
