/** Comments name what there is: identifiers of Quartz's own that they mention are in the code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { root } from '../support/root.js';
import { sources } from '../support/sources.js';

/** Comments, and what only looks like one, which stays with the code: strings. */
const tokens = /\/\*[^]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"/g;

test('comments name no identifier that is gone', (t) => {
  const known = new Set<string>();
  const mentioned: { file: string; name: string }[] = [];
  for (const file of sources().filter((one) => /\.(c|h|inc|cc|cpp|hpp|S)$/.test(one))) {
    const code = readFileSync(join(root, file), 'utf8').replace(tokens, (token) => {
      if (token.startsWith('"')) return token;
      for (const [name] of token.matchAll(/\bqz[il]?_[a-z0-9_]*[a-z0-9]\b(?!_|\*|\.\.\.)/g))
        mentioned.push({ file, name });
      return ' ';
    });
    for (const [name] of code.matchAll(/\bqz[il]?_[A-Za-z0-9_]+/g)) known.add(name);
  }
  t.true(mentioned.length > 300);
  t.deepEqual(
    mentioned.filter(({ name }) => !known.has(name)).map(({ file, name }) => `${file}: ${name}`),
    [],
  );
});
