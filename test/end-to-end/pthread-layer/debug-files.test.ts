/** Loops of programs whose debug information is in a file of its own: beside the program, in `.debug`, or split. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needing } from '../../support/capabilities.js';
import { record } from '../../support/record.js';
import { temporaryDirectory } from '../../support/temporary.js';
import { lineOfComment, observationsOf, sourceOf } from './helpers.js';
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

for (const kept of [true, false])
  needing(
    'tool:gcc',
    'perf_event_open',
    'process_vm_readv',
  )(`split debug information (-gsplit-dwarf), whose .dwo files are ${kept ? 'there' : 'not there'}`, async (t) => {
    const directory = temporaryDirectory();
    const from = sourceOf('code_loops.c');
    execFileSync('gcc', ['-g', '-gsplit-dwarf', '-O2', from, '-o', 'split', '-pthread'], { cwd: directory });
    const split = readdirSync(directory).filter((name) => name.endsWith('.dwo'));
    t.is(split.length, 1);
    if (!kept) for (const name of split) rmSync(join(directory, name));
    const { model, status } = await record(join(directory, 'split'));
    t.is(status, 0);
    const whole = model.root.processorTimeNs;
    for (const [comment, part] of [
      ['nest', 4 / 7],
      ['three', 3 / 7],
      ['in inlined', 2 / 7],
      ['choose', 1 / 7],
    ] as const) {
      const line = lineOfComment('code_loops.c', comment);
      const its = model.entities.filter((one) => one.kind === 'code-loop' && one.group === 0 && one.line === line);
      const share = its.reduce((sum, one) => sum + one.processorTimeNs, 0) / whole;
      // the first few samples may have come before the debug information was read
      const slack = 0.03 + 0.1 * part + 4 * Math.sqrt((part * (1 - part)) / observationsOf(model, whole));
      t.true(Math.abs(share - part) <= slack, `${comment}: ${share}, not ${part} ± ${slack}`);
    }
    // which procedure is inlined where is in the other file
    t.is(
      model.entities.some(({ name }) => name === 'inlined'),
      kept,
    );
  });
