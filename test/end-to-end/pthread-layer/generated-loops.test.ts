/**
 * Random programs of loops with counted work (loop-programs.ts), in four languages: each loop is found at its source,
 * within the loop around it, with its share of the time. QUARTZ_LOOP_PROGRAMS=all: with all compilers and options, with
 * the shares of each loop; QUARTZ_LOOP_SEED: other programs; QUARTZ_LOOP_STEPS: longer ones.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { viewOf, type Entity, type Model, type ViewRow } from '../../../ts-frontend/src/model/index.js';
import { needing, skip } from '../../support/capabilities.js';
import { record } from '../../support/record.js';
import { root } from '../../support/root.js';
import { temporaryDirectory } from '../../support/temporary.js';
import { observationsOf } from './helpers.js';
import { loopProgram, type CountedLoop, type Language } from './loop-programs.js';

const all = process.env['QUARTZ_LOOP_PROGRAMS'] === 'all';
const seed = Number(process.env['QUARTZ_LOOP_SEED'] ?? 1);
const steps = Number(process.env['QUARTZ_LOOP_STEPS'] ?? 200e6);

/** Compiler, options, and whether it is one of the few that are always tested. */
const made: readonly (readonly [string, readonly string[], boolean?])[] = [
  ['gcc', ['-O1']],
  ['gcc', ['-O2'], true],
  ['gcc', ['-O3'], true],
  ['gcc', ['-Os'], true],
  ['gcc', ['-O2', '-flto']],
  ['gcc', ['-O2', '-no-pie', '-fno-pie']],
  ['gcc', ['-O2', '-gsplit-dwarf']],
  ['gcc', ['-O2', '-gz']],
  ['gcc', ['-O3', '-gdwarf-4']],
  ['gcc', ['-O3', '-funroll-loops']],
  ['gcc', ['-O2', '-fno-asynchronous-unwind-tables', '-fno-unwind-tables']],
  ['gcc', ['-O2', '-falign-loops=64', '-mavx2']],
  ['clang', ['-O1']],
  ['clang', ['-O2'], true],
  ['clang', ['-O3']],
  ['clang', ['-Os']],
  ['clang', ['-O2', '-gsplit-dwarf']],
  ['clang', ['-O2', '-no-pie', '-fno-pie']],
  ['clang', ['-O3', '-gz']],
  ['clang', ['-O2', '-fno-asynchronous-unwind-tables']],
  ['g++', ['-O1']],
  ['g++', ['-O2']],
  ['g++', ['-O3'], true],
  ['g++', ['-O2', '-flto']],
  ['clang++', ['-O1']],
  ['clang++', ['-O2']],
  ['clang++', ['-O3']],
  ['gfortran', ['-O1']],
  ['gfortran', ['-O2'], true],
  ['gfortran', ['-O3']],
  ['rustc', ['-C', 'opt-level=1']],
  ['rustc', ['-C', 'opt-level=2'], true],
  ['rustc', ['-C', 'opt-level=3']],
  ['rustc', ['-C', 'opt-level=3', '-C', 'lto=fat']],
  ['gcc', ['-O2', 'hooks'], true],
  ['clang', ['-O3', 'hooks']],
];
const languageOf: Record<string, Language> = { 'g++': 'c++', 'clang++': 'c++', gfortran: 'fortran', rustc: 'rust' };
const suffix: Record<Language, string> = { c: 'c', 'c++': 'cc', fortran: 'f90', rust: 'rs' };

/** The innermost counted loop whose source has the line; -1: none. */
function loopAt(loops: readonly CountedLoop[], line: number): number {
  let found = -1;
  loops.forEach(({ first, last }, k) => {
    if (line < first || line > last) return;
    const known = loops[found];
    if (known === undefined || last - first < known.last - known.first) found = k;
  });
  return found;
}

/** For each counted loop, those around it in rows of the tree with at least `least` ns. */
function around(model: Model, loops: readonly CountedLoop[], file: string, least: number): Map<number, Set<number>> {
  const found = new Map<number, Set<number>>();
  const visit = (row: ViewRow, outer: number): void => {
    const entity: Entity | undefined = row.subject.kind === 'entity' ? model.entities[row.subject.entity] : undefined;
    let inside = outer;
    if (entity?.kind === 'procedure') inside = -1;
    if (entity?.kind === 'code-loop' && entity.file.endsWith(file)) {
      const its = loopAt(loops, entity.line);
      if (its >= 0 && (row.total[0] ?? 0) >= least) found.set(its, (found.get(its) ?? new Set()).add(outer));
      inside = its;
    }
    for (const below of row.open(0)) visit(below, inside);
  };
  visit(viewOf(model, 'tree'), -1);
  return found;
}

made.forEach(([compiler, options, always], index) => {
  if (!always && !all) return;
  const language = languageOf[compiler] ?? 'c';
  needing(
    `tool:${compiler}`,
    'perf_event_open',
    'process_vm_readv',
  )(`${compiler} ${options.join(' ')}: random loops have their lines, nesting and shares`, async (t) => {
    const directory = temporaryDirectory();
    const { text, loops } = loopProgram(seed + index, language, steps);
    const from = `counted.${suffix[language]}`;
    writeFileSync(join(directory, from), text);
    const hooks = options.includes('hooks')
      ? execFileSync(join(root, 'scripts/quartz-flags'), ['cflags', '--cc', compiler], { encoding: 'utf8' })
          .trim()
          .split(' ')
      : [];
    const words = [...options.filter((one) => one !== 'hooks'), ...hooks, '-g', from, '-o', 'counted'];
    execFileSync(compiler, words, { cwd: directory, stdio: 'pipe' });
    const { model, status } = await record(join(directory, 'counted'));
    t.is(status, 0);
    const whole = model.root.processorTimeNs;
    const samples = observationsOf(model, whole);
    if (samples < 50) {
      skip(t, 'other programs had the CPUs');
      return;
    }
    const shares = loops.map(() => 0);
    for (const { kind, group, line, file, processorTimeNs } of model.entities)
      if (kind === 'code-loop' && group === 0 && file.endsWith(from)) {
        const its = loopAt(loops, line);
        if (its >= 0) shares[its] = (shares[its] ?? 0) + processorTimeNs / whole;
      }
    loops.forEach(({ first, part }, k) => {
      const share = shares[k] ?? 0;
      // Until the debug information has been read, samples have no loops.
      const slack = (share > part ? 0.03 : 0.03 + 0.1 * part) + 4 * Math.sqrt((part * (1 - part)) / samples);
      t.true(Math.abs(share - part) <= slack, `loop at ${first}: ${share}, not ${part} ± ${slack}`);
      if (all) t.log(`share ${compiler} ${options.join(' ')} ${first} ${part} ${share} ${samples}`);
    });
    // Hooks know procedures as they are after inlining: there, loops of an inlined one are in the loop around its call.
    for (const [its, outer] of around(model, loops, from, 0.02 * whole))
      if (hooks.length === 0 || loops[its]?.outer !== -1)
        t.deepEqual([...outer], [loops[its]?.outer], `around the loop at line ${loops[its]?.first}`);
  });
});
