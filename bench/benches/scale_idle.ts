/**
 * The cost of an event as the idle load grows: waiting threads and idle objects must not make it more expensive, nor
 * the stack depth of the threads that cause it, nor processors for which there are no CPUs. Isolates growth: the same
 * event each time.
 */
import { join } from 'node:path';
import type { Bench, Contender, RowPlan, Trial } from '../harness/bench.js';
import { execute, Failed, readings } from '../harness/execute.js';
import { programOf, work } from '../harness/peers.js';
import { cpusToUse, doublings } from '../harness/processors.js';
import { examined, recorded } from '../harness/profile.js';
import { settings } from '../harness/settings.js';

/** The load beside the event. */
export interface IdleLoad {
  name: string;
  processors: number;
  threads?: number;
  objects?: number;
  depth?: number;
}

/**
 * Arguments and environment of a program of bench/peers/idle_load.h. Records of a session are for that many objects and
 * stacks of that depth.
 */
export const idleLoadRun = (name: string, of: IdleLoad): { args: string[]; env: Record<string, string> } => ({
  args: [name, ...[of.processors, of.threads ?? 0, of.objects ?? 0, of.depth ?? 0].map(String)],
  env: {
    ...((of.objects ?? 0) > 200_000 ? { QUARTZ_MAX_OBJECTS: String(2 * of.objects!) } : {}),
    ...((of.depth ?? 0) > 80 ? { QUARTZ_PROFILE_DEPTH: String(of.depth! + 100) } : {}),
  },
});

/** Loads that are compared with no load, which is the first of them. */
export function idleLoads(processors: number, threads: number, objects: number, depth: number): IdleLoad[] {
  const count = (value: number): string => value.toLocaleString('en-US');
  const some = settings.quick
    ? []
    : [
        { name: `${count(1000)} idle threads`, processors, threads: 1000 },
        { name: `${count(1000)} idle objects`, processors, objects: 1000 },
        { name: '30 deep', processors, depth: 30 },
      ];
  const most = [
    { name: `${count(threads)} idle threads`, processors, threads },
    { name: `${count(objects)} idle objects`, processors, objects },
    { name: `${count(depth)} deep`, processors, depth },
  ];
  return [
    { name: 'nothing idle', processors },
    ...[0, 1, 2].flatMap((kind) => [some[kind], most[kind]].filter((one) => one !== undefined)),
  ];
}

/** The program, or why there is none. */
export function idleLoadProgram(name: string): { file: string; missing?: string } {
  const file = programOf(name);
  return file === undefined ? { file: name, missing: 'its program does not build' } : { file };
}

const events: readonly (readonly [string, string])[] = [
  ['hook', 'entry and exit of a procedure'],
  ['spawn', 'spawn and join'],
  ['spawn-switch', 'spawn, switch to it and back, join'],
  ['yield-eight', 'yield among 8'],
  ['lock', 'lock and unlock'],
  ['lock-eight', '8 threads, one lock, an operation'],
  ['cond', 'condition, round trip'],
  ['channel', 'channel, round trip'],
  ['barrier', 'barrier of 8 threads, a round'],
];

/**
 * All events in one process, so that the idle load is created once; publishing, because costs that grow would grow most
 * there.
 */
function contender(of: IdleLoad): Contender {
  const { file, missing } = idleLoadProgram('quartz-growth');
  const { args, env } = idleLoadRun('events', of);
  return {
    name: of.name,
    peer: false,
    ...(missing === undefined ? {} : { missing }),
    take: async () =>
      readings(
        (
          await execute(join(work, 'hold'), [file, ...args], {
            env: { ...env, QUARTZ_BENCH_MS: settings.quick ? '2' : '4' },
            seconds: 30,
          })
        ).stdout,
      ),
  };
}

function idle(): Trial {
  const sizes = idleLoads(1, settings.quick ? 10_000 : 100_000, settings.quick ? 100_000 : 1_000_000, 1000);
  const most = sizes.filter((_, k) => k > 0 && (settings.quick || k % 2 === 0));
  return {
    contenders: sizes.map(contender),
    rows: events.map(([event, what]): RowPlan => ({
      id: `growth.${event}`,
      what: `${what}, publishing, 1 processor`,
      unit: 'ns',
      reading: event,
      targets: most.map(({ name }) => ({ ours: name, against: 'nothing idle', most: 1.1 })),
    })),
    mostRounds: 5,
  };
}

function byProcessors(): Trial {
  const cpus = Math.max(2, cpusToUse());
  const name = (processors: number): string => `processors ${processors}`;
  const more = (settings.quick ? [16] : [16, 64, 256]).filter((count) => count > cpus);
  const counts = [...doublings(cpus), ...more];
  return {
    contenders: counts.map((processors) => contender({ name: name(processors), processors })),
    rows: events.map(([event, what]): RowPlan => ({
      id: `growth.${event}.processors`,
      what: `${what}, publishing, by processors`,
      unit: 'ns',
      reading: event,
      targets: more.slice(-1).map((last) => ({ ours: name(last), against: name(cpus), most: 1.1 })),
    })),
    mostRounds: 5,
  };
}

/** The program reads the sampler's clock, long after the recording has begun. */
function sampler(): Trial {
  const sizes = idleLoads(18, settings.quick ? 10_000 : 100_000, settings.quick ? 100_000 : 1_000_000, 1000);
  return {
    contenders: sizes.map((of) => {
      const { file, missing } = idleLoadProgram('quartz-growth');
      const { args, env } = idleLoadRun('busy', of);
      return examined({
        name: of.name,
        peer: false,
        ...(missing === undefined ? {} : { missing }),
        take: async () => {
          const command = [...recorded(file), ...args];
          const { percent } = readings(
            (
              await execute(command[0]!, command.slice(1), {
                env: { ...env, QUARTZ_BENCH_MS: settings.quick ? '200' : '400' },
                seconds: 30,
              })
            ).stdout,
          );
          if (percent === undefined) throw new Failed('did not print the share of its sampler');
          return { percent };
        },
      });
    }),
    rows: [
      {
        id: 'growth.sampler',
        what: 'CPU time of the sampler, default rate, 18 processors that compute',
        unit: '%',
        reading: 'percent',
        targets: sizes
          .filter((_, k) => k > 0 && (settings.quick || k % 2 === 0))
          .map(({ name }) => ({ ours: name, most: 2 })),
      },
    ],
    mostRounds: 3,
  };
}

export const growth: Bench = {
  name: 'growth',
  title: 'Cost by idle threads and objects, depth and processors',
  isolates:
    'The same event amid more and more that has nothing to do with it: threads that wait, each with a mutex of its ' +
    'own; mutexes, ' +
    'conditions and channels, each of which was used and waited for; hooked procedures that the measured threads ' +
    'have ' +
    'entered; processors beyond the CPUs (there the others have nothing to do). From two processors on a mutex needs ' +
    'instructions that lock the bus, and a processor looks for others that sleep: more are compared with as many as ' +
    'there ' +
    'are CPUs. All events of a column in one process. The sampler visits what is idle in turn, as much as there is ' +
    'time for, so that ' +
    'its share is bounded. How a snapshot grows with processors and depth is in its own table.',
  plan: () => ({ trials: [idle(), byProcessors(), sampler()] }),
};
