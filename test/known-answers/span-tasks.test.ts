/**
 * Known work and span of OpenMP's tasks, whichever thread executes them: the program measures the processor time of
 * each and adds it up as its graph of tasks demands (path-programs/span_tasks.c).
 */
import { join } from 'node:path';
import { item, timePathOf } from '../../ts-frontend/src/model/index.js';
import { needing, openmpProgram } from '../support/capabilities.js';
import { record } from '../support/record.js';
import { quartz } from '../support/run-quartz.js';
import { root } from '../support/root.js';
import { recordedGraph } from './task-graphs.js';

const cases = [
  { name: 'one after another', args: 'one-by-one', tasks: 40 },
  { name: 'a tree of tasks that wait for theirs', args: 'tree', tasks: 62 },
  { name: 'many that are executed at the end of the region', args: 'wide', tasks: 32 },
  { name: 'uneven ones, waited for by taskwait', args: 'uneven', tasks: 40 },
  { name: 'chains by depend clauses', args: 'chains', tasks: 40 },
  { name: 'writers and readers by depend clauses', args: 'readers', tasks: 50 },
  { name: 'groups, with what their tasks leave behind', args: 'groups', tasks: 40 },
  { name: 'loops of tasks', args: 'loop', tasks: 32 },
  { name: 'tasks that are executed at once', args: 'included', tasks: 41 },
  { name: 'tasks before a barrier', args: 'barrier', tasks: 8 },
];

for (const compiler of ['', '-clang'] as const) {
  const program = join(root, `build/test/known-answers/path-programs/span_tasks${compiler}`);
  const there = needing(openmpProgram(join(root, 'build/test/known-answers/path-programs/span_tasks'), compiler));
  for (const { name, args, tasks } of cases)
    there(`OpenMP${compiler}: ${name}`, async (t) => {
      const { model, span } = await recordedGraph(t, program, args);
      const made = span.sites.filter(({ start }) => /_omp_fn|omp_task_entry/.test(item(model.entities, start).name));
      t.is(
        made.reduce((sum, { count }) => sum + count, 0),
        tasks,
        'each task is counted where it is made',
      );
      t.false(span.unseenOrder.regions);
      t.true(span.unseenOrder.waitNs < 0.05 * model.elapsedNs, 'waits for tasks are seen');
    });

  // Strands of some milliseconds, in threads that execute other procedures before and after: without hooks samples show
  // them. Beside other programs a strand may have one sample alone, which may have been taken before it began.
  there(`OpenMP${compiler}: short strands on the span, without hooks`, async (t) => {
    const off: number[] = [];
    for (let run = 0; run < 3; run++) {
      const { model, span, stdout } = await recordedGraph(t, program, 'merges');
      const due = Number(stdout.split('\n')[2]) / span.spanNs;
      const row = span.entities.find(({ entity }) => item(model.entities, entity).name === 'alone');
      off.push(Math.abs((row?.onSpanNs ?? 0) / span.spanNs - due));
    }
    off.sort((a, b) => a - b);
    t.true(off[1]! < 0.2, `of the span they are ${off.join(', ')} off`);
  });

  there(`OpenMP${compiler}: the time path leads through the longer task, and back`, async (t) => {
    const { model, file } = await record(program, { args: ['uneven'] });
    const path = timePathOf(model);
    // Where others have the CPUs, most of the path is waiting for one, also before a thread takes its task.
    t.true((path?.inferredNs ?? NaN) < 0.4 * (path?.lengthNs ?? 0), `${path?.inferredNs} of ${path?.lengthNs} ns`);
    const { stdout } = await quartz(['path', '--json', file]);
    const { entities, lengthNs } = JSON.parse(stdout) as {
      lengthNs: number;
      entities: { name: string; onPathNs: number }[];
    };
    const work = entities
      .filter(({ name }) => name === 'part' || name === 'alone')
      .reduce((sum, { onPathNs }) => sum + onPathNs, 0);
    t.true(work > 0.3 * lengthNs, `${work} of ${lengthNs} ns`);
  });
}
