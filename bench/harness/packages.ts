/** Thread packages as contenders: Quartz's own, alone and publishing, and its available peers. */
import { freemem } from 'node:os';
import { join } from 'node:path';
import type { Contender, RowPlan, Target, Trial } from './bench.js';
import { execute, Failed, readings } from './execute.js';
import { peers, programOf, work } from './peers.js';
import { processorsText } from './processors.js';
import { settings } from './settings.js';

export const alone = 'quartz';
export const publishing = 'quartz publishing';
/** With work and span; with two lanes of "what if" in addition. */
export const spanning = 'quartz with --span';
export const asking = 'quartz with --what-if';

export interface Case {
  name: string; // its name in the programs: bench/peers/cases.h
  processors: number;
  threads?: number;
  seconds?: number; // time limit of one execution
  span?: boolean; // Quartz with work and span competes, too
  bytes?: number; // memory that it uses: touched before each execution (bench/peers/touch_memory.c)
}

/** A trial of one case with one row, in nanoseconds for an operation. `names`: as for `packages`. */
export function packageTrial(
  what: string,
  one: Case,
  names: readonly string[],
  targets: readonly Target[],
  more: Partial<RowPlan> = {},
): Trial {
  const { name, processors } = one;
  const row: RowPlan = {
    id: `${name}.${processors}`,
    what: `${what}, ${processorsText(processors)}`,
    unit: 'ns',
    targets,
    ...more,
  };
  return { contenders: packages(one, names), rows: [row] };
}

/** `names`: the peers that have such an operation. */
export function packages(one: Case, names: readonly string[]): Contender[] {
  const args = [one.name, String(one.processors), ...(one.threads === undefined ? [] : [String(one.threads)])];
  const env = { QUARTZ_BENCH_MS: String((one.processors === 1 ? 8 : 16) / (settings.quick ? 2 : 1)) };
  const run = async (file: string, before: readonly string[]) =>
    readings(
      (
        await execute(before[0] ?? file, [...before.slice(1), ...(before.length > 0 ? [file] : []), ...args], {
          env,
          seconds: one.seconds ?? 8,
        })
      ).stdout,
    );
  const warm = async () => {
    if (one.bytes !== undefined)
      await execute(join(work, 'warm'), [String(Math.floor(Math.min(one.bytes, freemem() / 2)))]);
  };
  const here = peers();
  const contender = (name: string, program: string, before: readonly string[], peer: boolean): Contender => {
    const file = programOf(program);
    const missing =
      file === undefined
        ? (here.find((known) => known.name === program)?.missing ?? 'its program does not build')
        : undefined;
    return {
      name,
      peer,
      ...(missing === undefined ? {} : { missing }),
      take: async () => {
        if (file === undefined) throw new Failed('is not here');
        await warm();
        return run(file, before);
      },
    };
  };
  return [
    contender(alone, 'quartz', [], false),
    contender(publishing, 'quartz', [join(work, 'hold')], false),
    ...(one.span === true
      ? [
          contender(spanning, 'quartz', [join(work, 'hold'), '--span'], false),
          contender(asking, 'quartz', [join(work, 'hold'), '--what-if'], false),
        ]
      : []),
    ...names.map((name) => contender(name, name, [], true)),
  ];
}

const threads = ['argobots', 'massivethreads', 'libfiber', 'libfibre', 'boost-fiber', 'go'] as const;
/** Peers with threads that have a stack of their own, and peers that have tasks as well. */
export const threadPeers: readonly string[] = threads;
/** Peers with the programs of bench/peers/fork_join.h. */
export const forkJoinPeers: readonly string[] = ['tbb', 'libgomp', 'libomp'];
export const taskPeers: readonly string[] = [...threads, 'tbb', 'libgomp', 'libomp', 'lace', 'libfork', 'pthread'];
