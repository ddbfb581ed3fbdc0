/**
 * Known work and span of oneTBB's tasks, whichever thread executes them: the program measures the processor time of
 * each and adds it up as its graph of tasks demands (path-programs/span_tbb.cc).
 */
import { join } from 'node:path';
import { item, timePathOf } from '../../ts-frontend/src/model/index.js';
import { needing } from '../support/capabilities.js';
import { record } from '../support/record.js';
import { root } from '../support/root.js';
import { recordedGraph } from './task-graphs.js';

/**
 * tasks: at the place that makes most; calls: those that none of the same place contains. seen: the least part of the
 * span that is seen; how a node of a graph executes one message after another is its own affair, so only the way of one
 * message through it is certain.
 */
const cases: { name: string; args: string; calls: number; tasks: number | null; seen?: number }[] = [
  { name: 'a loop', args: 'loop', calls: 1, tasks: 33 },
  { name: 'uneven tasks of a group', args: 'uneven', calls: 20, tasks: 20 },
  { name: 'a tree of groups', args: 'tree', calls: 5, tasks: 31 },
  { name: 'parallel_invoke', args: 'invoke', calls: 10, tasks: 10 },
  { name: 'a reduction', args: 'reduce', calls: 2, tasks: 34 },
  { name: 'a pipeline', args: 'pipeline', calls: 1, tasks: null },
  { name: 'a flow graph', args: 'graph', calls: 10, tasks: null, seen: 50 / 320 },
  { name: 'loops in a loop', args: 'nested', calls: 8, tasks: 40 },
  { name: 'groups, with what their tasks leave behind', args: 'groups', calls: 20, tasks: 20 },
  { name: 'tasks that end with an exception', args: 'thrown', calls: 10, tasks: 10 },
];

const program = join(root, 'build/test/known-answers/path-programs/span_tbb');
const there = needing(`made:${program}=oneTBB (libtbb-dev)`);
for (const { name, args, calls, tasks, seen = 0.99 } of cases)
  there(`TBB: ${name}`, async (t) => {
    const { span } = await recordedGraph(t, program, args, seen);
    const most = span.sites.reduce((a, b) => (b.count > a.count ? b : a));
    t.is(most.topCount, calls, 'calls are counted where they are made');
    if (tasks !== null) t.is(most.count, tasks, 'so are tasks');
  });

there('TBB: the time path leads through the longer task, and back', async (t) => {
  const { model } = await record(program, { args: ['uneven'] });
  const path = timePathOf(model);
  if (path === null) throw new Error('no time path was recorded');
  t.true(path.inferredNs < 0.4 * path.lengthNs, `${path.inferredNs} of ${path.lengthNs} ns`);
  const work = path.entities
    .filter(({ entity }) => /\b(part|alone)$/.test(item(model.entities, entity).name))
    .reduce((sum, { onPathNs }) => sum + onPathNs, 0);
  t.true(work > 0.3 * path.lengthNs, `${work} of ${path.lengthNs} ns`);
});
