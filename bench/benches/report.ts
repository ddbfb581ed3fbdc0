/**
 * The front end: a report of a large profile, and the start of a recording. Isolates reading and arithmetic: the
 * profile is synthetic, and its code addresses have no names.
 */
import { join } from 'node:path';
import type { Bench, Contender, Plan, Trial } from '../harness/bench.js';
import { buildTargets } from '../harness/build.js';
import { execute, Failed, scratchDirectory } from '../harness/execute.js';
import { root } from '../harness/peers.js';
import { settings } from '../harness/settings.js';

const quartz = join(root, 'ts-frontend/bin/quartz');

/** Elapsed seconds, and the maximum memory of the process, by the kernel's count. */
async function measured(command: readonly string[]): Promise<{ seconds: number; megabytes: number }> {
  const script =
    'import os, sys, time; begin = time.monotonic(); status = os.spawnv(os.P_WAIT, sys.argv[1], sys.argv[1:]); ' +
    'import resource; ' +
    'sys.stderr.write("\\n%f %d\\n" % (time.monotonic() - begin, ' +
    'resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)); sys.exit(status)';
  const { stderr } = await execute('python3', ['-c', script, ...command], { seconds: 60, silent: true });
  const match = /([\d.]+) (\d+)\s*$/.exec(stderr);
  if (!match) throw new Failed('time and memory were not printed');
  return { seconds: Number(match[1]), megabytes: Number(match[2]) / 1024 };
}

/** A report, as a tree of contexts, of 100,000 contexts: procedures, loops and lines. */
async function contexts(): Promise<Trial> {
  const file = join(scratchDirectory(), 'contexts.quartz');
  await execute(join(root, 'build/bench/native/bench_tuple_profile'), [file, '130000', '64', 'code'], { seconds: 60 });
  return {
    contenders: [{ name: 'quartz', peer: false, take: () => measured([quartz, 'report', '--view', 'tree', file]) }],
    mostRounds: 5,
    rows: [
      {
        id: 'report.contexts',
        what: 'report of 100,000 contexts (procedures, loops, lines), as a tree: time',
        unit: 's',
        reading: 'seconds',
        targets: [{ ours: 'quartz', most: 1 }],
      },
    ],
  };
}

async function report(tuples: number, entities: number): Promise<Trial> {
  const file = join(scratchDirectory(), `tuples-${tuples}-${entities}.quartz`);
  await execute(join(root, 'build/bench/native/bench_tuple_profile'), [file, String(tuples), String(entities)], {
    seconds: 60,
  });
  const contender: Contender = { name: 'quartz', peer: false, take: () => measured([quartz, 'report', file]) };
  const what = `report of ${tuples.toLocaleString('en-US')} tuples, ${entities.toLocaleString('en-US')} threads`;
  return {
    contenders: [contender],
    mostRounds: 5,
    rows: [
      {
        id: `report.${tuples}x${entities}`,
        what: `${what}: time`,
        unit: 's',
        reading: 'seconds',
        targets: [{ ours: 'quartz', most: 1 }],
      },
      {
        id: `report-memory.${tuples}x${entities}`,
        what: `${what}: peak memory`,
        unit: 'MB',
        reading: 'megabytes',
        targets: [{ ours: 'quartz', most: 300 }],
      },
    ],
  };
}

function startUp(): Trial {
  const profile = join(scratchDirectory(), 'true.quartz');
  const timed = (name: string, command: readonly string[]): Contender => ({
    name,
    peer: false,
    take: async () => {
      const { seconds } = await execute(command[0]!, command.slice(1), { cwd: scratchDirectory() });
      return { ms: seconds * 1000 };
    },
  });
  return {
    contenders: [
      timed('true', ['true']),
      timed('quartz', [quartz, 'record', '-q', '-o', profile, '--', 'true']),
      timed('quartz report --help', [quartz, 'report', '--help']),
    ],
    rows: [
      {
        id: 'start-up',
        what: '`quartz record -- true` over `true` alone',
        unit: 'ms',
        reading: 'ms',
        value: (of, one) => (one === 'true' ? of(one) : of(one) - of('true')),
        targets: [{ ours: 'quartz', most: 60 }],
      },
    ],
  };
}

export const reportBench: Bench = {
  name: 'report',
  title: 'Reports and start-up',
  isolates:
    'Reading a profile and the arithmetic of its report: the profile is synthetic (64 processors, 4,096 call paths, ' +
    'bench/native/tuple_profile.c), and its addresses have no names. Start-up is elapsed time beyond that of the ' +
    'program alone; ' +
    '`quartz report --help` is what Node.js takes to start.',
  plan: async (): Promise<Plan> => {
    buildTargets('bench_tuple_profile');
    const sizes: readonly (readonly [number, number])[] = [
      [1_000_000, 64],
      ...(settings.quick ? [] : ([[1_000_000, 10_000]] as const)),
    ];
    const trials: Trial[] = [];
    for (const [tuples, entities] of sizes) trials.push(await report(tuples, entities));
    return { trials: [...trials, await contexts(), startUp()] };
  },
};
