/**
 * Locks, conditions, channels, barriers. Isolates the hand-over: critical sections add one to a counter, messages are one
 * word. On 1 processor it is the switch that counts, on 2 where the one that is woken runs.
 */
import type { Bench, RowPlan, Target, Trial } from '../core/bench.js';
import { alone, packages, publishing, threadPeers } from '../core/packages.js';

const both = (peer: string, least: number): Target[] =>
  [{ ours: alone, against: peer, most: least }, { ours: publishing, against: peer, most: 1, ahead: true }];
const ahead: readonly Target[] = [alone, publishing].map((ours) => ({ ours, against: 'best peer', most: 1, ahead: true }));
const peers = [...threadPeers, 'pthread'];
const fewer = (...out: readonly string[]): string[] => peers.filter((one) => !out.includes(one));

function trial(what: string, name: string, processors: number, names: readonly string[], targets: readonly Target[], more: Partial<RowPlan> = {}): Trial {
  const row: RowPlan = { id: `${name}.${processors}`, what: `${what}, ${processors} processor${processors > 1 ? 's' : ''}`, unit: 'ns', targets, ...more };
  return { contenders: packages({ name, processors, seconds: 5 }, names), rows: [row] };
}
const longest = { beside: [['longest_us', 'longest wait us']] } as const;

export const sync: Bench = {
  name: 'sync',
  title: 'Locks, conditions, channels, barriers',
  isolates: 'The hand-over: critical sections add one to a counter, messages are one word. On 1 processor (CPU time) the switch '
    + 'counts, on 2 where the thread that is woken runs. '
    + '`lock` is free, in a process that has other threads; `lock-eight` shows the longest time that a thread went without the '
    + 'lock for 16 operations beside the mean: an unfair lock is fast because it lets the others wait. '
    + 'pthread on 1 processor is bound to one CPU. Quartz pins no threads: in `cond-pinned` its scheduler decides where they '
    + 'run, theirs may not. libfiber is not in `lock-eight`: its threads gather by yielding, which does not end there.',
  plan: () => ({
    trials: [
      trial('lock and unlock a free mutex', 'lock', 1, peers, [{ ours: alone, against: 'pthread', most: 1 }, { ours: publishing, against: 'pthread', most: 1.1 }]),
      trial('8 threads, one lock, an operation', 'lock-eight', 1, fewer('libfiber'), [], longest),
      trial('8 threads, one lock, an operation', 'lock-eight', 2, fewer('libfiber'), [alone, publishing].map((ours) => ({ ours, against: 'libfibre', most: 1 })), longest),
      trial('condition, round trip', 'cond', 1, peers, both('best peer', 0.6)),
      trial('condition, round trip', 'cond', 2, peers, ahead),
      trial('condition, round trip between pinned threads', 'cond-pinned', 2, ['argobots', 'pthread'], [{ ours: alone, against: 'argobots', most: 0.25 }]),
      trial('channel, round trip', 'channel', 1, ['libfiber', 'boost-fiber', 'go'], both('best peer', 0.25)),
      trial('channel, round trip', 'channel', 2, ['libfiber', 'boost-fiber', 'go'], ahead),
      trial('barrier of 8 threads, a round', 'barrier', 1, peers, both('best peer', 0.55)),
      trial('barrier of 8 threads, a round', 'barrier', 2, peers, ahead),
    ],
  }),
};
