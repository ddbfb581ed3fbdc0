/** Threads in each rank of an MPI program: what one waits for beside others that have work costs the job nothing. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { JobFinding } from '../../../ts-frontend/src/sets/limits/types.js';
import { needing, skip } from '../../support/capabilities.js';
import { openModel } from '../../support/record.js';
import { command, directory, openMpi, quartz, run } from '../../support/run-quartz.js';
import { hadCpus, lineOf, sourceOf } from './helpers.js';

for (const flavour of ['mpich', 'openmpi'])
  needing(
    `tool:mpiexec.${flavour}`,
    `tool:mpicc.${flavour}`,
    'perf_event_open',
  )(`${flavour}: the rank that packs is late, though a thread of each rank receives all the time`, async (t) => {
    const cwd = directory();
    execFileSync(`mpicc.${flavour}`, ['-O1', '-g', '-pthread', '-o', 'threads', sourceOf('mpi_threads.c')], { cwd });
    const words = ['-n', '2', command, 'record', '-q', '--', join(cwd, 'threads')];
    const said = await run(`mpiexec.${flavour}`, words, { cwd, env: { ...openMpi } });
    if (said.status === 77) {
      skip(t, 'this MPI has no MPI_THREAD_MULTIPLE');
      return;
    }
    t.is(said.status, 0, said.stderr);
    t.is((await quartz(['merge', '-q', '.', '-o', 'threads.quartzset'], { cwd })).status, 0);
    const { stdout } = await quartz(['report', 'threads.quartzset', '--json'], { cwd });
    const { findings } = JSON.parse(stdout) as { findings: JobFinding[] };
    const late = findings.find((one) => one.kind === 'late-ranks');
    const varying = findings.find((one) => one.kind === 'varying');
    // Whatever other programs do: ranks wait for each other for about no longer than nothing else of them works, or
    // could (of each wait that share is from samples).
    const rows = JSON.parse((await quartz(['query', '--view', 'ranks', '--json'], { cwd })).stdout) as {
      rows: { mpi_ns: number }[];
    };
    const aloneNs = rows.rows.reduce((sum, { mpi_ns }) => sum + mpi_ns, 0) / 2;
    const costNs = (late?.costNs ?? 0) / 2 + (varying?.costNs ?? 0);
    t.true(costNs <= 1.5 * aloneNs, `${costNs} of ${aloneNs} ns`);
    const place = `MPI_Recv at mpi_threads.c:${lineOf('mpi_threads.c', '/* late */')}`;
    const isFound =
      late?.waiting === 1 &&
      late.ranks.join() === '1' &&
      late.extra.form === 'alone' &&
      late.extra.place.name === 'pack';
    const isThere = late?.calls.some(({ call }) => call.name === place) ?? false;
    // The thread that receives beside work is not what limits the job.
    const isFirst = (varying?.costNs ?? 0) < (late?.costNs ?? 0);
    // With fewer CPUs than threads the ranks take CPUs from each other, and rank 0 may be late, too.
    const shared = ![0, 1].every((rank) => hadCpus(openModel(join(cwd, `threads.${rank}.quartz`))));
    if (shared && !(isFound && isThere && isFirst)) skip(t, 'other programs had the CPUs');
    else t.true(isFound && isThere && isFirst, stdout);
  });
