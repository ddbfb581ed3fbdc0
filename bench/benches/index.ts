/** The benchmarks, in the order in which they run. */
import type { Bench } from '../harness/bench.js';
import { blocked } from './blocked_threads.js';
import { criticalPath } from './critical_path.js';
import { forkJoin } from './fork_join.js';
import { growth } from './scale_idle.js';
import { hooks } from './hooks.js';
import { programsBench } from './programs.js';
import { pthreadBench } from './pthread.js';
import { pthreadGrowth } from './pthread_scale_idle.js';
import { reportBench } from './report.js';
import { samplerBench } from './sampler.js';
import { setsBench } from './sets.js';
import { scaling } from './processors.js';
import { sync } from './sync.js';
import { threads } from './threads.js';

export const benches: readonly Bench[] = [
  hooks,
  programsBench,
  threads,
  forkJoin,
  criticalPath,
  sync,
  scaling,
  blocked,
  growth,
  samplerBench,
  reportBench,
  setsBench,
  pthreadBench,
  pthreadGrowth,
];
