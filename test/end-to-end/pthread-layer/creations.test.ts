/**
 * Without hooks, too, what a thread does is charged to the path that created it. Processor time is the kernel's, and
 * work is counted: tests compare shares of it, never times.
 */
import type { ExecutionContext } from 'ava';
import {
  checkInvariants,
  costIndex,
  viewOf,
  workSpanOf,
  type Model,
  type ViewRow,
} from '../../../ts-frontend/src/model/index.js';
import { needing, openmpProgram } from '../../support/capabilities.js';
import { record } from '../../support/record.js';
import { lineOf, program } from './helpers.js';

async function recorded(t: ExecutionContext, name: string, of = 'creations'): Promise<Model> {
  const { model, status, stderr } = await record(program(of), { args: [name] });
  t.is(status, 0, stderr);
  t.deepEqual(checkInvariants(model), []);
  return model;
}

const timeOf = (model: Model, name: string): number =>
  model.entities
    .filter((one) => one.kind === 'procedure' && one.group === 0 && one.name.replace(/\(.*/, '') === name)
    .reduce((sum, one) => sum + one.processorTimeNs, 0);

/** Names of the procedures on the way to the row with most time, at each level. */
function hottest(model: Model): string[] {
  const names: string[] = [];
  let rows: readonly ViewRow[] = [viewOf(model, 'tree')];
  for (let row = rows[0]; row; row = rows[0]) {
    const entity = row.subject.kind === 'entity' ? model.entities[row.subject.entity] : undefined;
    if (entity?.kind === 'procedure' && entity.id !== 0) names.push(entity.name.replace(/\(.*/, ''));
    rows = row.open(0);
  }
  return names;
}

const test = needing('perf_event_open', 'process_vm_readv');

test('two places that create equal threads: each has the time of its own', async (t) => {
  const model = await recorded(t, 'phases');
  const [small, large, all] = [timeOf(model, 'small_phase'), timeOf(model, 'large_phase'), timeOf(model, 'solve')];
  const body = timeOf(model, 'body');
  t.true(Math.abs(large / (small + large) - 3 / 4) < 0.1, `${large} of ${small + large}`);
  t.true(all > 0.95 * body, `${all} of ${body}`);
  t.deepEqual(hottest(model).slice(0, 4), ['main', 'large_phase', 'solve', 'body']);
});

test('call sites through creation: each call has the work that was created below it, and is on the path', async (t) => {
  const model = await recorded(t, 'phases');
  const steps: [string, string][] = [
    ['small_phase', 'solve(100);'],
    ['large_phase', 'solve(150);'],
    ['solve', 'pthread_create(&id, nullptr, body, &count)'],
  ];
  const body = timeOf(model, 'body');
  const sites = new Map<number, number>();
  const above = new Map<number, Set<string>>();
  const visit = (row: ViewRow, around: string): void => {
    const entity = row.subject.kind === 'entity' ? model.entities[row.subject.entity] : undefined;
    const inside = entity?.kind === 'procedure' ? entity.name.replace(/\(.*/, '') : around;
    if (entity?.rawKind === 'code-line' && entity.file.endsWith('creations.cc')) {
      sites.set(entity.line, (sites.get(entity.line) ?? 0) + (row.total[costIndex.time] ?? 0));
      above.set(entity.line, (above.get(entity.line) ?? new Set()).add(around));
    }
    for (const one of row.open(costIndex.npt)) visit(one, inside);
  };
  visit(viewOf(model, 'tree', 'lines'), '');
  const timeAt = (line: number): number => sites.get(line) ?? 0;
  const [small, large, creation] = steps.map(([, text]) => lineOf('creations.cc', text)) as [number, number, number];
  const [first, second] = [timeAt(large), timeAt(large + 1)];
  for (const [line, by] of [small, large, creation].map((line, k) => [line, steps[k]![0]] as const))
    t.deepEqual([...(above.get(line) ?? [by])], [by], `line ${line}`);
  const all = timeAt(small) + first + second;
  // Lines are known once debug information has been read, which takes longer if other programs run: a thread that was
  // created before that has no lines of its creator's callers on its path.
  t.true(all < 1.05 * timeAt(creation), `${timeAt(creation)} and ${all}`);
  const without = body - all;
  t.true(timeAt(small) <= 0.35 * body, `${timeAt(small)} of ${body}`);
  if (without > 0.5 * body) t.log(`${without} ns of ${body} were sampled before lines were known`);
  else t.true(Math.abs(second / body - 3 / 8) < 0.1, `${second} of ${body}; without lines ${without}`);
});

test('a thread created by a thread: the paths of both, without what C++ adds', async (t) => {
  const model = await recorded(t, 'nested');
  const way = hottest(model);
  t.deepEqual(way.slice(0, 3), ['main', 'outer', 'inner'], way.join(' > '));
  t.false(
    way.some((name) => name.startsWith('std::thread')),
    way.join(' > '),
  );
});

test('threads that create threads of their own kind have one path', async (t) => {
  const model = await recorded(t, 'divide');
  const way = hottest(model);
  t.deepEqual(way.slice(0, 3), ['main', 'divide', 'halve'], way.join(' > '));
  t.is(way.filter((name) => name === 'halve').length, 1);
});

test('std::threads belong to the places that create them, not to the C++ library', async (t) => {
  const { model, status, stderr } = await record(program('creations'), { args: ['places'], span: true });
  t.is(status, 0, stderr);
  const sites = workSpanOf(model)?.sites ?? [];
  const counts = sites.map(({ start, count }) => `${model.entities[start]?.name.replace(/\(.*/, '') ?? '?'}: ${count}`);
  t.deepEqual(counts.sort(), ['of_a_pair: 1', 'of_a_pair: 1', 'three: 3']);
});

test('more creations at a time than there is room for: nothing is lost but some of their paths', async (t) => {
  const model = await recorded(t, 'swarm');
  const body = timeOf(model, 'body');
  // The rest is creation: the kernel's part of it differs between machines, and grows if others have the CPUs.
  t.true(body > 0.2 * model.root.processorTimeNs, `${body} of ${model.root.processorTimeNs}`);
  t.true(timeOf(model, 'swarm') > 0.2 * body);
});

/** Processor time of a procedure, and of its part below each of some callers. */
function below(model: Model, name: string, callers: readonly string[]): { all: number; parts: number[] } {
  const parts = callers.map(() => 0);
  let all = 0;
  const visit = (row: ViewRow, around: readonly string[]): void => {
    const entity = row.subject.kind === 'entity' ? model.entities[row.subject.entity] : undefined;
    const called = entity?.kind === 'procedure' ? entity.name : '';
    if (called === name) {
      const ns = row.total[costIndex.time] ?? 0;
      all += ns;
      callers.forEach((caller, k) => (parts[k]! += around.includes(caller) ? ns : 0));
      return;
    }
    for (const one of row.open(costIndex.npt)) visit(one, [...around, called]);
  };
  visit(viewOf(model, 'tree'), []);
  return { all, parts };
}

for (const compiler of ['', '-clang'] as const) {
  const name = `openmp_callers${compiler}`;
  const openmp = needing('perf_event_open', 'process_vm_readv', openmpProgram(program('openmp_callers'), compiler));

  openmp(`${name}: what all threads of a parallel region execute is below its caller`, async (t) => {
    const { all, parts } = below(await recorded(t, 'phases', name), 'step', ['small_phase', 'large_phase']);
    const [small, large] = parts as [number, number];
    t.true(small + large > 0.93 * all, `${small} and ${large} of ${all}`);
    t.true(Math.abs(large / (small + large) - 3 / 4) < 0.06, `${small} and ${large}`);
  });

  openmp(`${name}: tasks are below the region whose threads execute them`, async (t) => {
    const { all, parts } = below(await recorded(t, 'tasks', name), 'step', ['produce']);
    t.true(parts[0]! > 0.93 * all, `${parts[0]!} of ${all}`);
  });

  openmp(`${name}: a region in a region is below the callers of both`, async (t) => {
    const { all, parts } = below(await recorded(t, 'nested', name), 'step', ['inner', 'outer']);
    t.true(parts[0]! > 0.93 * all && parts[1]! > 0.93 * all, `${parts.join(' and ')} of ${all}`);
  });
}
