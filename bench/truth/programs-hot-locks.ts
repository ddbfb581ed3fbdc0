/**
 * Threads that hand a lock or a token to each other all the time, registered with what the change saves: like
 * programs.ts. Their source: bench/programs/hot_locks.c.
 */
import { fileURLToPath } from 'node:url';
import { sh } from './commands.js';
import type { FindingKind } from '../../ts-frontend/src/model/index.js';
import type { Program } from './program.js';

const on = '2026-11-22, hot locks';
const source = fileURLToPath(new URL('../../../bench/programs/hot_locks.c', import.meta.url));
const kinds: readonly FindingKind[] = ['lock-contention', 'spinning', 'overhead', 'oversubscription', 'dependency'];

const hot = (name: string, cause: string, arguments_: string, fixed: string, fix: string): Program => ({
  name,
  language: 'C',
  kind: 'hot lock',
  needs: ['cc'],
  packages: ['gcc'],
  prepare: `cc -O2 -g -pthread -o hot_locks ${source}`,
  run: sh(`./hot_locks ${arguments_}`),
  fixed: sh(`./hot_locks ${fixed}`),
  registered: { on, cause, kinds, subject: /mutex|spin|condition|token|passed|parts/i, fix },
});

export const hotLocks: readonly Program[] = [
  hot(
    'hot-counter',
    'four threads take one mutex for some nanoseconds at a time',
    'mutex 4 1 1000000 1 0 20',
    'mutex 4 4 1000000 1 0 20',
    'a mutex and counter for each thread',
  ),
  hot(
    'hot-half-microsecond',
    'four threads take one mutex for half a microsecond at a time, and work as long without it',
    'mutex 4 1 300000 16 300 300',
    'mutex 4 4 300000 16 300 300',
    'a mutex and its data for each thread',
  ),
  hot(
    'hot-two-microseconds',
    'three threads take one mutex for two microseconds at a time, and work for four without it',
    'mutex 3 1 60000 8 1500 3000',
    'mutex 3 3 60000 8 1500 3000',
    'a mutex and its data for each thread',
  ),
  hot(
    'hot-token',
    'two threads take turns of half a microsecond',
    'token 2 1 60000 400',
    'token 2 20 60000 400',
    'turns of twenty times as much',
  ),
  hot(
    'hot-spin',
    'two threads spin for one lock that is held for some tens of nanoseconds',
    'spin 2 1 4000000 8 10 60',
    'spin 2 2 4000000 8 10 60',
    'a lock and its data for each thread',
  ),
  hot(
    'hot-pool',
    'four threads take pieces of memory from one free list, under a mutex',
    'pool 4 1 60000 16 40',
    'pool 4 4 60000 16 40',
    'a free list for each thread',
  ),
];
