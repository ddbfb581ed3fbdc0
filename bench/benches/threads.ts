/**
 * Creating, joining and switching threads. Isolates the package: the threads do nothing, so that only the cost of
 * having them is measured. On 2 processors there is work for only one: the other one searches for some, and disturbs.
 */
import type { Bench, Target, Trial } from '../harness/bench.js';
import { alone, packageTrial, publishing, taskPeers, threadPeers } from '../harness/packages.js';

const against = (peer: string, least: number, most: number): Target[] => [
  { ours: alone, against: peer, most: least },
  { ours: publishing, against: peer, most },
];

const trial = (
  what: string,
  name: string,
  processors: number,
  names: readonly string[],
  targets: readonly Target[],
  seconds = 8,
): Trial => packageTrial(what, { name, processors, seconds, span: processors === 1 }, names, targets);

const spawnOn = (processors: number): Trial =>
  trial('spawn and join one thread, the others idle', 'spawn', processors, taskPeers, against('argobots', 0.15, 0.3));
const fibOn = (processors: number): Trial =>
  trial('fork-join fib, a spawn', 'fib', processors, taskPeers, [
    ...against('argobots', 0.4, 0.75),
    { ours: alone, against: 'libfork', most: 1, ahead: true },
  ]);
/** Measured on two processors, and on more. */
export const threadsOn = (processors: number): Trial[] => [spawnOn(processors), fibOn(processors)];

export const threads: Bench = {
  name: 'threads',
  title: 'Threads: spawn, join, yield',
  isolates:
    "Threads that do nothing: what is left is what it costs to have them. On 1 processor time is the process's CPU " +
    'time, so ' +
    'that other load matters little; on 2 it is elapsed time, and there is work for one: the other searches, and ' +
    'disturbs. ' +
    '`spawn-switch` makes the thread start, and go on, on a stack of its own before it is joined; `yield-many` has ' +
    '100,000 ' +
    'threads, whose stacks no cache holds. On 1 processor Quartz also competes with work and span recorded, and ' +
    'with two lanes of "what if". Task systems (TBB, OpenMP, Lace, libfork) have no threads that could block.',
  plan: () => ({
    trials: [
      trial('spawn and join one thread', 'spawn', 1, taskPeers, against('argobots', 0.4, 0.8)),
      spawnOn(2),
      trial(
        'spawn one thread, switch to it and back, join',
        'spawn-switch',
        1,
        threadPeers.filter((one) => one !== 'go'),
        [],
      ),
      trial('one of 1,000 threads spawned, then joined', 'spawn-batch', 1, taskPeers, []),
      fibOn(1),
      fibOn(2),
      trial('yield among 2 threads', 'yield', 1, [...threadPeers, 'pthread'], against('best peer', 0.4, 0.8)),
      {
        ...trial(
          'yield among 100,000 threads',
          'yield-many',
          1,
          threadPeers.filter((one) => one !== 'libfibre'),
          against('best peer', 0.4, 0.8),
          20,
        ),
        mostRounds: 5,
      },
    ],
  }),
};
