/** Names of profiles: patterns, ranks, children; and that no recording replaces the file of another one. */
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { openModel, sampler, start, until } from '../../support/record.js';
import { openProfile } from '../../../ts-frontend/src/reader/profile.js';
import { needing } from '../../support/capabilities.js';
import { command, directory, openMpi, program, quartz, run, type Said } from '../../support/run-quartz.js';

const profiles = (cwd: string): string[] =>
  readdirSync(cwd)
    .filter((name) => name.endsWith('.quartz'))
    .sort();
const host = execFileSync('uname', ['-n'], { encoding: 'utf8' }).trim().replace(/\..*/s, '');
const kept = (said: Said): string[] => said.stderr.split('\n').filter((line) => line.includes('another recording'));
const noRank = { PMI_RANK: '', PMIX_RANK: '', OMPI_COMM_WORLD_RANK: '', SLURM_PROCID: '' };
const two = program('two_callers');

test.serial('each letter after a per cent sign', async (t) => {
  const cwd = directory();
  const env = { ...noRank, SLURM_PROCID: '7', SLURM_STEP_NUM_TASKS: '8', SLURM_JOB_ID: '4711' };
  const said = await run(command, ['record', '-q', '-o', '%n.%r.%h.%j.%%.quartz', '--', two], { cwd, env });
  t.deepEqual([said.status, said.stderr], [0, '']);
  t.deepEqual(profiles(cwd), [`two_callers.7.${host}.4711.%.quartz`]);
  t.is((await run(command, ['record', '-q', '-o', 'p%p-%r-%j.quartz', '--', two], { cwd, env: noRank })).status, 0);
  const [name] = profiles(cwd);
  t.is(name, `p${openModel(join(cwd, name!)).head.pid}-0-0.quartz`);
  for (const [verb, front] of [
    ['record', sampler],
    ['run', command],
  ] as const) {
    const wrong = await run(front, [verb, '-o', '%x.quartz', '--', two], { cwd });
    t.is(wrong.status, 2);
    t.regex(wrong.stderr, /^quartz: [^\n]*%[^\n]*\n$/);
  }
  t.is(profiles(cwd).length, 2);
});

test.serial('a directory stands for the default name in it, and is created if only it is missing', async (t) => {
  const cwd = directory();
  for (const name of ['out/', 'out']) {
    const said = await run(sampler, ['record', '-q', '-o', name, '--', two], { cwd, env: noRank });
    t.deepEqual([said.status, said.stderr], [0, '']);
    t.deepEqual(profiles(join(cwd, 'out')), ['two_callers.quartz']);
    rmSync(join(cwd, 'out/two_callers.quartz'));
  }
  const far = await run(sampler, ['record', '-q', '-o', 'far/away/', '--', two], { cwd, env: noRank });
  t.is(far.status, 125);
  t.regex(far.stderr, /^quartz: cannot write far\/away\/two_callers\.quartz: No such file or directory; [^\n]+\n$/);
});

test.serial('a rank among others is part of the name; one alone is not', async (t) => {
  const cwd = directory();
  const ranks: [Record<string, string>, string[], string, number | null][] = [
    [{ PMI_RANK: '3', PMI_SIZE: '4' }, [], 'two_callers.3.quartz', 3],
    [{ PMIX_RANK: '5' }, ['-o', 'a.b.quartz'], 'a.b.5.quartz', 5],
    [{ OMPI_COMM_WORLD_RANK: '11', OMPI_COMM_WORLD_SIZE: '12' }, ['-o', 'plain'], 'plain.11', 11],
    [{ PMI_RANK: '0', PMI_SIZE: '1' }, ['-o', 'alone.quartz'], 'alone.quartz', null],
    [{ PMI_RANK: 'x/../y' }, ['-o', 'odd.quartz'], 'odd.quartz', null],
  ];
  for (const [env, args, name, rank] of ranks) {
    const said = await run(command, ['record', ...args, '--', two], { cwd, env: { ...noRank, ...env } });
    t.is(said.status, 0);
    t.regex(said.stderr, new RegExp(`^quartz: ${name.replaceAll('.', '\\.')}: [\\d,]+ snapshots`));
    t.is(openModel(join(cwd, name)).head.rank, rank === null ? 0 : rank + 1);
  }
});

test.serial('one after the other: the last run has the name, with record and with run', async (t) => {
  const cwd = directory();
  for (const verb of ['record', 'run', 'run', 'record']) {
    const said = await quartz([verb, '--', two], { cwd });
    t.is(said.status, 0, said.stderr);
    t.deepEqual(profiles(cwd), ['two_callers.quartz'], said.stderr);
  }
});

/** Starts a recording that does not end by itself, and waits for its first snapshots. */
async function lasting(cwd: string, file: string): Promise<() => Promise<void>> {
  const started = start(
    'sh',
    ['-c', 'cd "$0" && exec "$@"', cwd, sampler, 'record', '-q', '-o', file, '--', program('endless')],
    { QUARTZ_PROCESSORS: '4' },
  );
  await until('it has snapshots', () => {
    try {
      return openProfile(join(cwd, file), { symbolize: false }).head.snapshots > 10;
    } catch {
      return false;
    }
  });
  return async () => {
    started.child.kill('SIGINT');
    await started.ended;
  };
}

test.serial('at the same time: none takes the file of one that lives, or that ended meanwhile', async (t) => {
  const cwd = directory();
  const end = await lasting(cwd, 'out.quartz');
  const { pid } = openModel(join(cwd, 'out.quartz')).head;
  const beside = await quartz(['record', '-o', 'out.quartz', '--', two], { cwd });
  t.is(beside.status, 0);
  t.deepEqual(kept(beside), ['quartz: out.quartz belongs to another recording: this one is in out-2.quartz']);
  const report = await quartz(['run', '-o', 'out.quartz', '--', two], { cwd });
  t.is(report.status, 0);
  t.deepEqual(profiles(cwd), ['out-2.quartz', 'out.quartz'], "the second one's file was not younger than the third");
  t.regex(report.stdout, / two_callers: |^ *two_callers: /m, 'the report is of what was recorded');
  await end();
  t.is(openModel(join(cwd, 'out.quartz')).head.pid, pid);
  t.is(basename(openModel(join(cwd, 'out-2.quartz')).program), 'two_callers');
});

test.serial('many at once, in one directory, by one name: all are there', async (t) => {
  const cwd = directory();
  writeFileSync(join(cwd, 'out.quartz'), 'from an earlier run');
  const said = await Promise.all(
    Array.from({ length: 6 }, () => run(sampler, ['record', '-o', 'out.quartz', '--', two], { cwd, env: noRank })),
  );
  t.deepEqual(
    said.map(({ status }) => status),
    said.map(() => 0),
  );
  const pids = new Set(profiles(cwd).map((name) => openModel(join(cwd, name)).head.pid));
  t.is(pids.size, 6, profiles(cwd).join());
  t.true(profiles(cwd).includes('out.quartz'));
  for (const { stderr } of said)
    t.true(
      profiles(cwd).includes(/^quartz: (\S+?):? (?:[\d,]+ snapshots|contains no snapshot)/m.exec(stderr)![1]!),
      stderr,
    );
});

test.serial('attach: the name is of the program, and a second one takes nothing', async (t) => {
  const cwd = directory();
  const running = start(program('endless'), [], { QUARTZ_PROCESSORS: '4' });
  try {
    await until('the program is ready', () => running.stdout().includes('ready'));
    for (let k = 0; k < 2; k++)
      t.is(
        (
          await run(command, ['attach', '-q', '--seconds', '0.3', '-o', '%n.%p.quartz', String(running.child.pid)], {
            cwd,
          })
        ).status,
        0,
      );
    t.deepEqual(profiles(cwd), [`endless.${running.child.pid}.quartz`]);
    t.is((await run(command, ['attach', '-q', '--seconds', '0.3', String(running.child.pid)], { cwd })).status, 0);
    t.true(profiles(cwd).includes('endless.quartz'));
  } finally {
    running.child.kill('SIGKILL');
    await running.ended;
  }
});

test.serial('--children: named after the program that each runs', async (t) => {
  const cwd = directory();
  const said = await quartz(
    ['record', '--children', '--', 'sh', '-c', '"$0"; "$1"', two, program('serial_then_parallel')],
    { cwd },
  );
  t.is(said.status, 0, said.stderr);
  t.deepEqual(
    profiles(cwd).map((name) => name.replace(/-\d+/, '-PID')),
    ['serial_then_parallel-PID.quartz', 'sh.quartz', 'two_callers-PID.quartz'],
  );
  for (const name of profiles(cwd))
    t.is(basename(openModel(join(cwd, name)).program).replace('dash', 'sh'), name.replace(/-\d+|\.quartz/g, ''));
});

/** MPI: a program compiled by each implementation's compiler; every rank waits for all others. */
const mpiSource = `#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, size, sum = 0;
  volatile double work = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int round = 0; round < 5; round++) {
    for (int k = 0; k < 2000000; k++) work += k;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  printf("rank %d of %d: %d\\n", rank, size, sum);
  MPI_Finalize();
  return 0;
}
`;
/** The profiles of so many ranks: their names, the rank of each, and the program's output. */
async function ranks(
  t: ExecutionContext,
  flavour: string,
  count: number,
  words: readonly string[],
  cwd: string,
): Promise<Said> {
  const said = await run(`mpiexec.${flavour}`, ['-n', String(count), ...words], { cwd, env: { ...openMpi } });
  t.is(said.status, 0, said.stderr);
  for (let rank = 0; rank < count; rank++)
    t.true(said.stdout.includes(`rank ${rank} of ${count}: ${(count * (count - 1)) / 2}\n`), said.stdout);
  return said;
}

for (const flavour of ['mpich', 'openmpi']) {
  needing(`tool:mpiexec.${flavour}`, `tool:mpicc.${flavour}`)(
    `${flavour}: a profile for each rank, by record, by run, under one name, and as children of the launcher`,
    async (t) => {
      const built = directory();
      writeFileSync(join(built, 'sums.c'), mpiSource);
      execFileSync(`mpicc.${flavour}`, ['-O1', '-g', '-o', 'sums', 'sums.c'], { cwd: built });
      const sums = join(built, 'sums');
      const cases: [number, string[], (rank: number) => string][] = [
        [4, [command, 'record', '-q', '--', sums], (rank) => `sums.${rank}.quartz`],
        [2, [command, 'run', '-q', '--', sums], (rank) => `sums.${rank}.quartz`],
        [3, [command, 'record', '-q', '-o', 'all.quartz', '--', sums], (rank) => `all.${rank}.quartz`],
        [
          2,
          [command, 'record', '-q', '-o', 'one-%r-of-%h.quartz', '--', sums],
          (rank) => `one-${rank}-of-${host}.quartz`,
        ],
      ];
      for (const [count, words, name] of cases) {
        const cwd = directory();
        for (let again = 0; again < 2; again++) {
          await ranks(t, flavour, count, words, cwd);
          t.deepEqual(
            profiles(cwd),
            Array.from({ length: count }, (_, rank) => name(rank)),
            'also after a second run',
          );
        }
        for (const file of profiles(cwd)) t.is(basename(openModel(join(cwd, file)).program), 'sums');
      }
      const cwd = directory();
      const said = await run(command, ['record', '-q', '--children', '--', `mpiexec.${flavour}`, '-n', '2', sums], {
        cwd,
        env: { ...openMpi },
      });
      t.is(said.status, 0, said.stderr);
      t.deepEqual(
        profiles(cwd).filter((file) => file.startsWith('sums')),
        ['sums.0.quartz', 'sums.1.quartz'],
        profiles(cwd).join(),
      );
      for (const file of ['sums.0.quartz', 'sums.1.quartz']) t.is(basename(openModel(join(cwd, file)).program), 'sums');
      const followed = directory();
      const seen = await run(command, ['record', '-q', '--', `mpiexec.${flavour}`, '-n', '2', sums], {
        cwd: followed,
        env: { ...openMpi },
      });
      t.is(seen.status, 0, seen.stderr);
      t.deepEqual(profiles(followed), ['sums.0.quartz', 'sums.1.quartz'], seen.stderr);
      t.regex(seen.stderr, /only started the program .*: the profile is that of sums .* sums\.[01]\.quartz; also/);
    },
  );
}

test.serial('recordings without a rank that end in one directory: by run, each reports on its own', async (t) => {
  const cwd = directory();
  const said = await Promise.all(
    ['two_callers', 'serial_then_parallel'].map((name) =>
      quartz(['run', '-o', 'out.quartz', '--', program(name)], { cwd, env: noRank }),
    ),
  );
  t.regex(said[0]!.stdout, /two_callers: /);
  t.regex(said[1]!.stdout, /serial_then_parallel: /);
  t.deepEqual(profiles(cwd), ['out-2.quartz', 'out.quartz']);
});
