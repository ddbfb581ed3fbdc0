/**
 * Hundreds of thousands of threads that block on a condition: the memory of each while it waits, the time to create it
 * and let it block, and the same again on stacks that were used before. Isolates the thread: only the wait is on its
 * stack.
 */
import type { Bench, Target, Trial } from '../harness/bench.js';
import { alone, packages, publishing } from '../harness/packages.js';
import { settings } from '../harness/settings.js';

function trial(threads: number, names: readonly string[], rounds: number): Trial {
  const count = threads.toLocaleString('en-US');
  const speed: Target[] = [
    { ours: alone, against: 'argobots', most: 1 },
    { ours: publishing, against: 'argobots', most: 1 },
  ];
  return {
    contenders: packages({ name: 'blocked', processors: 1, threads, seconds: 30, bytes: threads * 6000 }, names),
    rows: [
      {
        id: `blocked-bytes.${threads}`,
        what: `${count} blocked threads, resident memory of each`,
        unit: 'bytes',
        reading: 'bytes',
        targets: [
          { ours: alone, most: 4200 },
          { ours: publishing, most: 6000 },
        ],
      },
      {
        id: `blocked.${threads}`,
        what: `${count} threads, create and block, each`,
        unit: 'ns',
        targets: speed,
        beside: [['wake_ns', 'wake and join']],
      },
      {
        id: `blocked-recycled.${threads}`,
        what: `${count} threads, create and block again, each`,
        unit: 'ns',
        reading: 'recycled_ns',
        targets: [{ ours: alone, most: 300 }],
      },
    ],
    mostRounds: rounds,
  };
}

export const blocked: Bench = {
  name: 'blocked',
  title: 'Blocked threads',
  isolates:
    'Threads with nothing on their stacks but a wait for a condition, on 1 processor: what each takes of memory, ' +
    'and of time ' +
    'to make and to block; then the same again with the stacks of the first. ' +
    'Go moves stacks and begins with 2 KB. Memory is touched by another program before each execution, so that what ' +
    'the host of a ' +
    'virtual machine takes to hand it out is not measured.',
  plan: () => ({
    trials: [
      trial(100_000, ['argobots', 'massivethreads', 'libfiber', 'boost-fiber', 'go'], 5),
      ...(settings.quick ? [] : [trial(1_000_000, ['argobots', 'go'], 2)]),
    ],
  }),
};
