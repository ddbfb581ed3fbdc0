/** What is defined once: the factor of hashes, loads of words that others write, what names mean, guards of headers. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import test from 'ava';
import { root } from '../support/root.js';
import { sources } from '../support/sources.js';

const ours = sources().filter((file) =>
  /^(abi|publisher|threadlib|pthread-layer|mpi-layer|symbols|sampler|ts-frontend|tui)\/.*\.(c|cc|h|hpp|S|ts)$/.test(
    file,
  ),
);
const having = (pattern: RegExp, files = ours): string[] =>
  files.filter((file) => pattern.test(readFileSync(join(root, file), 'utf8')));

test('one factor for hashes', (t) => {
  t.deepEqual(having(/0x9e3779b/i), ['abi/hash.h', 'ts-frontend/src/model/profile/abi.ts']);
});

test('one macro loads words of another process', (t) => {
  t.deepEqual(having(/#\s*define\s+\w+\([^)]*\)\s+__atomic_load_n\(\(\w+\), __ATOMIC_(RELAXED|ACQUIRE)\)/), [
    'abi/session_read.h',
  ]);
});

test('one predicate says which objects are locks', (t) => {
  t.deepEqual(having(/KIND_MUTEX\s*\|\|/), ['abi/session.h']);
  t.deepEqual(having(/'mutex',\s*'rwlock',\s*'spinlock'/), ['ts-frontend/src/model/profile/abi.ts']);
});

/** What these parse is no label: a formula, a rule, the environment. The last two shorten names (Go's closures). */
const parsers = [
  'views/derived.ts',
  'queries/gate.ts',
  'experiment/remedies.ts',
  'metrics/own-name.ts',
  'evidence/threads/goroutines.ts',
];

test('the model makes no facts of names: abi/origin.c and abi/purpose.c do, once', (t) => {
  const model = ours.filter(
    (file) =>
      file.startsWith('ts-frontend/src/model/') && !parsers.some((one) => file === `ts-frontend/src/model/${one}`),
  );
  t.true(model.length > 100);
  t.deepEqual(
    having(/RegExp|(?:[=(,:?!]|\|\||&&|return|=>)\s*\/(?![/*\s])(?:[^/\\\n]|\\.)+\/[a-z]*[.,;)\s]/, model),
    [],
  );
  t.deepEqual(having(/\b(?:name|module)\.(?:startsWith|endsWith|match|search|includes)\(/, model), [
    'ts-frontend/src/model/path/what-if.ts',
  ]);
});

test('a header is guarded by its own name, and by no name that guards another one', (t) => {
  const guards = new Map<string, string>();
  for (const file of sources().filter((one) => one.endsWith('.h'))) {
    const guard = /^#ifndef (\w+_H)$/m.exec(readFileSync(join(root, file), 'utf8'))?.[1];
    if (guard === undefined) continue;
    const name = basename(file, '.h').toUpperCase();
    t.true(`_${guard}`.endsWith(`_${name}_H`), `${file} is guarded by ${guard}`);
    t.is(guards.get(guard), undefined, `${guard} guards ${file}, too`);
    guards.set(guard, file);
  }
  t.true(guards.size > 100);
});
