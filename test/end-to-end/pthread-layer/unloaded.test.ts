/** Libraries that are unloaded: afterwards, their addresses belong to another library. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needing, skip } from '../../support/capabilities.js';
import { record } from '../../support/record.js';
import { directory } from '../../support/run-quartz.js';
import { sourceOf } from './helpers.js';

/**
 * Some 2 ms of multiplications that depend on each other. `frame`: bytes of stack, so that callers are found
 * differently; with other code before it, so that no procedure begins where one of the other library did.
 */
const library = (work: string, frame: number): string => `
  __asm__(".text; .skip ${frame / 8}, 0x90");
  __attribute__((noipa)) double ${work}(double x) {
    volatile char stack[${frame}];
    stack[0] = 1;
    for (long k = 0; k < 500000; k++) x = x * 1.0000001 + stack[0];
    return x;
  }
  __attribute__((noipa)) double run(double x) { return ${work}(x) + 1; }
`;

needing('perf_event_open')(
  'a library in the place of one that was unloaded: its own names, and whole paths',
  async (t) => {
    const cwd = directory();
    for (const [name, frame] of [
      ['first', 64],
      ['second', 4096],
    ] as const) {
      writeFileSync(join(cwd, `${name}.c`), library(`${name}_work`, frame));
      const flags = ['-O1', '-g', '-shared', '-fPIC', '-fomit-frame-pointer', '-o', `${name}.so`, `${name}.c`];
      execFileSync('cc', flags, { cwd });
    }
    execFileSync('cc', ['-O1', '-g', '-o', 'reloaded', sourceOf('reloaded.c'), '-ldl'], { cwd });
    const args = ['first', 'second'].map((name) => join(cwd, `${name}.so`));
    const { model, status, stdout } = await record(join(cwd, 'reloaded'), { args });
    t.is(status, 0);
    if (stdout.trim() !== 'same') {
      skip(t, 'the system put the libraries apart');
      return;
    }
    const share = (name: string): number =>
      (model.entities.find((entity) => entity.kind === 'procedure' && entity.name === name)?.processorTimeNs ?? 0) /
      model.root.processorTimeNs;
    // a quarter and three, except for what was sampled before the sampler knew of a library
    const shares = `${share('second_work')} in second_work, ${share('first_work')} in first_work`;
    t.true(share('second_work') > 0.55 && share('second_work') < 0.85, shares);
    t.true(share('first_work') > 0.1 && share('first_work') < 0.4, shares);
    t.true(share('work_in') > 0.85, 'paths lead to the procedure that calls the library');
  },
);
