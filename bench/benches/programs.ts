/**
 * Whole programs with hooks, from their packaged sources. Isolates nothing: this is the cost for a user. Time is the
 * program's own CPU time, so that a busy machine has little effect.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, Contender, Plan, RowPlan, Target, Trial } from '../harness/bench.js';
import { buildTargets } from '../harness/build.js';
import { root, work } from '../harness/peers.js';
import { examined, recorded } from '../harness/profile.js';
import { settings } from '../harness/settings.js';
import {
  build,
  fastest,
  gprof,
  hold,
  plain,
  quartzVariants,
  textFile,
  timed,
  type Source,
  type Variant,
} from '../harness/instrumentations.js';

interface Program {
  source: Source;
  args: readonly string[];
  env?: Record<string, string>;
  gprof: boolean;
}

const sourceFiles = (directory: string, except: readonly string[]): string[] =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.c') && !except.includes(name))
    .map((name) => join(directory, name));

/**
 * Where the sources of a program are: the given path, else what bench/peers/fetch_sources.sh fetched; undefined if
 * there is neither.
 */
function sourceOf(name: string): string | undefined {
  const path = settings.sources.get(name) ?? join(work, 'sources', name);
  return existsSync(path) ? path : undefined;
}

function programs(): { here: Program[]; missing: string[] } {
  const here: Program[] = [];
  const missing: string[] = [];
  const add = (name: string, make: (directory: string) => Program): void => {
    const directory = sourceOf(name);
    if (directory === undefined) missing.push(name);
    else here.push(make(directory));
  };
  const size = settings.quick ? '1' : '2';
  const text = textFile(settings.quick ? 500_000 : 1_500_000);
  add('lua5.4', (at) => ({
    source: {
      name: 'lua',
      files: sourceFiles(join(at, 'src'), ['luac.c']),
      flags: ['-DLUA_USE_POSIX', '-DLUA_COMPAT_5_3'],
      libraries: ['-lm'],
    },
    args: [join(root, 'bench/programs/work.lua'), size],
    gprof: true,
  }));
  add('sqlite3', (at) => ({
    source: {
      name: 'sqlite',
      files: [join(at, 'sqlite3.c'), join(at, 'shell.c')],
      libraries: ['-lm'],
      flags: ['-DSQLITE_THREADSAFE=0', '-DSQLITE_OMIT_LOAD_EXTENSION'],
    },
    args: [':memory:', `.read ${join(root, 'bench/programs/work.sql')}`],
    gprof: true,
  }));
  add('bzip2', (at) => ({
    source: {
      name: 'bzip2',
      flags: ['-D_FILE_OFFSET_BITS=64'],
      libraries: [],
      files: ['blocksort', 'huffman', 'crctable', 'randtable', 'compress', 'decompress', 'bzlib', 'bzip2'].map((name) =>
        join(at, `${name}.c`),
      ),
    },
    args: ['-c', '-k', text],
    gprof: true,
  }));
  add('zlib', (at) => ({
    source: {
      name: 'minigzip',
      files: [...sourceFiles(at, []), join(at, 'test/minigzip.c')],
      libraries: [],
      flags: ['-DHAVE_UNISTD_H', '-DHAVE_STDARG_H', `-I${at}`],
    },
    args: ['-c', text],
    gprof: true,
  }));
  return { here, missing };
}

/** The program that comes with Quartz; it has threads of the package, which gprof does not know. */
function verify(): Program {
  const directory = join(work, 'verify');
  const at = join(root, 'examples/verify');
  const circuits = ['first.bench', 'second.bench'].map((name) => join(directory, name));
  if (!circuits.every(existsSync)) {
    buildTargets('verify-generate');
    mkdirSync(directory, { recursive: true });
    const generate = join(root, 'build/examples/verify/verify-generate');
    execFileSync(generate, ['--output', circuits[0]!, 'multiplier:array:6*2', 'adder:ripple:32*20']);
    execFileSync(generate, ['--output', circuits[1]!, 'multiplier:wallace:6*2', 'adder:kogge-stone:32*20']);
  }
  return {
    source: {
      name: 'verify',
      files: sourceFiles(at, []),
      flags: [`-I${at}`, `-I${join(root, 'threadlib/include')}`],
      libraries: [join(root, 'build/threadlib/libquartz.a'), '-pthread'],
    },
    args: ['--quiet', ...circuits],
    gprof: false,
  };
}

function trial(program: Program, variants: readonly Variant[]): { trial: Trial; slowdown: string } {
  const { source, args } = program;
  const used = program.gprof ? [plain, gprof, ...variants] : [plain, ...variants];
  let missing: string | undefined; // if one program does not build, the others are measured nevertheless
  const files = new Map(
    used.map((one) => {
      try {
        return [one.name, build(source, one)];
      } catch (error) {
        missing = error instanceof Error ? error.message : String(error);
        return [one.name, source.name];
      }
    }),
  );
  const contender = (name: string, file: string, start: readonly string[], peer = false): Contender => ({
    name,
    peer,
    ...(missing === undefined ? {} : { missing }),
    take: () => timed(file, [...start, ...args]),
  });
  const of = (name: string): string => files.get(name)!;
  const contenders: Contender[] = [
    contender('plain', of('plain'), [of('plain')]),
    ...variants.map(({ name }) => examined(contender(name, of(name), recorded(of(name))))),
    contender('quartz publishing', of('quartz'), [hold, of('quartz')]),
    contender('quartz off', of('quartz'), [of('quartz')]),
    ...(program.gprof ? [contender('gprof', of('gprof'), [of('gprof')], true)] : []),
  ];
  const best = fastest(variants);
  const name = source.name === 'minigzip' ? 'zlib' : source.name;
  const hookHeavy = name === 'lua' || name === 'sqlite';
  const over =
    (base: string) =>
    (of: (one: string) => number, one: string): number =>
      of(one) / of(base);
  const row = (
    id: string,
    what: string,
    unit: string,
    targets: readonly Target[],
    value: RowPlan['value'],
  ): RowPlan => ({ id: `programs.${id}`, what, unit, reading: 'cpu', targets, ...(value ? { value } : {}) });
  const slowdown = row(
    name,
    `${name}: slowdown`,
    'times',
    program.gprof ? [{ ours: 'quartz', against: 'gprof', most: 1 }] : [],
    over('plain'),
  );
  const rows = [
    slowdown,
    ...(hookHeavy
      ? [
          row(
            `${name}-added`,
            `${name}: time added, as a share of the plain program's`,
            '%',
            [{ ours: best, against: 'gprof', most: 0.3 }],
            (of, one) => 100 * (over('plain')(of, one) - 1),
          ),
        ]
      : []),
    ...(name === 'lua'
      ? [
          row(
            'lua-sampling',
            'lua: time over that without a sampler, publishing',
            'times',
            [{ ours: 'quartz', most: 1.01 }],
            over('quartz publishing'),
          ),
        ]
      : []),
  ];
  return { trial: { contenders, rows }, slowdown: slowdown.id };
}

export const programsBench: Bench = {
  name: 'programs',
  title: 'Whole programs with hooks',
  isolates:
    'What a user pays: Lua (calls, tables, strings, sorting), SQLite (a table of 40,000 rows), bzip2, zlib ' +
    '(minigzip) and ' +
    "`examples/verify`, compiled with -O2 from their packaged sources, as times of the plain program's own CPU time. " +
    '`quartz` publishes with exact call counts and is sampled at the default rate. verify uses threads that gprof ' +
    'does not ' +
    'know.',
  plan: (): Plan => {
    const all = quartzVariants();
    // hooks in every procedure are only used on request
    const variants = all.filter((one) => one.name === 'quartz' || one.name === fastest(all));
    const { here, missing } = programs();
    for (const name of missing) {
      process.stderr.write(
        `quartz: bench: programs: no source of ${name}; --install-peers fetches it, --source ${name}=PATH names one\n`,
      );
    }
    const made = [...here, verify()].map((one) => ({ ...trial(one, variants), gprof: one.gprof }));
    return {
      trials: made.map((one) => one.trial),
      combined:
        here.length === 0
          ? []
          : [
              {
                row: {
                  id: 'programs.mean',
                  what: `geometric mean of ${here.map((one) => one.source.name).join(', ')}: slowdown`,
                  unit: 'times',
                  targets: [{ ours: 'quartz', against: 'gprof', most: 1, ahead: true }],
                },
                of: made.filter((one) => one.gprof).map((one) => one.slowdown),
              },
            ],
    };
  },
};
