/**
 * Locks, conditions, channels, barriers. Isolates the hand-over: critical sections add one to a counter, messages are
 * one word. On 1 processor the switch determines the time, on 2 where the woken thread runs.
 */
import type { Bench, RowPlan, Target, Trial } from '../harness/bench.js';
import { alone, packageTrial, publishing, threadPeers } from '../harness/packages.js';

const both = (peer: string, least: number): Target[] => [
  { ours: alone, against: peer, most: least },
  { ours: publishing, against: peer, most: 1, ahead: true },
];
const ahead: readonly Target[] = [alone, publishing].map((ours) => ({
  ours,
  against: 'best peer',
  most: 1,
  ahead: true,
}));
const peers = [...threadPeers, 'pthread'];
const channelPeers = ['libfiber', 'boost-fiber', 'go'];
const fewer = (...out: readonly string[]): string[] => peers.filter((one) => !out.includes(one));

const trial = (
  what: string,
  name: string,
  processors: number,
  names: readonly string[],
  targets: readonly Target[],
  more: Partial<RowPlan> = {},
): Trial => packageTrial(what, { name, processors, seconds: 5 }, names, targets, more);
const longest = { beside: [['longest_us', 'longest wait us']] } as const;

const eightOn = (processors: number): Trial =>
  trial(
    '8 threads, one lock, an operation',
    'lock-eight',
    processors,
    fewer('libfiber'),
    [alone, publishing].map((ours) => ({ ours, against: 'libfibre', most: 1 })),
    longest,
  );
const condOn = (processors: number): Trial => trial('condition, round trip', 'cond', processors, peers, ahead);
const channelOn = (processors: number): Trial =>
  trial('channel, round trip', 'channel', processors, channelPeers, ahead);
const barrierOn = (processors: number): Trial =>
  trial('barrier of 8 threads, a round', 'barrier', processors, peers, ahead);
/** Measured on two processors, and on more. */
export const syncOn = (processors: number): Trial[] => [
  eightOn(processors),
  condOn(processors),
  channelOn(processors),
  barrierOn(processors),
];

export const sync: Bench = {
  name: 'sync',
  title: 'Locks, conditions, channels, barriers',
  isolates:
    'The hand-over: critical sections add one to a counter, messages are one word. On 1 processor (CPU time) the ' +
    'switch ' +
    'counts, on 2 where the thread that is woken runs. ' +
    '`lock` is free, in a process that has other threads; `lock-eight` shows the longest time that a thread went ' +
    'without the ' +
    'lock for 16 operations beside the mean: an unfair lock is fast because it lets the others wait. ' +
    'pthread on 1 processor is bound to one CPU. Quartz pins no threads: in `cond-pinned` its scheduler decides ' +
    'where they ' +
    'run, theirs may not. libfiber is not in `lock-eight`: its threads gather by yielding, which does not end there.',
  plan: () => ({
    trials: [
      trial('lock and unlock a free mutex', 'lock', 1, peers, [
        { ours: alone, against: 'pthread', most: 1 },
        { ours: publishing, against: 'pthread', most: 1.1 },
      ]),
      trial('8 threads, one lock, an operation', 'lock-eight', 1, fewer('libfiber'), [], longest),
      eightOn(2),
      trial('condition, round trip', 'cond', 1, peers, both('best peer', 0.6)),
      condOn(2),
      trial(
        'condition, round trip between pinned threads',
        'cond-pinned',
        2,
        ['argobots', 'pthread'],
        [{ ours: alone, against: 'argobots', most: 0.25 }],
      ),
      trial('channel, round trip', 'channel', 1, channelPeers, both('best peer', 0.25)),
      channelOn(2),
      trial('barrier of 8 threads, a round', 'barrier', 1, peers, both('best peer', 0.55)),
      barrierOn(2),
    ],
  }),
};
