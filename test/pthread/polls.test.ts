/** Loops that call what they look at, by each compiler that is there: those that only wait spin, those that work in the like do not. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'ava';
import { root } from '../known/programs.js';
import { record, temporaryFile } from '../known/record.js';

function build(compiler: string, options: readonly string[]): string | undefined {
  const file = temporaryFile('polls');
  try {
    execFileSync(compiler, ['--version'], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  execFileSync(compiler, ['-g', ...options, join(root, 'test/pthread/polls.c'), '-o', file, '-lpthread'], { stdio: 'pipe' });
  return file;
}

for (const [compiler, options] of [['gcc', ['-O2']], ['clang', ['-O2']], ['gcc', ['-O0']], ['clang', ['-O0']], ['g++', ['-O2', '-xc++']]] as const) {
  const program = build(compiler, options);
  (program === undefined || process.arch !== 'x64' ? test.skip : test.serial)(`${compiler} ${options.join(' ')}: waiting through getters spins, with a deadline, too; work with these is work`, async (t) => {
    const { model } = await record(program!);
    if (model.head.paths.noSamples || model.head.paths.fewSamples) {
      t.pass();
      t.log('samples of running threads are not allowed here');
      return;
    }
    const threads = model.entities.filter(({ kind, name, id, members }) => kind === 'thread' && id !== 0 && members.length === 0 && /^[+-]/.test(name));
    t.is(threads.length, compiler === 'g++' ? 19 : 17);
    for (const { name, states } of threads) {
      const { useful, spinning } = states;
      if (name.startsWith('+')) t.true(spinning.ns > 2 * useful.ns, `${name}: ${spinning.ns / 1e6} ms found to spin, ${useful.ns / 1e6} not`);
      else t.true(spinning.ns < 0.1 * useful.ns, `${name}: ${spinning.ns / 1e6} ms of ${useful.ns / 1e6} taken for waiting`);
    }
    t.true(model.notices.some(({ reason }) => /make no progress/.test(reason)));
  });
}
