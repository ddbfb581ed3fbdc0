/**
 * The thread package and its peers on more than two processors, up to the number of CPUs. Isolates the effect of more
 * processors on the cases of `threads` and `sync`, which use one and two.
 */
import type { Bench } from '../harness/bench.js';
import { cpusToUse, doublings } from '../harness/processors.js';
import { syncOn } from './sync.js';
import { threadsOn } from './threads.js';

export const scaling: Bench = {
  name: 'scaling',
  title: 'More processors',
  isolates:
    'The cases of the tables above on 4, 8, ... processors, up to all CPUs that there are: with 1 and 2 they are ' +
    'the scaling ' +
    'curve. A spawn of fib should take half as long on twice as many; for the others there is work for one or two ' +
    'processors.',
  plan: () => {
    const counts = doublings(cpusToUse()).filter((count) => count > 2);
    if (counts.length === 0)
      throw new Error(`${cpusToUse()} CPUs are here, and what they do is in the tables of threads and of locks`);
    return { trials: counts.flatMap((count) => [...threadsOn(count), ...syncOn(count)]) };
  },
};
