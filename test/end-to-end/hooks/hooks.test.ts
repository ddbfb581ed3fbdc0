/**
 * Programs compiled as a user compiles them, by each compiler, with the flags that `quartz cflags` and `quartz libs`
 * print: call counts are exact.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { Model } from '../../../ts-frontend/src/model/index.js';
import { root } from '../../support/root.js';
import { attachTo, openModel, record, start, temporaryFile, until } from '../../support/record.js';
import { needing } from '../../support/capabilities.js';

const flags = (...args: string[]): string[] =>
  execFileSync(join(root, 'scripts/quartz-flags'), args, { encoding: 'utf8' })
    .trim()
    .split(' ')
    .filter((word) => word !== '');

/** Compiles and links a source of this directory; any output of the compiler is an error. */
function build(compiler: string, source: string, options: readonly string[], link: readonly string[]): string {
  const file = temporaryFile(source.replace(/\.c$/, ''));
  const hooks = flags('cflags', '--cc', compiler);
  const at = join(root, 'test/end-to-end/hooks/programs', source);
  execFileSync(compiler, ['-O2', '-g', '-Wall', '-Werror', ...hooks, ...options, '-c', at, '-o', `${file}.o`]);
  execFileSync(compiler, [...hooks, `${file}.o`, '-o', file, ...link]);
  return file;
}

function calls(model: Model, name: string): number {
  return model.entities
    .filter((one) => one.kind === 'procedure' && one.name === name)
    .reduce((sum, one) => sum + one.calls, 0);
}
function exact(t: ExecutionContext, model: Model, expected: Record<string, number>): void {
  t.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, calls(model, name)])), expected);
}
const turns = 20_000;
const counts = { main: 1, worker: 2, turn: 2 * turns, leaf: 20 * turns };

for (const compiler of ['gcc', 'clang'] as const) {
  const test = needing(`tool:${compiler}`);
  test(`${compiler}: a parallel loop of the package, whose parts depend on the run`, async (t) => {
    const loop = build(compiler, 'loop.c', [], flags('libs'));
    for (const processors of [1, 2, 4]) {
      const { model, status, stderr } = await record(loop, { processors });
      t.is(status, 0, stderr);
      t.true(calls(model, 'body') >= 50 * 8 * processors);
      exact(t, model, { main: 1, body: calls(model, 'each') });
    }
  });

  for (const options of [[], ['-O0'], ['-fPIC', '-fno-plt'], ['-fno-pie'], ['-Og']]) {
    test(`${compiler} ${options.join(' ')}: a pthread program, recorded by the layer`, async (t) => {
      const { model, status, stderr } = await record(
        build(compiler, 'program.c', options, ['-ldl', ...(options.includes('-fno-pie') ? ['-no-pie'] : [])]),
        { args: [String(turns)] },
      );
      t.is(status, 0, stderr);
      t.is(model.head.publisher, 'pthread');
      exact(t, model, counts);
    });
  }

  test(`${compiler}: a library with hooks that is loaded, unloaded and loaded again while threads run`, async (t) => {
    const plugin = build(compiler, 'plugin.c', ['-fPIC'], ['-shared']);
    const { model, status, stderr } = await record(build(compiler, 'program.c', [], ['-ldl']), {
      args: [String(turns), plugin, '20'],
    });
    t.is(status, 0, stderr);
    exact(t, model, { ...counts, use: 20 });
    // Procedures of a library that was unloaded have no names.
    const others = model.entities.filter(
      (one) => one.kind === 'procedure' && !(one.name in counts) && one.name !== 'use',
    );
    t.is(
      others.reduce((sum, one) => sum + one.calls, 0),
      20 * 100 * 11,
    );
  });

  test(`${compiler}: attached twice while it runs: procedures are seen and counted, each time`, async (t) => {
    const program = start(build(compiler, 'program.c', [], ['-ldl']), ['0'], {
      QUARTZ_ATTACH: '1',
      LD_PRELOAD: join(root, 'build/pthread-layer/libquartz-pthread.so'),
    });
    try {
      await until('the program is ready', () => program.stdout().includes('ready'));
      for (let round = 0; round < 2; round++) {
        // If threads seldom have a CPU, many snapshots show the same place.
        const ran = ({ entities }: Model): boolean =>
          entities.some(
            ({ kind, name, processorTimeNs }) => kind === 'procedure' && name === 'leaf' && processorTimeNs > 0,
          );
        const { model, file, status, stderr } = await attachTo(program.child.pid!, 200, ran);
        t.is(status, 0, stderr);
        const leaves = calls(model, 'leaf'),
          all = calls(model, 'turn');
        // copied while they changed
        t.true(all > 0 && leaves > 9 * all && leaves < 11 * all, `${leaves} leaves of ${all} turns`);
        // Including the hooks' cost, which grows with the calls and may be all the time of such a short procedure.
        t.true(ran(openModel(file, false)));
      }
    } finally {
      program.child.kill('SIGKILL');
      await program.ended;
    }
  });

  test(`${compiler}: not a word about hooks, however strictly a program is compiled`, (t) => {
    t.notThrows(() => build(compiler, 'strict.c', ['-std=c89', '-pedantic-errors', '-Wextra'], []));
  });

  for (const options of [[], ['-O0'], ['-fPIC']]) {
    test(`${compiler} ${options.join(' ')}: nested procedures, other conventions, deep recursion`, async (t) => {
      const { model, status, stderr } = await record(build(compiler, 'conventions.c', options, []), { args: ['1000'] });
      t.is(status, 0, stderr);
      const expected = { variadic: 1000, microsoft: 1000, jump: 1000, even: 151_000, odd: 150_000 };
      exact(t, model, compiler === 'gcc' ? { ...expected, around: 1000, apply: 1000, 'nested.0': 5000 } : expected);
      t.true(model.head.stackOverflows > 0);
      if (compiler !== 'gcc') return;
      const callers = model.entities
        .find((one) => one.name === 'nested.0')!
        .callers.map(({ entity, count }) => `${model.entities[entity]!.name} ${count}`);
      t.deepEqual(callers.sort(), ['apply 1000', 'around 1000', 'nested.0 3000']);
    });
  }

  for (const [what, link] of [
    ['the shared library', flags('libs', '--shared')],
    ['the static library', flags('libs')],
    // its call links the library
    ['everything static', ['-static', ...flags('libs').filter((word) => !word.includes('-u,'))]],
  ] as const) {
    test(`${compiler}: threads of the package, ${what}`, async (t) => {
      const { model, status, stderr } = await record(build(compiler, 'package.c', [], link), { args: [String(turns)] });
      t.is(status, 0, stderr);
      t.is(model.head.publisher, 'threadlib');
      exact(t, model, counts);
    });
  }
}
