/** Threads that wait for each other at descriptors: event counters, pipes, sockets, and epoll. */
import { needing } from '../../support/capabilities.js';
import { openModel, sampler, start, temporaryFile } from '../../support/record.js';
import type { Model } from '../../../ts-frontend/src/model/index.js';
import { program, skipsWithoutCpus } from './helpers.js';

async function record(...words: string[]): Promise<Model> {
  const file = temporaryFile('profile.quartz');
  const command = [program('descriptor_ring'), ...words];
  const { status, stderr } = await start(sampler, ['record', '-q', '-o', file, '--', ...command]).ended;
  if (status !== 0) throw new Error(stderr);
  return openModel(file);
}

const waitedNs = ({ entities }: Model, names: RegExp): number =>
  entities
    .filter(({ kind, name }) => kind !== 'thread' && names.test(name))
    .reduce((sum, { states }) => sum + states.blocked.ns, 0);

for (const [way, name] of [
  ['counters', /^eventfd \d+$/],
  ['pipes', /^pipe \d+$/],
  ['sockets', /^socket pair \d+$/],
  ['events', /^eventfd \d+$/],
] as const)
  needing('perf_event_open', 'process_vm_readv')(
    `${way} of the program's own: threads wait there for each other, the slower one limits`,
    async (t) => {
      const model = await record(way);
      const { findings, entities, elapsedNs, root } = model;
      // who makes the pieces waits two thirds of the time; beside other programs part of that is for a CPU
      t.true(waitedNs(model, name) > 0.2 * elapsedNs, `${waitedNs(model, name) / 1e6} of ${elapsedNs / 1e6} ms`);
      t.true(root.states.io.ns < 0.1 * elapsedNs, `${root.states.io.ns / 1e6} ms of input and output`);
      t.true(entities.filter((one) => name.test(one.name)).every(({ libraryWait }) => libraryWait === 'data'));
      t.false(findings.some(({ kind }) => kind === 'io'));
      if (skipsWithoutCpus(t, model)) return;
      const [first] = findings;
      // Beside other programs the slower one may look like the thread with the larger part.
      const kinds = model.cpuWait.waitNs < 0.05 * model.cpuWait.runNs ? /^pipeline$/ : /^(pipeline|imbalance)$/;
      t.regex(first?.kind ?? '', kinds);
      t.regex(entities[first!.entity]!.name, /check|work_own_us/);
    },
  );

needing('perf_event_open', 'process_vm_readv')(
  'pipes that a child has, too: it may be the child that a thread waits for',
  async (t) => {
    const model = await record('pipes', 'child');
    t.is(waitedNs(model, /^pipe \d+$/), 0);
    t.true(model.root.states.io.ns > 0.4 * model.elapsedNs);
  },
);
