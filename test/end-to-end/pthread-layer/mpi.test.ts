/** MPI: its calls are what a process waits for, whether they spin or sleep; they are not its work. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { JobFinding } from '../../../ts-frontend/src/sets/limits/types.js';
import type { Model } from '../../../ts-frontend/src/model/index.js';
import { needing, skip } from '../../support/capabilities.js';
import { factsOf, nameOf } from '../../support/facts.js';
import { jobSchemaErrors } from '../../support/json-schema.js';
import { openModel } from '../../support/record.js';
import { command, directory, openMpi, quartz, run } from '../../support/run-quartz.js';
import { hadCpus, lineOf, sourceOf } from './helpers.js';

const uneven = `MPI_Allreduce at mpi_uneven.c:${lineOf('mpi_uneven.c', '/* uneven */')}`;

const timeOf = (model: Model, name: string): number =>
  model.entities.find((entity) => entity.kind === 'procedure' && entity.name === name)?.processorTimeNs ?? 0;

interface ViewRow {
  name: string;
  min_ns: number;
  max_ns: number;
}

for (const flavour of ['mpich', 'openmpi'])
  needing(
    `tool:mpiexec.${flavour}`,
    `tool:mpicc.${flavour}`,
    'perf_event_open',
  )(`${flavour}: the process that waits says where, how long, and for whom; nothing inside MPI is`, async (t) => {
    const cwd = directory();
    execFileSync(`mpicc.${flavour}`, ['-O1', '-g', '-o', 'uneven', sourceOf('mpi_uneven.c')], { cwd });
    const words = ['-n', '2', command, 'record', '-q', '--', join(cwd, 'uneven')];
    const said = await run(`mpiexec.${flavour}`, words, { cwd, env: { ...openMpi } });
    t.is(said.status, 0, said.stderr);
    const [late, waits] = [0, 1].map((rank) => openModel(join(cwd, `uneven.${rank}.quartz`)));
    for (const model of [late!, waits!])
      for (const { id, module, kind } of model.entities)
        if (kind === 'procedure' && model.findings.some(({ entity }) => entity === id))
          t.notRegex(module, /mpi|open-pal|pmix|ucs|fabric/, `a finding inside MPI: ${nameOf(model, id)}`);
    if (!hadCpus(late!) || !hadCpus(waits!)) {
      skip(t, 'other programs had the CPUs');
      return;
    }
    const [first] = waits!.findings;
    t.is(first?.kind, 'processes', waits!.findings.map(({ facts, costNs }) => `${facts.form} ${costNs}`).join());
    const { calls } = factsOf(first, 'processes');
    const call = calls.find(({ entity }) => nameOf(waits!, entity) === uneven);
    t.truthy(call, calls.map(({ entity }) => nameOf(waits!, entity)).join());
    const ratio = call!.ns / Number(/waited (\d+)/.exec(said.stdout)![1]);
    t.true(ratio > 0.7 && ratio < 1.5, `${ratio} of what the program measured`);
    t.true(timeOf(late!, 'assemble') > 2 * timeOf(waits!, 'assemble'));

    // Together: which rank is late; the additional work of one rank is the additional wait of the other, by the
    // program's clock.
    t.is((await quartz(['merge', '-q', '.', '-o', 'uneven.quartzset'], { cwd })).status, 0);
    const rowsOf = async (view: string): Promise<ViewRow[]> =>
      (JSON.parse((await quartz(['query', '--view', view, '--json'], { cwd })).stdout) as { rows: ViewRow[] }).rows;
    const there = (await rowsOf('mpi')).find(({ name }) => name === uneven);
    t.like(there, { min_rank: 0, max_rank: 1 });
    const assemble = (await rowsOf('imbalance')).find(({ name }) => name === 'assemble');
    t.like(assemble, { max_rank: 0, ranks: 2 });
    const longer = Number(/waited (\d+)/.exec(said.stdout)![1]);
    for (const { max_ns, min_ns } of [there!, assemble!])
      t.true((max_ns - min_ns) / longer > 0.6 && (max_ns - min_ns) / longer < 1.6, `${max_ns - min_ns} of ${longer}`);

    // What limits the job says the same in words; its wait is from the times of calls, so it is the program's own.
    const json = (await quartz(['report', 'uneven.quartzset', '--json'], { cwd })).stdout;
    t.is(jobSchemaErrors(json), '');
    const { findings } = JSON.parse(json) as { findings: JobFinding[] };
    const rank = findings.find((one) => one.kind === 'late-ranks');
    t.like(rank, { ranks: [0], waiting: 1, sampled: false });
    t.true(rank!.costNs / longer > 0.8 && rank!.costNs / longer < 1.02, `${rank!.costNs} of ${longer}`);
    t.is(Math.round(rank!.savingNs! - rank!.costNs / 2), 0);
    t.like(rank!.extra, { form: 'work' });
    // What it has more of is in what assemble calls, too; which of them has less else is up to the samples.
    const place = 'place' in rank!.extra ? rank!.extra.place?.name : undefined;
    t.true(place === 'assemble' || place === 'work', JSON.stringify(rank!.extra));
    const text = (await quartz(['report', 'uneven.quartzset', '--width', '200'], { cwd })).stdout;
    t.regex(text, /Rank 0 is late: the other one waits for it .*, in MPI_Allreduce at mpi_uneven\.c:\d+\. It works /);
  });
