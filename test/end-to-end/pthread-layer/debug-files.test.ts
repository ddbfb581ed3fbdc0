/** Loops of programs whose debug information is in a file of its own, beside the program or in `.debug` there. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needing } from '../../support/capabilities.js';
import { record } from '../../support/record.js';
import { temporaryDirectory } from '../../support/temporary.js';
import { loopProgram } from './loop-programs.js';

const program = 'counted';

/** A program whose debug information has been moved into a file that its section .gnu_debuglink names. */
function stripped(keep: (directory: string, file: string) => void): { directory: string; first: number; last: number } {
  const directory = temporaryDirectory();
  const { text, loops } = loopProgram(1, 'c', 100e6);
  writeFileSync(join(directory, 'counted.c'), text);
  const run = (tool: string, ...words: string[]): Buffer =>
    execFileSync(tool, words, { cwd: directory, stdio: 'pipe' });
  run('gcc', '-g', '-O2', 'counted.c', '-o', program);
  run('objcopy', '--only-keep-debug', program, `${program}.debug`);
  run('objcopy', '--strip-all', `--add-gnu-debuglink=${program}.debug`, program);
  keep(directory, `${program}.debug`);
  const hottest = loops.reduce((a, b) => (b.part > a.part ? b : a));
  return { directory, ...hottest };
}
const places: readonly (readonly [string, (directory: string, file: string) => void, boolean])[] = [
  ['beside it', () => undefined, true],
  [
    'in .debug',
    (directory, file) => {
      mkdirSync(join(directory, '.debug'));
      renameSync(join(directory, file), join(directory, '.debug', file));
    },
    true,
  ],
  // the build id decides, not the name
  [
    'of another program',
    (directory, file) => {
      execFileSync('gcc', ['-g', '-O1', 'counted.c', '-o', file], { cwd: directory });
    },
    false,
  ],
];
for (const [where, keep, found] of places)
  needing(
    'tool:gcc',
    'perf_event_open',
    'process_vm_readv',
  )(`a debug file ${where}`, async (t) => {
    const { directory, first, last } = stripped(keep);
    const { model, status } = await record(join(directory, program));
    t.is(status, 0);
    const loops = model.entities.filter(({ kind }) => kind === 'code-loop');
    const names = loops.map(({ name }) => name).join(', ');
    t.true(loops.length > 0);
    t.is(
      loops.some(({ line, file }) => file.endsWith('counted.c') && line >= first && line <= last),
      found,
      names,
    );
  });
