/** Profiles of the ranks of a job, with sums that are known. */
import type { RawProfile } from '../../ts-frontend/src/model/index.js';
import type { ProfileSource } from '../../ts-frontend/src/sets/merge.js';
import { ProfileBuilder, run, spin, wait } from './profile-builder.js';

export const ms = 1e6;
export const allreduce = 'futex(collective):MPI_Allreduce at solve.c:40';

export interface RankOptions {
  solveMs: number; // alone, then MPI_Allreduce as long as it takes others
  waitMs: number;
  host?: string;
  change?: (profile: ProfileBuilder) => ProfileBuilder;
}

/** One thread on one processor: 10 ms of set-up, `solve` in a recursion, then waiting: half asleep, half spinning. */
export function rankProfile({ solveMs, waitMs, host = 'node0', change = (all) => all }: RankOptions): RawProfile {
  const profile = new ProfileBuilder({
    processors: 1,
    head: { host: `${host}, Linux`, program: '/bin/solver', arguments: 'solver', pid: 4711 },
  })
    .describe('solve', { file: '/src/solve.c', line: 12 })
    .stretch(10 * ms, [run('main', ['main', 'setup'])])
    .stretch((solveMs / 2) * ms, [run('main', ['main', 'solve'])])
    .stretch((solveMs / 2) * ms, [run('main', ['main', 'solve', 'step', 'solve'])]);
  if (waitMs > 0)
    profile
      .stretch((waitMs / 2) * ms, [wait('main', ['main', 'solve', allreduce])])
      .stretch((waitMs / 2) * ms, [spin('main', ['main', 'solve', allreduce])]);
  return change(profile).build();
}

/** A job in which each rank waits for the one with most to solve. */
export function jobOf(solveMs: readonly number[], options: Partial<RankOptions> = {}): RawProfile[] {
  const most = Math.max(...solveMs);
  return solveMs.map((own) => rankProfile({ ...options, solveMs: own, waitMs: most - own }));
}

export const sourcesOf = (profiles: readonly RawProfile[], program = 'solver'): ProfileSource[] =>
  profiles.map((raw, rank) => ({ file: `/run/${program}.${rank}.quartz`, open: () => raw }));
