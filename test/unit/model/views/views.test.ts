/** Views of calling contexts: rows agree with the tables, parts add up, and the user's own columns have units. */
import test from 'ava';
import {
  buildModel,
  checkInvariants,
  costIndex,
  derivedMetric,
  findSource,
  guidanceOfCosts,
  hottestLine,
  MetricError,
  noPaths,
  overheadKinds,
  viewOf,
  withoutCodeNs,
  type Model,
  type SourceLine,
  type ViewRow,
} from '../../../../ts-frontend/src/model/index.js';
import { ProfileBuilder, inKernel, overhead, overheadFor, run, wait } from '../../../support/profile-builder.js';
import { second, serialThenParallel } from '../../../support/example-profiles.js';

const nameOf = (model: Model, { subject }: ViewRow): string =>
  subject.kind === 'entity' ? (model.entities[subject.entity]?.name ?? '?') : subject.path;
/** A view as text: one line for each row, NPT and self NPT in ms. */
function outline(model: Model, row: ViewRow, depth = 0): string[] {
  const ms = (costs: Float64Array): number => Math.round((costs[costIndex.npt] ?? 0) / 1e6);
  const line = `${' '.repeat(depth)}${nameOf(model, row)}${row.recursive ? '*' : ''} ${ms(row.total)} ${ms(row.self)}`;
  return [line, ...row.open(costIndex.npt).flatMap((one) => outline(model, one, depth + 1))];
}

/** Two paths lead to `leaf`, one of them through recursive calls of `deep`. */
const twoPaths = (): Model =>
  buildModel(
    new ProfileBuilder({ processors: 2 })
      .stretch(second, [run('main', ['main', 'a', 'leaf']), run('w', ['start', 'b', 'deep', 'deep', 'leaf'])])
      .stretch(second, [run('main', ['main', 'a']), wait('w', ['start', 'mutex:m'])])
      .build(),
  );

test('tree: a row for each context, calls of a procedure by itself in one', (t) => {
  const model = twoPaths();
  t.deepEqual(outline(model, viewOf(model, 'tree')).slice(1), [
    ' main 1500 0',
    '  a 1500 1000',
    '   leaf 500 500',
    ' start 500 0',
    '  b 500 0',
    '   deep* 500 0',
    '    leaf 500 500',
    '  m 0 0',
  ]);
  t.deepEqual(checkInvariants(model), []);
});

/**
 * As recorded for code with lines: `main` calls `a` at line 3, `a` is at line 8, in a loop, and calls itself at line 9.
 */
const lined = (before: string[] = []): Model => {
  const builder = new ProfileBuilder({ processors: 2 });
  if (before.length > 0) builder.stretch(second / 10, [run('main', before)]);
  const raw = builder
    .stretch(second, [run('main', ['main', 'code-line:3', 'a', 'code-loop:7', 'code-line:8'])])
    .stretch(second, [
      run('main', ['main', 'code-line:3', 'a', 'code-line:9', 'a', 'code-line:9', 'a', 'code-line:10']),
    ])
    .stretch(second, [run('main', ['main'])])
    .build();
  const procedure = (name: string): number => raw.entities.findIndex((one) => one.name === name);
  const scopeOf = (line: number): number => procedure(line === 3 ? 'main' : 'a');
  return buildModel({
    ...raw,
    entities: raw.entities.map((one) =>
      one.kind === 'code-line' || one.kind === 'code-loop'
        ? { ...one, name: '', file: '/src/a.c', line: Number(one.name), record: scopeOf(Number(one.name)) }
        : one,
    ),
  });
};

test('lines: their own time, and that of what they call, once however often a path is there', (t) => {
  const model = lined();
  const [file, ...others] = findSource(model, 'a.c');
  t.is(others.length, 0);
  const npt = ({ total, self }: SourceLine): number[] =>
    [total, self].map((costs) => (costs[costIndex.npt] ?? 0) / second);
  t.deepEqual(
    file!.lines.map((line) => [line.line, ...npt(line)]),
    [
      [3, 2, 0],
      [8, 1, 1],
      [9, 1, 0],
      [10, 1, 1],
    ],
  );
  t.is((file!.total[costIndex.npt] ?? 0) / second, 2);
  t.deepEqual(findSource(model, 'b.c'), []);
  t.is(hottestLine(file!)?.line, 8);
  const a = model.entities.find(({ name }) => name === 'a')!;
  t.deepEqual([a.nptNs, a.nptSelfNs], [2 * second, 2 * second]);
  t.is(model.entities.find(({ name }) => name === 'loop at a.c:7')!.nptSelfNs, second);
  t.is(withoutCodeNs(model), second); // in `main` alone
  t.is(withoutCodeNs(twoPaths()), null);
  t.deepEqual(checkInvariants(model), []);
});

test('code of a procedure whose hook has not been called yet belongs to the procedure that is on the path', (t) => {
  for (const path of [
    ['main', 'code-line:8'],
    ['main', 'code-loop:7', 'code-line:8'],
  ])
    t.deepEqual(checkInvariants(lined(path)), []);
});

test('lines are rows of tree and flat where asked for, below the loop that they are in', (t) => {
  const model = lined();
  t.deepEqual(outline(model, viewOf(model, 'tree')).slice(1), [
    ' main 3000 1000',
    '  a* 2000 1000',
    '   loop at a.c:7 1000 1000',
  ]);
  const flat = outline(model, viewOf(model, 'flat', 'lines')).map((line) => line.trim());
  t.deepEqual(
    flat.filter((line) => line.startsWith('a.c') || line.startsWith('loop')),
    ['a.c:3 2000 0', 'loop at a.c:7 1000 1000', 'a.c:8 1000 1000', 'a.c:9 1000 0', 'a.c:10 1000 1000'],
  );
});

test('callers: what costs time by itself, divided among who called it', (t) => {
  const model = twoPaths();
  t.deepEqual(outline(model, viewOf(model, 'callers')).slice(1), [
    ' a 1000 1000',
    '  main 1000 1000',
    ' leaf 1000 1000',
    '  a 500 500',
    '   main 500 500',
    '  deep* 500 500',
    '   b 500 500',
    '    start 500 500',
    ' m 0 0',
    '  start 0 0',
  ]);
});

test('waiting stands in its own column, and adds up', (t) => {
  const model = twoPaths();
  const root = viewOf(model, 'tree');
  t.is(root.total[costIndex.blocked], second);
  const start = root.open(costIndex.blocked)[0];
  t.is(start && nameOf(model, start), 'start');
  t.is(start?.total[costIndex.blocked], second);
  t.is(start?.self[costIndex.blocked], 0);
});

test('idleness and overhead of contexts are those of metrics.md, section 4', (t) => {
  const model = buildModel(
    new ProfileBuilder({ processors: 4 })
      .stretch(second, [run('main', ['main', 'alone'])])
      .stretch(second, [run('main', ['main', 'half']), overhead('w', ['start'])])
      .build(),
  );
  const main = viewOf(model, 'tree').open(costIndex.npt)[0]!;
  const [alone, half] = main.open(costIndex.idle);
  t.is(alone!.total[costIndex.idle], 3 * second);
  t.is(half!.total[costIndex.idle], second);
  t.is(viewOf(model, 'tree').total[costIndex.idle], model.root.idlenessNs);
  t.is(viewOf(model, 'tree').total[costIndex.overhead], second);
});

test('overhead by kind, and what both say of each context', (t) => {
  const raw = new ProfileBuilder({
    processors: 2,
    head: { publisher: 'pthread', paths: { ...noPaths, running: true, kernel: true } },
  })
    .stretch(second, [run('a', ['start', 'both'])])
    .stretch(second, [inKernel('futex', 'a', ['start', 'both'])])
    .stretch(second, [inKernel('lock', 'a', ['start', 'fine']), run('b', ['start', 'fine'])])
    .stretch(second, [run('a', ['start', 'fine', 'GOMP_barrier']), inKernel('yield', 'b', ['start', 'fine'])])
    .stretch(second, [inKernel('thread', 'a', ['start', 'create']), inKernel('read', 'b', ['start', 'reads'])])
    .stretch(second, [run('a', ['start', 'alone'])])
    .build();
  const model = buildModel({
    ...raw,
    entities: raw.entities.map((one) => (one.name === 'GOMP_barrier' ? { ...one, origin: 'openmp' } : one)),
  });
  const tree = viewOf(model, 'tree');
  const { effort } = model;
  t.deepEqual(effort?.overhead, { synchronization: 2 * second, scheduling: second, threads: second, library: second });
  t.is(effort?.overheadNs, 5 * second);
  for (const kind of overheadKinds) t.is(tree.total[costIndex[kind]], effort?.overhead[kind], kind);
  const start = tree.open(costIndex.npt)[0]!;
  const said = start
    .open(costIndex.npt)
    .map((row) => [
      nameOf(model, row),
      guidanceOfCosts(model, row.total),
      (row.total[costIndex.overhead] ?? 0) / second,
    ]);
  t.deepEqual(
    said.sort(([a], [b]) => String(a).localeCompare(String(b))),
    [
      ['alone', 'finer', 0],
      ['both', 'another', 1],
      ['create', 'coarser', 1],
      ['fine', 'coarser', 3],
      ['reads', 'effective', 0],
    ],
  );
  t.deepEqual(checkInvariants(model), []);
});

test('the package says what its overhead is for; without the kernel’s samples nothing is said of threads', (t) => {
  const stretches = (builder: ProfileBuilder): ProfileBuilder =>
    builder
      .stretch(second, [overheadFor('thread', 'a', ['main'])])
      .stretch(second, [overheadFor('lock', 'a', ['main'])])
      .stretch(second, [overhead('', [])]);
  const ofPackage = buildModel(
    stretches(new ProfileBuilder({ processors: 1, head: { publisher: 'threadlib' } })).build(),
  );
  t.deepEqual(ofPackage.effort?.overhead, {
    synchronization: second,
    scheduling: second,
    threads: second,
    library: 0,
  });
  t.is(guidanceOfCosts(ofPackage, viewOf(ofPackage, 'tree').total), 'coarser');
  const ofThreads = buildModel(
    new ProfileBuilder({ processors: 1, head: { publisher: 'pthread' } }).stretch(second, [run('a', ['f'])]).build(),
  );
  t.is(guidanceOfCosts(ofThreads, viewOf(ofThreads, 'tree').total), null);
});

test('columns of one’s own', (t) => {
  const model = buildModel(serialThenParallel().build());
  const root = viewOf(model, 'flat');
  const value = (definition: string): number => derivedMetric(model, definition).value(root);
  t.is(value('p = time / npt'), 2.5);
  t.is(value('x = 2 * (npt - npt_self) / elapsed'), 2);
  t.is(value('lost = elapsed * processors - time'), 3e9);
  t.is(derivedMetric(model, 'lost = elapsed * processors - time').unit, 'time');
  t.is(value('m = max(npt, time) / min(npt, time)'), 2.5);
  t.is(value('z = npt / (npt - npt)'), 0, 'nothing to divide by');
  t.is(value('n = -1 + 3 - -1'), 3);
});

for (const [definition, message] of [
  ['npt / time', /no name/],
  ['x = npt + 1', /a time and a number/],
  ['x = npt * time', /neither a time nor a plain number/],
  ['x = foo', /no column "foo"/],
  ['x = (npt', /"\)" is missing before "the end"/],
  ['x = npt time', /"time" does not belong there/],
  ['x =', /it ends where/],
  ['x = max(npt)', /"," is missing/],
] as const)
  test(`refused: ${definition}`, (t) => {
    const model = twoPaths();
    const error = t.throws(() => derivedMetric(model, definition), { instanceOf: MetricError });
    t.regex(error.message, message);
  });
