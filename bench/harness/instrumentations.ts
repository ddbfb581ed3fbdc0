/** The ways to compile a program for a profiler of procedures, and to run it under that profiler. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Readings } from './bench.js';
import { compile } from './build.js';
import { execute, Failed, scratchDirectory } from './execute.js';
import { root, work } from './peers.js';

const flagsScript = join(root, 'scripts/quartz-flags');
const words = (args: readonly string[]): string[] =>
  execFileSync('sh', [flagsScript, ...args], { encoding: 'utf8' })
    .trim()
    .split(/\s+/);

/** The kinds of hooks, as quartz-flags lists them: best is the default, all and none are what they say. */
function hookKinds(): string[] {
  const usage = /--hooks ([\w|-]+)/.exec(readFileSync(flagsScript, 'utf8'))?.[1] ?? 'best|all|none';
  return usage.split('|').filter((kind) => kind !== 'none');
}

export interface Variant {
  name: string;
  peer: boolean;
  compiler: string;
  compile: readonly string[];
  link: readonly string[];
}

export const plain: Variant = { name: 'plain', peer: false, compiler: 'gcc', compile: [], link: [] };
export const gprof: Variant = { name: 'gprof', peer: true, compiler: 'gcc', compile: ['-pg'], link: ['-pg'] };

/** The flags that Quartz documents for a compiler, best first. */
export function quartzVariants(compiler = 'gcc'): Variant[] {
  // A program that does not call the package is published by the preloaded layer; `hold` has none.
  const link = ['-Wl,-u,qz_init', ...words(['libs'])];
  return hookKinds().map((kind) => ({
    name: kind === 'best' ? 'quartz' : `quartz ${kind}`,
    peer: false,
    compiler,
    compile: words(['cflags', '--cc', compiler, '--hooks', kind]),
    link,
  }));
}

/**
 * The name of the fastest documented flags: those that are neither the default nor for all procedures, else the
 * default.
 */
export function fastest(variants: readonly Variant[]): string {
  return variants.find((one) => one.name.startsWith('quartz ') && one.name !== 'quartz all')?.name ?? 'quartz';
}

export interface Source {
  name: string;
  files: readonly string[];
  flags: readonly string[];
  libraries: readonly string[];
}

/** Compiles a program in one way, unless that has been done with the same library. Returns the executable's path. */
export function build(source: Source, variant: Variant): string {
  const directory = join(work, 'programs', variant.compiler, variant.name.replace(/ /g, '-'));
  const file = join(directory, source.name);
  const command = [
    variant.compiler,
    '-O2',
    '-w',
    ...source.flags,
    ...variant.compile,
    ...source.files,
    '-o',
    file,
    ...variant.link,
    ...source.libraries,
  ];
  // Rebuilt where a flag, a source or the library has changed.
  const stamp = [
    ...command,
    ...[...source.files, ...variant.link]
      .filter(existsSync)
      .map((path) => execFileSync('sha1sum', [path], { encoding: 'utf8' })),
  ].join('\n');
  if (existsSync(file) && existsSync(`${file}.stamp`) && readFileSync(`${file}.stamp`, 'utf8') === stamp) return file;
  mkdirSync(directory, { recursive: true });
  rmSync(file, { force: true });
  compile(variant.compiler, command.slice(1), root);
  writeFileSync(`${file}.stamp`, stamp);
  return file;
}

const clockLibrary = (): string => {
  const file = join(work, 'libclock.so');
  if (!existsSync(file)) compile('gcc', ['-O2', '-shared', '-fPIC', 'bench/programs/clock.c', '-o', file], root);
  return file;
};

export const hold = join(work, 'hold');

/**
 * Runs a program under the given command, and returns the program's own time: "cpu" and "wall", in seconds. Its output
 * is discarded. `file`: the program, as it appears in `command`.
 */
export async function timed(
  file: string,
  command: readonly string[],
  options: { env?: Record<string, string>; seconds?: number; preload?: string } = {},
): Promise<Readings> {
  const clock = join(scratchDirectory(), 'clock');
  writeFileSync(clock, '');
  // The clock comes last: it then begins before the tool's libraries, and ends after them. Quartz puts its layer before
  // both.
  const preload = options.preload === undefined ? clockLibrary() : `${options.preload}:${clockLibrary()}`;
  const env = { LD_PRELOAD: preload, QUARTZ_BENCH_CLOCK: clock, QUARTZ_PROCESSORS: '1', ...options.env };
  await execute(command[0]!, command.slice(1), {
    cwd: scratchDirectory(),
    env,
    seconds: options.seconds ?? 30,
    silent: true,
  });
  // The tool that starts it prints its own time, too.
  const line = readFileSync(clock, 'utf8')
    .split('\n')
    .find((one) => one.startsWith(`${basename(file)} `));
  const match = /cpu ([\d.]+) wall ([\d.]+)/.exec(line ?? '');
  if (!match) throw new Failed('did not print its time');
  return { cpu: Number(match[1]), wall: Number(match[2]) };
}

/** Text of about that many bytes that compresses like prose, the same each time. */
export function textFile(bytes: number): string {
  const file = join(work, `text-${bytes}`);
  if (existsSync(file)) return file;
  let state = 12345;
  const draw = (below: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % below;
  };
  const syllables = Array.from({ length: 200 }, () =>
    Array.from({ length: 1 + draw(3) }, () => String.fromCharCode(97 + draw(26))).join(''),
  );
  const vocabulary = Array.from({ length: 3000 }, () =>
    Array.from({ length: 1 + draw(3) }, () => syllables[draw(syllables.length)]!).join(''),
  );
  const lines: string[] = [];
  for (let size = 0; size < bytes;) {
    const line = Array.from(
      { length: 12 },
      () => vocabulary[Math.min(draw(vocabulary.length), draw(vocabulary.length))]!,
    ).join(' ');
    lines.push(line);
    size += line.length + 1;
  }
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}
