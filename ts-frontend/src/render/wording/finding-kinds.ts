/** The kinds of findings in words, where a finding is named and not explained. */
import type { Finding } from '../../model/index.js';

export const kindWords: Readonly<Record<Finding['kind'], string>> = {
  serial: 'serial code',
  'lock-contention': 'waiting for a lock',
  spinning: 'busy waiting',
  imbalance: 'unequal work',
  pipeline: 'a slow stage',
  dependency: 'waiting for results',
  starvation: 'too few threads',
  io: 'input, output or sleep',
  processes: 'waiting for other processes',
  'cpu-limit': 'CPUs that may not be used',
  oversubscription: 'more threads than CPUs',
  sharing: 'a shared cache line',
  kernel: "the kernel's work",
  overhead: 'overhead of threads',
  optimize: 'code to make faster',
};
