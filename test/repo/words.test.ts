/** One language: the names in the code are made of the terms of docs/glossary.md, not of words of our own for them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { root } from '../support/root.js';
import { sources } from '../support/sources.js';

/** Words that stood for a standard term, which is used instead. */
const instead: Readonly<Record<string, string>> = {
  told: 'reported',
  tell: 'report',
  tells: 'reports',
  homeless: 'unattributed',
  judging: 'judge',
  material: 'facts',
  mended: 'corrected',
  strangers: 'other programs',
  dear: 'costly',
  era: 'recording',
};

/** Options of command lines and fields of JSON that existed before: they keep working under their names. */
const kept = /--tell\b|\bOPTION_TELL\b|"tell"|^ {2}tell: \{$|\btold: experiment\.recording\.estimated/gm;
const comments = /\/\*[^]*?\*\/|\/\/[^\n]*/g;

test('names are made of standard terms', (t) => {
  const found: string[] = [];
  let names = 0;
  for (const file of sources().filter((one) => /\.(c|h|inc|cc|cpp|hpp|S|ts|js|go)$/.test(one))) {
    if (file === 'test/repo/words.test.ts') continue;
    const code = readFileSync(join(root, file), 'utf8').replace(comments, ' ').replace(kept, ' ');
    for (const [name] of code.matchAll(/\b[A-Za-z_]\w*/g)) {
      names++;
      for (const [word] of name.matchAll(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g)) {
        const term = Object.hasOwn(instead, word.toLowerCase()) ? instead[word.toLowerCase()] : undefined;
        if (term !== undefined) found.push(`${file}: ${name}: ${term}`);
      }
    }
  }
  t.true(names > 100_000);
  t.deepEqual([...new Set(found)], []);
});
