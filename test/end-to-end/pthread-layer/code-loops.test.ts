/**
 * Loops of optimized programs, by each available compiler, without hooks, with hooks, and with the thread package:
 * their source lines and nesting, and that their time is in proportion to the work counted in them.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import {
  costIndex,
  findEntities,
  findSource,
  focusOn,
  viewOf,
  type Entity,
  type Model,
  type ViewRow,
} from '../../../ts-frontend/src/model/index.js';
import { needing, skip } from '../../support/capabilities.js';
import { record, temporaryFile } from '../../support/record.js';
import { root } from '../../support/root.js';
import { temporaryDirectory } from '../../support/temporary.js';
import { hadCpus, lineOfComment, observationsOf, sampleNs, sourceOf } from './helpers.js';

const source = 'code_loops.c';
const path = sourceOf(source);

/** How a program is prepared for Quartz: not at all, with hooks, or with hooks and the package's threads. */
type Made = 'plain' | 'hooks' | 'package';
const flags = (what: string, compiler: string): string[] =>
  execFileSync(join(root, 'scripts/quartz-flags'), [what, '--cc', compiler], { encoding: 'utf8' }).trim().split(' ');

function build(compiler: string, options: readonly string[], made: Made = 'plain', from = path): string {
  const file = temporaryFile(`${compiler}-${options.join('')}`.replace(/\W/g, '-'));
  const hooks = made === 'plain' ? [] : flags('cflags', compiler);
  const libraries = made === 'package' ? ['-DWITH_PACKAGE', ...flags('libs', compiler)] : ['-lpthread'];
  execFileSync(compiler, [...options, ...hooks, from, '-o', file, ...libraries], { stdio: 'pipe' });
  return file;
}
const lineOf = (comment: string): number => lineOfComment(source, comment);

/** Loops at the line, in any scope. */
const loopsAt = (model: Model, line: number): Entity[] =>
  model.entities.filter((one) => one.kind === 'code-loop' && one.group === 0 && one.line === line);
/** Names on the path from the whole program to the first row that `is` accepts. */
function wayTo(model: Model, row: ViewRow, is: (entity: Entity) => boolean): string[] | undefined {
  const entity = row.subject.kind === 'entity' ? model.entities[row.subject.entity] : undefined;
  if (!entity) return undefined;
  const own = entity.kind === 'code-loop' ? `loop ${entity.line}` : entity.name;
  if (is(entity)) return [own];
  for (const below of row.open(0)) {
    const way = wayTo(model, below, is);
    if (way) return [own, ...way];
  }
  return undefined;
}

/** The tolerance for sampling; if others have the CPUs, it takes longer until the debug information has been read. */
const slackOf = (part: number, share: number, samples: number): number =>
  (share > part ? 0.03 : 0.03 + 0.1 * part) + 4 * Math.sqrt((part * (1 - part)) / samples);

/** The part of all steps, of 7 units, that is executed within the loop. */
const parts: readonly (readonly [string, number])[] = [
  ['nest', 4 / 7],
  ['three', 3 / 7],
  ['one', 1 / 7],
  ['around inlined', 2 / 7],
  ['in inlined', 2 / 7],
  ['choose', 1 / 7],
  ['in run', 1],
];

/** The part of a procedure's time in one of its own loops. */
const ofProcedure: readonly (readonly [string, string, number])[] = [
  ['nest', 'nest', 1],
  ['nest', 'three', 3 / 4],
  ['nest', 'one', 1 / 4],
  ['calls', 'in inlined', 1],
  ['choose', 'choose', 1],
  ['run', 'in run', 1],
];

/**
 * With the thread package, time is that during which a processor has the thread, whether or not other programs have the
 * CPU; so it is compared with the procedure's time, not with the steps.
 */
function holdToProcedures(t: ExecutionContext, model: Model): void {
  for (const [procedure, comment, part] of ofProcedure) {
    const [its] = findEntities(model, procedure);
    const ns = model.entities[its!]!.processorTimeNs;
    const found = loopsAt(model, lineOf(comment)).reduce((sum, one) => sum + one.processorTimeNs, 0) / ns;
    const slack = 0.15 + 8 * Math.sqrt((part * (1 - part)) / observationsOf(model, ns));
    t.true(Math.abs(found - part) <= slack, `${comment}: ${found} of ${procedure}, not ${part} ± ${slack}`);
  }
}

/** The same for lines: at them, or in what they call. */
const lineParts: readonly (readonly [string, number])[] = [
  ['three', 3 / 7],
  ['one', 1 / 7],
  ['in inlined', 2 / 7],
  ['in run', 1],
];

for (const [compiler, options, made = 'plain'] of [
  ['gcc', ['-O1']],
  ['gcc', ['-O2']],
  ['gcc', ['-O3']],
  ['gcc', ['-O2', '-flto']],
  ['gcc', ['-O2', '-no-pie', '-fno-pie']],
  ['gcc', ['-O2', '-gdwarf-4']],
  ['clang', ['-O1']],
  ['clang', ['-O2']],
  ['clang', ['-O3']],
  ['gcc', ['-O2'], 'hooks'],
  ['gcc', ['-O3'], 'hooks'],
  ['clang', ['-O2'], 'hooks'],
  ['gcc', ['-O2'], 'package'],
  ['clang', ['-O2'], 'package'],
] as readonly (readonly [string, readonly string[], Made?])[])
  needing(
    `tool:${compiler}`,
    'perf_event_open',
    'process_vm_readv',
  )(
    `${compiler} ${options.join(' ')}${made === 'plain' ? '' : `, ${made}`}: loops at their source, with their time`,
    async (t) => {
      const { model, status } = await record(build(compiler, ['-g', ...options], made));
      t.is(status, 0);
      const whole = model.root.processorTimeNs;
      const samples = observationsOf(model, whole);
      // Waiting for a CPU counts there, and comes before the first sample.
      if (made === 'package' && !hadCpus(model)) skip(t, 'other programs had the CPUs');
      else if (made === 'package') holdToProcedures(t, model);
      for (const [comment, part] of made === 'package' ? [] : parts) {
        const found = loopsAt(model, lineOf(comment));
        const share = found.reduce((sum, one) => sum + one.processorTimeNs, 0) / whole;
        const slack = slackOf(part, share, samples);
        t.true(Math.abs(share - part) <= slack, `${comment}: ${share}, not ${part} ± ${slack}`);
      }
      const [file] = findSource(model, source);
      for (const [comment, part] of made === 'package' ? [] : lineParts) {
        // its link-time optimization loses where one of two copies of `step` was inlined: there, line 9 is in `nest`
        // itself
        if (comment === 'one' && options.some((option) => option === '-flto')) continue;
        const line = file!.lines.find((one) => one.line === lineOf(comment));
        const share = (line?.total[costIndex.time] ?? 0) / whole;
        const slack = slackOf(part, share, samples);
        t.true(Math.abs(share - part) <= slack, `line of ${comment}: ${share}, not ${part} ± ${slack}`);
      }
      // One thread works, the other waits for its end: so the critical path is what that thread does, however long it
      // takes.
      for (const { line, total } of made === 'package' ? [] : file!.lines) {
        const onPathNs = total[costIndex.onPath]!;
        if (line === lineOf('in main')) {
          // Both exist from before the code has been read: one works below the call that created it, one waits.
          t.true(total[costIndex.blocked]! > 0.5 * model.elapsedNs, `main waited ${total[costIndex.blocked]} there`);
          continue;
        }
        const { time, spinning, ready, blocked, io } = costIndex;
        const whatever = [time, spinning, ready, blocked, io].reduce((sum, k) => sum + total[k]!, 0);
        t.true(
          Math.abs(onPathNs - whatever) <= 0.01 * model.elapsedNs,
          `line ${line}: ${onPathNs} on path of ${whatever}`,
        );
      }
      const tree = viewOf(model, 'tree');
      const at = (comment: string) => (one: Entity) => one.kind === 'code-loop' && one.line === lineOf(comment);
      const way = (comment: string): string | undefined => wayTo(model, tree, at(comment))?.slice(-3).join(' > ');
      t.is(way('three'), `nest > loop ${lineOf('nest')} > loop ${lineOf('three')}`);
      const between = made === 'plain' ? 'inlined > ' : ''; // hooks know procedures as they are after inlining
      t.is(
        way('in inlined')?.replace('calls > ', ''),
        `loop ${lineOf('around inlined')} > ${between}loop ${lineOf('in inlined')}`,
      );
      const [three] = loopsAt(model, lineOf('three'));
      t.deepEqual(findEntities(model, `loop at ${source}:${lineOf('three')}`), [three!.id]);
      t.is(focusOn(model, three!.id).nptNs, three!.nptNs);
    },
  );

needing(
  'tool:gcc',
  'perf_event_open',
  'process_vm_readv',
)('without debug information loops are known by their address; stripped, too', async (t) => {
  for (const options of [['-O2'], ['-O2', '-s']]) {
    const { model } = await record(build('gcc', options));
    const loops = model.entities.filter((one) => one.kind === 'code-loop');
    // the loop with 3 of 7 units of work: units take equally long, except for the compiler's changes
    const hot = loops.filter((one) => Math.abs(one.nptNs / model.root.nptNs - 3 / 7) < 0.1);
    t.true(hot.length >= 1, loops.map((one) => `${one.name} ${one.nptNs / 1e6}`).join(', '));
    t.true(
      loops.every((one) => /^loop at .*\+0x[0-9a-f]+$/.test(one.name)),
      loops.map((one) => one.name).join(),
    );
  }
});

/** Pairs of loops with the same work, one with three times the iterations; by procedure. */
const shapes: readonly (readonly [string, string, readonly string[], readonly string[]])[] = [
  ['gcc', 'code_shapes.c', ['-O3', '-pthread'], ['vectorized', 'unswitched', 'unrolled']],
  ['clang', 'code_shapes.c', ['-O3', '-pthread'], ['vectorized', 'unswitched', 'unrolled']],
  ['gfortran', 'code_shapes.f90', ['-O3', '-fno-inline'], ['vectorized']],
  ['rustc', 'code_shapes.rs', ['-C', 'opt-level=3'], ['vectorized']],
];
/** Compared with the procedure's time in loops, with the tolerance for its samples: a fast pair has few. */
function holdToPairs(t: ExecutionContext, model: Model, from: string, procedures: readonly string[]): void {
  let checked = 0;
  for (const procedure of procedures) {
    const time = (loop: string): number =>
      loopsAt(model, lineOfComment(from, `${procedure} ${loop}`)).reduce((sum, one) => sum + one.processorTimeNs, 0);
    const [one, three] = [time('one'), time('three')];
    // the first few samples may have come before the debug information was read
    if (one + three < 40e6) continue;
    checked++;
    const share = three / (one + three);
    const slack = 0.1 + 4 * Math.sqrt(0.1875 / Math.max(1, (one + three) / (2 * sampleNs(model))));
    t.true(Math.abs(share - 0.75) <= slack, `${procedure}: ${share} of ${one + three} ns, not 3/4 ± ${slack}`);
  }
  if (checked === 0) skip(t, 'other programs had the CPUs');
}
for (const [compiler, from, options, procedures] of shapes)
  needing(
    `tool:${compiler}`,
    'perf_event_open',
    'process_vm_readv',
  )(`${compiler}, ${from}: loops that are vectorized, unswitched, unrolled`, async (t) => {
    const { model, status } = await record(build(compiler, ['-g', ...options], 'plain', sourceOf(from)));
    t.is(status, 0);
    holdToPairs(t, model, from, procedures);
  });

needing(
  'tool:gcc',
  'perf_event_open',
  'process_vm_readv',
)('loops of a shared object whose debug information is in a file of its own', async (t) => {
  const directory = temporaryDirectory();
  const library = join(directory, 'libshapes.so');
  const program = join(directory, 'shapes');
  const from = sourceOf('code_shapes.c');
  const make = (...words: string[]): Buffer => execFileSync('gcc', words, { cwd: directory, stdio: 'pipe' });
  make('-g', '-gsplit-dwarf', '-O3', '-fPIC', '-shared', '-DLIBRARY', from, '-o', library);
  make(
    '-g',
    '-O3',
    '-DPROGRAM',
    from,
    '-o',
    program,
    `-L${directory}`,
    '-lshapes',
    `-Wl,-rpath,${directory}`,
    '-pthread',
  );
  const { model, status } = await record(program);
  t.is(status, 0);
  holdToPairs(t, model, 'code_shapes.c', ['vectorized', 'unswitched', 'unrolled']);
});

needing(
  'tool:gcc',
  'perf_event_open',
  'process_vm_readv',
)('loops of a library that the system installed, stripped', async (t) => {
  const { model, status } = await record(build('gcc', ['-g', '-O1'], 'plain', sourceOf('code_library.c')));
  if (status === 77) {
    skip(t, 'there is no zlib');
    return;
  }
  t.is(status, 0);
  const loops = model.entities.filter(({ kind, name }) => kind === 'code-loop' && name.startsWith('loop at libz'));
  const hottest = [...loops].sort((a, b) => b.processorTimeNs - a.processorTimeNs)[0];
  t.regex(hottest?.name ?? '', /^loop at libz\.so[.\d]*\+0x[0-9a-f]+$/);
  const share = hottest!.processorTimeNs / model.root.processorTimeNs;
  t.true(share > 0.8, `${hottest!.name}: ${share}`);
  const way = wayTo(model, viewOf(model, 'tree'), (one) => one === hottest);
  const [caller, around, called] = way!.slice(way!.indexOf('checksums'));
  t.deepEqual([caller, around], ['checksums', `loop ${lineOfComment('code_library.c', 'of checksums')}`]);
  t.regex(called!, /^adler32/);
});

needing(
  'tool:gcc',
  'perf_event_open',
  'process_vm_readv',
)('loops of assembly without unwind information, and in what it calls', async (t) => {
  if (process.arch !== 'x64') {
    skip(t, 'the assembly is for x86-64');
    return;
  }
  const assembly = sourceOf('code_assembly_x86_64.s');
  const { model, status } = await record(build('gcc', ['-g', '-O1', assembly], 'plain', sourceOf('code_assembly.c')));
  t.is(status, 0);
  const lineAt = (label: string): number => {
    const lines = readFileSync(assembly, 'utf8').split('\n');
    return 1 + lines.findIndex((line) => line.trimEnd().endsWith(`# ${label}`));
  };
  const time = (line: number): number => loopsAt(model, line).reduce((sum, one) => sum + one.processorTimeNs, 0);
  const [three, one, outer] = [time(lineAt('three')), time(lineAt('one')), time(lineAt('outer'))];
  const samples = observationsOf(model, three + one);
  const slack = slackOf(0.75, three / (three + one), samples);
  t.true(Math.abs(three / (three + one) - 0.75) <= slack, `three: ${three}, one: ${one}, not 3 to 1 (± ${slack})`);
  t.true(outer > 0.8 * model.root.processorTimeNs, `${outer} of ${model.root.processorTimeNs}`);
  const inC = loopsAt(model, lineOfComment('code_assembly.c', 'called'))[0];
  t.deepEqual(wayTo(model, viewOf(model, 'tree'), (loop) => loop === inC)?.slice(-5), [
    'caller',
    'assembled',
    `loop ${lineAt('outer')}`,
    'called',
    `loop ${lineOfComment('code_assembly.c', 'called')}`,
  ]);
});

/** The part of all steps, of 12,000 in each turn, that is executed within the loop. */
const apart: readonly (readonly [string, number])[] = [
  ['around', 8 / 12],
  ['near', 2 / 12],
  ['apart', 6 / 12],
  ['within', 3 / 12],
  ['in a handler', 4 / 12],
];
for (const [compiler, made, options] of [
  // at -O2 gcc copies the head of the loop and jumps into both copies: the loop's line is then another one
  ['g++', 'plain', ['-O1', '-freorder-blocks-and-partition']],
  ['g++', 'hooks', ['-O1', '-freorder-blocks-and-partition']],
  ['clang++', 'plain', ['-O2']],
] as readonly (readonly [string, Made, readonly string[]])[])
  needing(
    `tool:${compiler}`,
    'perf_event_open',
    'process_vm_readv',
  )(`${compiler}, ${made}: loops through what was moved away as unlikely, and in handlers`, async (t) => {
    const from = sourceOf('code_parts.cc');
    const line = (comment: string): number => lineOfComment('code_parts.cc', comment);
    const { model } = await record(build(compiler, ['-g', ...options], made, from));
    const whole = model.root.processorTimeNs;
    const samples = observationsOf(model, whole);
    for (const [comment, part] of apart) {
      // Exceptions leave entries of hooks on the stack until the next hook: samples do not have such a path.
      if (made === 'hooks' && comment === 'in a handler') continue;
      const share = loopsAt(model, line(comment)).reduce((sum, one) => sum + one.processorTimeNs, 0) / whole;
      const slack = slackOf(part, share, samples);
      t.true(Math.abs(share - part) <= slack, `${comment}: ${share}, not ${part} ± ${slack}`);
    }
    const at = (one: Entity): boolean => one.kind === 'code-loop' && one.line === line('within');
    t.is(
      wayTo(model, viewOf(model, 'tree'), at)?.slice(-4).join(' > '),
      `parts > loop ${line('around')} > loop ${line('apart')} > loop ${line('within')}`,
    );
    t.false(model.entities.some(({ name }) => name.includes('.cold')));
  });

/** For each loop of a procedure, in order of addresses, the number of the loop that contains it, from 1; 0: none. */
const nests: readonly (readonly [string, readonly number[]])[] = [
  ['nest', [0, 1, 1]],
  ['calls', [0, 1]],
  ['choose', [0]],
];
needing('tool:aarch64-linux-gnu-gcc')('loops of code for aarch64, cross-compiled', (t) => {
  const tools = 'aarch64-linux-gnu-';
  for (const level of ['-O1', '-O2', '-O3']) {
    const object = temporaryFile('aarch64.o');
    execFileSync(`${tools}gcc`, [level, '-ffunction-sections', '-c', path, '-o', object], { stdio: 'pipe' });
    for (const [procedure, within] of nests) {
      const code = `${object}.${procedure}`;
      execFileSync(`${tools}objcopy`, ['-O', 'binary', `--only-section=.text.${procedure}`, object, code]);
      const loops = execFileSync(join(root, 'build/test/unit/sampler/sampler_loop_nest'), ['aarch64', code], {
        encoding: 'utf8',
      });
      t.deepEqual(
        loops
          .trim()
          .split('\n')
          .map((line) => Number(line.split(' ')[1])),
        within,
        `${level} ${procedure}`,
      );
    }
  }
});
