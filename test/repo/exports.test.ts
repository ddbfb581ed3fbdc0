/** Nothing is offered to other files that none of them uses. Tests and benchmarks count as users. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { root } from '../support/root.js';
import { sources } from '../support/sources.js';

const files = sources().filter((file) => /\.(c|cc|h|hpp|S|ts|js)$/.test(file));
const words = new Map(
  files.map((file) => {
    const code = readFileSync(join(root, file), 'utf8');
    return [file, { code, names: new Set(code.match(/\w+/g)) }];
  }),
);
const others = (name: string, own: (file: string) => boolean): string[] =>
  files.filter((file) => !own(file) && words.get(file)!.names.has(name));

test('each export of a TypeScript file is imported by another one', (t) => {
  const declared = /^export (?:async )?(?:function\*?|const|let|class|abstract class|interface|type|enum) (\w+)/gm;
  const exported = files
    .filter((file) => /^(ts-frontend|tui)\/src\//.test(file))
    .flatMap((file) => [...words.get(file)!.code.matchAll(declared)].map((match) => ({ file, name: match[1]! })));
  t.true(exported.length > 1000);
  t.deepEqual(
    exported.filter(({ file, name }) => others(name, (one) => one === file).length === 0),
    [],
  );
});

test('each function that a header declares is called outside of its own source', (t) => {
  const headers = files.filter((file) => /^(abi|publisher|symbols|sampler|mpi-layer|pthread-layer)\/.*\.h$/.test(file));
  const declared = headers.flatMap((file) =>
    [...words.get(file)!.code.matchAll(/\b(qzi?_\w+)\([^;{]*\);/g)].map((match) => ({ file, name: match[1]! })),
  );
  t.true(declared.length > 400);
  const unused = declared.filter(({ file, name }) => {
    const inHeader = words.get(file)!.code.split(new RegExp(`\\b${name}\\b`)).length > 2; // by what it defines itself
    const pasted = /^qzi_oracle_/.test(name); // by QZI_TRACE (publisher/trace.h)
    return !inHeader && !pasted && others(name, (one) => one.replace(/\.\w+$/, '') === file.slice(0, -2)).length === 0;
  });
  t.deepEqual(unused, []);
});
