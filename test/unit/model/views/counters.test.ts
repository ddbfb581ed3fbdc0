/** Hardware counters: what they say about contexts, and the reports without them, from profiles made by hand. */
import test from 'ava';
import {
  buildModel,
  checkInvariants,
  costIndex,
  countedInAll,
  countersOf,
  cyclesPerInstruction,
  derivedMetric,
  isMemoryBound,
  viewOf,
  type CounterName,
  type Model,
  type ViewRow,
} from '../../../../ts-frontend/src/model/index.js';
import { counterKinds } from '../../../../ts-frontend/src/model/profile/abi.js';
import { contextColumns, withoutCounters } from '../../../../ts-frontend/src/render/views/view.js';
import { ProfileBuilder, run } from '../../../support/profile-builder.js';

const plainText = { width: 200, colour: false, ascii: true, top: 20 };

/** `main` calls `stream` and `compute`, a second each; of each procedure, what was counted in its own code. */
function counted(amounts: Record<string, Partial<Record<CounterName, number>>>): Model {
  const raw = new ProfileBuilder({ processors: 2 })
    .stretch(1e9, [run('main', ['main', 'stream'])])
    .stretch(1e9, [run('main', ['main', 'compute'])])
    .build();
  const rows = Object.entries(amounts).flatMap(([procedure, its]) =>
    Object.entries(its).map(([name, amount]) => ({
      stack: raw.stacks.entity.findIndex((entity, k) => k > 0 && raw.entities[entity]?.name === procedure),
      counter: counterKinds[name as CounterName],
      amount,
    })),
  );
  return buildModel({
    ...raw,
    counted: {
      stack: Uint32Array.from(rows, ({ stack }) => stack),
      counter: Uint32Array.from(rows, ({ counter }) => counter),
      amount: Float64Array.from(rows, ({ amount }) => amount),
    },
  });
}
function rowOf(model: Model, name: string): ViewRow {
  const main = viewOf(model, 'tree').open(costIndex.npt)[0]!;
  return [main, ...main.open(costIndex.npt)].find(
    ({ subject }) => subject.kind === 'entity' && model.entities[subject.entity]?.name === name,
  )!;
}
const columns = (model: Model): string[] =>
  contextColumns(model, { view: 'tree', sort: 'npt', metrics: [] }, plainText).map(({ head }) => head);

const both = {
  stream: { cycles: 4e9, instructions: 1e9, cacheMisses: 2e7, tlbMisses: 1e6 },
  compute: { cycles: 1e9, instructions: 3e9, cacheMisses: 3e4, tlbMisses: 0 },
};

test('code with many cycles an instruction and many misses waits for memory, other code does not', (t) => {
  const model = counted(both);
  t.deepEqual(checkInvariants(model), []);
  t.is(cyclesPerInstruction(rowOf(model, 'stream').total), 4);
  t.true(isMemoryBound(rowOf(model, 'stream').total));
  t.false(isMemoryBound(rowOf(model, 'compute').total));
  t.is(cyclesPerInstruction(rowOf(model, 'main').total), 5 / 4);
  t.is(rowOf(model, 'main').self[costIndex.cycles], 0);
  for (const head of ['cyc/ins', 'bound by', 'miss/k', 'tlb/k']) t.true(columns(model).includes(head), head);
  t.false(columns(model).includes('remote/k'));
  t.deepEqual(withoutCounters(model, plainText), []);
});

test('slow instructions that miss no cache are not memory', (t) => {
  const model = counted({ stream: { cycles: 9e9, instructions: 1e9, cacheMisses: 1e5 } });
  t.false(isMemoryBound(rowOf(model, 'stream').total));
});

test('of little that was counted nothing is said', (t) => {
  const model = counted({ stream: { cycles: 1e8, instructions: 2e7, cacheMisses: 1e7 } });
  t.is(isMemoryBound(rowOf(model, 'stream').total), null);
});

test('without hardware counters one line says so, and columns are those of what is counted', (t) => {
  const model = counted({ stream: { faults: 1e4 } });
  t.deepEqual(countersOf(model.raw), ['faults']);
  t.is(isMemoryBound(rowOf(model, 'stream').total), null);
  t.regex(withoutCounters(model, plainText).join(' '), /no hardware counters/);
  t.true(columns(model).includes('faults'));
  t.false(columns(model).includes('cyc/ins'));
  t.deepEqual(countedInAll(model.raw), {
    cycles: null,
    instructions: null,
    cacheMisses: null,
    tlbMisses: null,
    remote: null,
    faults: 1e4,
  });
});

test('columns of counters are numbers in expressions', (t) => {
  const model = counted(both);
  const metric = derivedMetric(model, 'each = cycles_self / instructions_self');
  t.is(metric.unit, 'number');
  t.is(metric.value(rowOf(model, 'stream')), 4);
  t.throws(() => derivedMetric(model, 'wrong = cycles + npt'), { message: /adds or compares/ });
});
