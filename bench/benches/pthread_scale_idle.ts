/**
 * The cost of an event in a recorded pthread program as the idle load grows. Isolates growth: the same event each time,
 * as a multiple of its cost beside the same idle load without a recording, because the kernel's own part grows, too.
 */
import type { Bench, Contender, RowPlan, Trial } from '../harness/bench.js';
import { buildTargets } from '../harness/build.js';
import { execute, readings } from '../harness/execute.js';
import { examined, recorded } from '../harness/profile.js';
import { settings } from '../harness/settings.js';
import { idleLoadProgram, idleLoadRun, idleLoads, type IdleLoad } from './scale_idle.js';

const events: readonly (readonly [string, string])[] = [
  ['spawn', 'create and join a thread'],
  ['lock', 'lock and unlock'],
  ['lock-eight', '8 threads, one lock, an operation'],
  ['cond', 'condition, round trip'],
  ['barrier', 'barrier of 8 threads, a round'],
];
const plain = (name: string): string => `${name}, plain`;

function contender(
  of: IdleLoad,
  event: string,
  milliseconds: number,
  name: string,
  start: (file: string) => string[],
): Contender {
  const { file, missing } = idleLoadProgram('pthread-growth');
  const { args, env } = idleLoadRun(event, of);
  const command = [...start(file), ...args];
  return {
    name,
    peer: false,
    ...(missing === undefined ? {} : { missing }),
    take: async () =>
      readings(
        (
          await execute(command[0]!, command.slice(1), {
            env: { ...env, QUARTZ_BENCH_MS: String(milliseconds) },
            seconds: 30,
          })
        ).stdout,
      ),
  };
}

const sizes = (processors: number): IdleLoad[] =>
  idleLoads(processors, settings.quick ? 1000 : 10_000, settings.quick ? 100_000 : 1_000_000, 1000);
const last = (of: readonly IdleLoad[]): string[] =>
  of.filter((_, k) => k > 0 && (settings.quick || k % 2 === 0)).map((one) => one.name);

function idle(): Trial {
  const all = sizes(1);
  return {
    contenders: all.flatMap((of) => [
      examined(contender(of, 'events', settings.quick ? 2 : 4, of.name, recorded)),
      contender(of, 'events', settings.quick ? 2 : 4, plain(of.name), (file) => [file]),
    ]),
    rows: events.map(([event, what]): RowPlan => ({
      id: `pthread-growth.${event}`,
      what: `${what}, recorded, 1 CPU`,
      unit: 'times',
      reading: event,
      value: (of, one) => of(one) / of(one.endsWith(plain('')) ? one : plain(one)),
      beside: [[event, 'ns']],
      shown: all.map((one) => one.name),
      targets: last(all).map((name) => ({ ours: name, against: 'nothing idle', most: 1.1 })),
    })),
    mostRounds: 5,
  };
}

function sampler(): Trial {
  const all = sizes(2);
  return {
    contenders: all.map((of) => examined(contender(of, 'busy', settings.quick ? 200 : 400, of.name, recorded))),
    rows: [
      {
        id: 'pthread-growth.sampler',
        what: 'CPU time of the sampler, default rate, 2 threads that compute',
        unit: '%',
        reading: 'percent',
        targets: last(all).map((name) => ({ ours: name, most: 2 })),
      },
    ],
    mostRounds: 3,
  };
}

export const pthreadGrowth: Bench = {
  name: 'pthread-growth',
  title: 'Plain pthread programs: cost by idle threads and objects, and depth',
  isolates:
    'Events of a recorded program, as multiples of what they take when nobody records, amid threads that sleep, ' +
    'mutexes and conditions ' +
    'that were used (one of a hundred waited for), and on call paths so deep, which the sampler unwinds. All on one ' +
    'CPU; the sampler is ' +
    'on another where there is one.',
  plan: () => {
    buildTargets('quartz_pthread');
    return { trials: [idle(), sampler()] };
  },
};
