/**
 * The MPI layer: which rank was late for which call, and how long others waited there, compared with the program's own
 * clock.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { needing } from '../../support/capabilities.js';
import { root } from '../../support/root.js';
import { command, directory, openMpi, quartz, run } from '../../support/run-quartz.js';
import { lineOf, sourceOf } from './helpers.js';

type Row = Record<string, number | string>;
const rounds = 30;

/** Runs a command as if on another machine: with another host name, and a clock with another time since boot. */
const elsewhere = [
  ...['unshare', '--uts', '--time', '--monotonic', '100000', '--fork'],
  ...['sh', '-c', 'hostname elsewhere; exec "$@"', 'sh'],
];

/** Ranks 0 and 1 of a program, compiled from `source`: rank 1 is late for each kind of call that can wait. */
const showsWhoWasLate = async (
  t: ExecutionContext,
  flavour: string,
  source: string,
  compile: string[],
  second: string[] = [],
): Promise<void> => {
  const cwd = directory();
  execFileSync(compile[0]!, [...compile.slice(1), '-w', '-O1', '-g', '-o', 'late', sourceOf(source)], { cwd });
  const record = [command, 'record', '-q', '--', join(cwd, 'late')];
  const words = ['-n', '1', ...record, ':', '-n', '1', ...second, ...record];
  const said = await run(`mpiexec.${flavour}`, words, { cwd, env: { ...openMpi } });
  t.is(said.status, 0, said.stderr);
  t.is((await quartz(['merge', '-q', '.', '-o', 'late.quartzset'], { cwd })).status, 0);
  const rowsOf = async (view: string): Promise<Row[]> =>
    (JSON.parse((await quartz(['query', '--view', view, '--json'], { cwd })).stdout) as { rows: Row[] }).rows;
  const late = (await rowsOf('late')).filter(({ late_rank }) => late_rank === 1);
  for (const [call, mark, pattern, printed] of [
    ['MPI_Recv', 'late sender', 'late sender', 'received'],
    ['MPI_Waitall', 'late request', 'late sender', 'requested'],
    ['MPI_Allreduce', 'late rank', 'late rank', 'gathered'],
  ] as const) {
    const place = `${call} at ${source}:${lineOf(source, mark)}`;
    const row = late.find(({ name }) => name === place);
    t.like(row, { pattern, ranks: 1 }, place);
    const waited = Number(new RegExp(`${printed} (\\d+)`).exec(said.stdout)![1]);
    // The rest is the message itself, and the time until the waiting rank notices it, which is longer if other programs
    // have its CPU. Clocks of two machines are aligned by the times at which ranks leave a collective.
    const most = (second.length > 0 ? 1.1 : 1.001) * waited;
    t.true(Number(row!['wait_ns']) <= most, `${place}: ${row!['wait_ns']} of ${waited}`);
    t.true(Number(row!['wait_ns']) > 0, place);
    t.true(Number(row!['waits']) <= rounds, place);
  }
  const path = await rowsOf('job-path');
  const ranks = await rowsOf('ranks');
  t.is(new Set(ranks.map(({ host }) => host)).size, second.length > 0 ? 2 : 1);
  const begin = Math.max(...ranks.map(({ elapsed_ns }) => Number(elapsed_ns)));
  const length = path.reduce((sum, { ns }) => sum + Number(ns), 0);
  t.true(length > 0.5 * begin && length < 1.5 * begin, `the path is ${length} of ${begin}`);
  const of = (rank: number): number =>
    path.filter((row) => row['rank'] === rank && row['what'] === 'rank').reduce((sum, { ns }) => sum + Number(ns), 0);
  t.true(of(1) > of(0), 'the late rank has most of it');
};

for (const flavour of ['mpich', 'openmpi']) {
  needing(`tool:mpiexec.${flavour}`, `tool:mpicc.${flavour}`)(
    `${flavour}: who was late at which call, how long others waited for it, and the path through both ranks`,
    (t) => showsWhoWasLate(t, flavour, 'mpi_late.c', [`mpicc.${flavour}`]),
  );
  needing(
    ...(['root', 'mounts', 'tool:unshare', 'file:/proc/self/ns/time'] as const),
    ...([`tool:mpiexec.${flavour}`, `tool:mpicc.${flavour}`] as const),
  )(`${flavour}: the same of ranks on two machines, whose clocks differ by 100,000 s`, (t) =>
    showsWhoWasLate(t, flavour, 'mpi_late.c', [`mpicc.${flavour}`], elsewhere),
  );
  for (const [module, ...options] of [['mpi'], ['mpi_f08', '-DOBJECTS']])
    needing(
      `tool:mpiexec.${flavour}`,
      `tool:mpif90.${flavour}`,
      'tool:gfortran',
    )(`${flavour}: the same of a Fortran program (${module})`, (t) =>
      showsWhoWasLate(t, flavour, 'mpi_late_fortran.F90', [`mpif90.${flavour}`, `-DMODULE=${module}`, ...options]),
    );
}

needing('tool:mpiexec.mpich', 'tool:mpicc.mpich')(
  'QUARTZ_MPI=0 leaves the layer out; the profile has no events',
  async (t) => {
    const cwd = directory();
    execFileSync('mpicc.mpich', ['-w', '-O1', '-g', '-o', 'late', sourceOf('mpi_late.c')], { cwd });
    const said = await run('mpiexec.mpich', ['-n', '2', command, 'record', '-q', '--', join(cwd, 'late')], {
      cwd,
      env: { QUARTZ_MPI: '0' },
    });
    t.is(said.status, 0, said.stderr);
    t.is((await quartz(['merge', '-q', '.', '-o', 'late.quartzset'], { cwd })).status, 0);
    const { stdout } = await quartz(['query', '--view', 'late', '--json'], { cwd });
    t.deepEqual((JSON.parse(stdout) as { rows: Row[] }).rows, []);
  },
);

test('each procedure that is logged has its Fortran names, and that by which bindings call it', (t) => {
  const library = join(root, 'build/mpi-layer/libquartz-mpi.so');
  const defined = execFileSync('nm', ['-D', '--defined-only', library], { encoding: 'utf8' }).match(/\S+$/gm)!;
  const procedures = defined.filter((name) => name.startsWith('MPI_'));
  t.true(procedures.includes('MPI_Recv'));
  const others = procedures.flatMap((name) => {
    const fortran = name.toLowerCase();
    return [`P${name}`, `${fortran}_`, `${fortran}_f08_`, `${fortran}_f08ts_`];
  });
  t.deepEqual([...defined].sort(), [...procedures, ...others].sort());
});
