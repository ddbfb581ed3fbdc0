/**
 * Plain pthread programs, unmodified: lock and unlock of a free mutex, and a program with a queue and 4 workers, under
 * Quartz and under tools that report less. Isolates what the tool adds: the same executable each time (gprof and
 * uftrace need one of their own).
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, Contender, Trial } from '../harness/bench.js';
import { buildTargets } from '../harness/build.js';
import { execute, readings, scratchDirectory } from '../harness/execute.js';
import { peers, root, work } from '../harness/peers.js';
import { examined, recorded } from '../harness/profile.js';
import { settings } from '../harness/settings.js';
import { build, gprof, plain, timed, type Source } from '../harness/instrumentations.js';

const layer = join(root, 'build/pthread-layer/libquartz-pthread.so');
const missingTool = (name: string): { missing?: string } => {
  const missing = peers().find((one) => one.name === name)?.missing;
  return missing === undefined ? {} : { missing };
};

/** The case `lock` of the peers' pthread program: one thread locks, another has waited since the start. */
function lock(): Trial {
  const program = join(work, 'pthread');
  const contender = (
    name: string,
    start: readonly string[],
    env: Record<string, string> = {},
    peer = false,
  ): Contender => ({
    name,
    peer,
    take: async () => {
      const command = [...start, 'lock', '1'];
      return readings(
        (
          await execute(command[0]!, command.slice(1), {
            cwd: scratchDirectory(),
            env: { QUARTZ_BENCH_MS: '10', ...env },
            seconds: 20,
          })
        ).stdout,
      );
    },
  });
  return {
    contenders: [
      contender('plain', [program]),
      contender('quartz layer', [program], { LD_PRELOAD: layer }),
      examined(contender('quartz', recorded(program))),
      { ...contender('drd', ['valgrind', '--tool=drd', '-q', program], {}, true), ...missingTool('valgrind') },
      {
        ...contender('helgrind', ['valgrind', '--tool=helgrind', '-q', program], {}, true),
        ...missingTool('valgrind'),
      },
    ],
    rows: [
      {
        id: 'pthread-lock',
        what: 'lock and unlock a free mutex',
        unit: 'ns',
        targets: [{ ours: 'quartz', against: 'best peer', most: 1, ahead: true }],
      },
    ],
    mostRounds: 5,
  };
}

function workers(): Trial {
  const source: Source = {
    name: 'workers',
    files: [join(root, 'bench/programs/workers.c')],
    flags: ['-g', '-gdwarf-4'],
    libraries: ['-pthread'],
  }; // coz does not read newer DWARF
  const jobs = settings.quick ? '10000' : '20000';
  const file = build(source, plain);
  const profiled = build(source, gprof);
  const out = scratchDirectory();
  const profiler = ['x86_64', 'aarch64']
    .map((machine) => `/usr/lib/${machine}-linux-gnu/libprofiler.so`)
    .find(existsSync);
  const contender = (name: string, program: string, start: readonly string[], peer = false): Contender => ({
    name,
    peer,
    take: () => timed(program, [...start, jobs], { seconds: 60, env: { QUARTZ_PROCESSORS: '2' } }),
  });
  const tool = (name: string, of: string, program: string, start: readonly string[]): Contender => ({
    ...contender(name, program, [...start, program], true),
    ...missingTool(of),
  });
  const slow = settings.quick
    ? []
    : [
        tool('drd', 'valgrind', file, ['valgrind', '--tool=drd', '-q']),
        tool('helgrind', 'valgrind', file, ['valgrind', '--tool=helgrind', '-q']),
      ];
  return {
    contenders: [
      contender('plain', file, [file]),
      examined(contender('quartz', file, recorded(file)), () => [{ name: 'result_lock', calls: Number(jobs) }]),
      tool('perf record', 'perf', file, ['perf', 'record', '-q', '-g', '-o', join(out, 'perf.data')]),
      tool('perf trace futex', 'perf', file, ['perf', 'trace', '-e', 'futex', '-o', join(out, 'perf.txt')]),
      {
        name: 'gperftools',
        peer: true,
        ...(profiler === undefined ? { missing: 'not installed; --install-peers' } : {}),
        take: () =>
          timed(file, [file, jobs], {
            seconds: 60,
            preload: profiler ?? '',
            env: { CPUPROFILE: join(out, 'gperftools.prof') },
          }),
      },
      contender('gprof', profiled, [profiled], true),
      tool('uftrace', 'uftrace', profiled, ['uftrace', 'record', '-d', join(out, 'uftrace.data')]),
      tool('coz', 'coz', file, ['coz', 'run', '-o', join(out, 'coz.txt'), '---']),
      ...slow,
    ],
    rows: [
      {
        id: 'pthread-program',
        what: '4 workers and a queue: slowdown, elapsed',
        unit: 'times',
        reading: 'wall',
        value: (of, one) => of(one) / of('plain'),
        targets: [{ ours: 'quartz', against: 'best peer', most: 1, ahead: true }],
      },
      {
        id: 'pthread-program-cpu',
        what: '4 workers and a queue: slowdown, CPU time',
        unit: 'times',
        reading: 'cpu',
        value: (of, one) => of(one) / of('plain'),
        targets: [],
      },
    ],
    mostRounds: 5,
  };
}

export const pthreadBench: Bench = {
  name: 'pthread',
  title: 'Plain pthread programs',
  isolates:
    'What a tool adds to an unmodified program: lock and unlock of a free mutex alone, with the layer put in but ' +
    'nothing ' +
    'published, and recorded; then a program whose 4 workers take 20,000 jobs from a queue under one lock. ' +
    'What the tools report: Quartz which procedures, locks and threads cost elapsed time, and who waits for whom; ' +
    'perf where ' +
    'CPU time goes, `perf trace` each system call on a futex, gperftools and gprof where CPU time goes, gprof calls ' +
    'too, ' +
    'uftrace each call and its time, ' +
    'coz what a faster line would gain, drd and helgrind races and (drd) long holds.',
  plan: () => {
    buildTargets('quartz_pthread');
    return { trials: [lock(), workers()] };
  },
};
