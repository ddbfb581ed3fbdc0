/** The benchmarks, in the order in which they run. */
import type { Bench } from '../core/bench.js';
import { blocked } from './blocked.js';
import { curves } from './curves.js';
import { hooks } from './hooks.js';
import { programsBench } from './programs.js';
import { pthreadBench } from './pthread.js';
import { pthreadCurves } from './pthread_curves.js';
import { reportBench } from './report.js';
import { samplerBench } from './sampler.js';
import { scaling } from './scaling.js';
import { sync } from './sync.js';
import { threads } from './threads.js';

export const benches: readonly Bench[] = [hooks, programsBench, threads, sync, scaling, blocked, curves, samplerBench, reportBench, pthreadBench, pthreadCurves];
