/**
 * Sets of profiles: merging the ranks of a job, and querying views, by processor time and memory. Isolates reading,
 * interning and writing: profiles are synthetic, similar, and in the page cache. The results are compared with the sums
 * that the generator prints.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, Contender, Plan, Readings, Trial } from '../harness/bench.js';
import { buildTargets } from '../harness/build.js';
import { execute, Failed, scratchDirectory } from '../harness/execute.js';
import { root } from '../harness/peers.js';
import { settings } from '../harness/settings.js';

const quartz = join(root, 'ts-frontend/bin/quartz');

/** Processor seconds of a command, and its maximum memory, by the kernel's count. */
async function used(command: readonly string[]): Promise<Readings> {
  const script =
    'import os, resource, sys; status = os.spawnv(os.P_WAIT, sys.argv[1], sys.argv[1:]); ' +
    'u = resource.getrusage(resource.RUSAGE_CHILDREN); ' +
    'sys.stderr.write("\\n%f %d\\n" % (u.ru_utime + u.ru_stime, u.ru_maxrss)); sys.exit(status)';
  const { stderr } = await execute('python3', ['-c', script, ...command], { seconds: 600, silent: true });
  const match = /([\d.]+) (\d+)\s*$/.exec(stderr);
  if (!match) throw new Failed('time and memory were not printed');
  return { seconds: Number(match[1]), megabytes: Number(match[2]) / 1024 };
}

/** The set has the planted outliers, and the sum of the work. */
async function check(set: string, sums: string): Promise<void> {
  const [ranks, , work, outliers] = sums.trim().split(' ').map(Number);
  const { stdout } = await execute(quartz, ['query', set, '--view', 'ranks', '--json'], { seconds: 60 });
  const { rows } = JSON.parse(stdout) as { rows: { useful_ns: number }[] };
  const found = rows.reduce((sum, row) => sum + row.useful_ns, 0);
  if (rows.length !== ranks || found !== work) throw new Failed(`the set has ${found} ns of work, not ${work}`);
  const said = await execute(quartz, ['query', set, '--view', 'outliers', '--json'], { seconds: 60 });
  const far = (JSON.parse(said.stdout) as { rows: { quantity: string }[] }).rows;
  const planted = far.filter((row) => row.quantity === 'useful_ns').length;
  if (planted !== outliers) throw new Failed(`the set has ${planted} outliers, not ${outliers}`);
}

async function job(ranks: number): Promise<Trial> {
  const folder = join(scratchDirectory(), `ranks-${ranks}`);
  const set = join(scratchDirectory(), `ranks-${ranks}.quartzset`);
  mkdirSync(folder);
  const made = await execute(join(root, 'build/bench/native/bench_rank_profiles'), [folder, String(ranks)], {
    seconds: 600,
  });
  await execute(quartz, ['merge', '-q', folder, '-o', set], { seconds: 600 });
  await check(set, made.stdout);
  const merging: Contender = {
    name: 'quartz merge',
    peer: false,
    take: () => {
      const again = `${set}-again.quartzset`;
      rmSync(again, { recursive: true, force: true });
      return used([quartz, 'merge', '-q', folder, '-o', again]);
    },
  };
  const asking = (view: string): Contender => ({
    name: `quartz query --view ${view}`,
    peer: false,
    take: () => used([quartz, 'query', set, '--view', view, '--csv']),
  });
  const what = `${ranks.toLocaleString('en-US')} ranks`;
  const queries = ['ranks', 'outliers'].map(asking);
  return {
    contenders: [merging, ...queries],
    mostRounds: 5,
    rows: [
      {
        id: `merge.${ranks}`,
        what: `merging ${what}: processor time`,
        unit: 's',
        reading: 'seconds',
        shown: [merging.name],
        targets: [{ ours: merging.name, most: Math.max(3, (15 * ranks) / 10_000) }],
      },
      {
        id: `merge-memory.${ranks}`,
        what: `merging ${what}: peak memory`,
        unit: 'MB',
        reading: 'megabytes',
        shown: [merging.name],
        targets: [{ ours: merging.name, most: 500 }],
      },
      {
        id: `query.${ranks}`,
        what: `a view of ${what}: processor time`,
        unit: 's',
        reading: 'seconds',
        shown: queries.map(({ name }) => name),
        targets: queries.map(({ name }) => ({ ours: name, most: 0.5 })),
      },
    ],
  };
}

export const setsBench: Bench = {
  name: 'sets',
  title: 'Sets of profiles',
  isolates:
    'Merging the profiles of a job, and views of the set, by processor time: 100 procedures, 80 call paths and 250 ' +
    'mutexes each (200 KB, bench/native/rank_profiles.c), one processor a rank. Node.js takes 0.09 s of each to start.',
  plan: async (): Promise<Plan> => {
    buildTargets('bench_rank_profiles');
    const trials: Trial[] = [];
    for (const ranks of settings.quick ? [10, 1000] : [10, 100, 1000, 10_000]) trials.push(await job(ranks));
    return { trials };
  },
};
