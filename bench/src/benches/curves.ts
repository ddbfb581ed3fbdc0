/**
 * What an event costs as the crowd grows: threads that wait and objects that exist have nothing to do with it, and must not
 * make it dearer; nor must processors that there are no CPUs for. Isolates growth: the same event each time.
 */
import type { Bench, Contender, Trial } from '../core/bench.js';
import { packages, publishing } from '../core/packages.js';
import { settings } from '../core/settings.js';

const events: readonly (readonly [string, string])[] = [
  ['spawn', 'spawn and join'], ['yield', 'yield among 2'], ['lock', 'lock and unlock'], ['cond', 'condition, round trip'],
];

/** Contenders are sizes here, all of them Quartz, publishing: what grows would grow there most. */
function curve(event: string, what: string, along: string, sizes: readonly number[], from: number, make: (size: number) => Contender): Trial {
  const name = (size: number): string => `${along} ${size.toLocaleString('en-US')}`;
  const [first, last] = [name(from), name(sizes.at(-1)!)];
  return {
    contenders: sizes.map((size) => ({ ...make(size), name: name(size) })),
    rows: [{ id: `curve.${event}.${along}`, what: `${what}, publishing, by ${along}`, unit: 'ns', targets: [{ ours: last, against: first, most: 1.1 }] }],
    mostRounds: 5,
  };
}

export const curves: Bench = {
  name: 'curves',
  title: 'Cost by the number of idle threads, objects and processors',
  isolates: 'The same event with more and more threads that only wait, each with a mutex of its own, and with more processors than '
    + 'there are CPUs (there the other processors have nothing to do: the event happens on one). From two processors on a mutex needs '
    + 'instructions that lock the bus, and a processor looks for others that sleep, so processors are compared from there on. '
    + 'How a snapshot grows with processors and depth is in the sampler\'s table.',
  plan: () => {
    const crowds = settings.quick ? [0, 10_000] : [0, 100, 10_000, 100_000];
    const counts = settings.quick ? [1, 2, 16] : [1, 2, 16, 64, 256];
    const one = (event: string, processors: number, threads: number): Contender =>
      packages({ name: event, processors, threads, seconds: 20 }, []).find((contender) => contender.name === publishing)!;
    return { trials: [
      ...events.map(([event, what]) => curve(event, what, 'waiting threads', crowds, 0, (size) => one(event, 1, size))),
      ...events.filter(([event]) => event !== 'yield').map(([event, what]) => curve(event, what, 'processors', counts, 2, (size) => one(event, size, 0))),
    ] };
  },
};
