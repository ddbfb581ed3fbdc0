/** Code whose time is in several states or procedures: what all of it costs is said once, in one finding. */
import test from 'ava';
import { buildModel, type Finding, type Model, type OptimizeFacts } from '../../../../ts-frontend/src/model/index.js';
import { findingSentences } from '../../../../ts-frontend/src/render/findings/index.js';
import { factsOf, ms } from '../../../support/facts.js';
import { ProfileBuilder as Builder, run, spin, wait, type Doing } from '../../../support/profile-builder.js';

const second = 1e9;
const sentence = (model: Model, finding: Finding): string => {
  const { text, remedy } = findingSentences(model, finding, { ascii: true });
  return `${text} ${remedy}`;
};

/** Two threads search for that time, then one of them while the other one waits at a barrier. */
function searched(both: number, alone: number): Model {
  const a = ['main', 'start', 'search'],
    b = ['main', 'work', 'search'];
  return buildModel(
    new Builder({ processors: 2 })
      .stretch(both * second, [run('main', a), run('w', b)])
      .stretch(alone * second, [wait('main', ['main', 'start', 'barrier:step']), run('w', b)])
      .build(),
  );
}

test('unevenly divided code that may become faster: all of its time, while all processors are busy as well', (t) => {
  const model = searched(0.4, 0.6),
    [first] = model.findings;
  t.is(first?.kind, 'imbalance');
  const { faster } = factsOf(first, 'uneven-division');
  t.deepEqual([model.entities[faster!.entity]?.name, ms(faster!.ns), ms(faster!.busyNs)], ['search', 1000, 400]);
  t.regex(sentence(model, first!), /Or make search faster, which takes 1\.00 s of 1\.00 s .* 400 ms of that while all/);
});

test('code of which a division saves more than half is not said to become faster', (t) => {
  const builder = new Builder({ processors: 8 });
  const others = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const all: Doing[] = others.map((thread) => wait(thread, ['main', 'join:w']));
  builder.stretch(second, [...all, run('w', ['main', 'work', 'search'])]);
  builder.stretch(
    0.1 * second,
    [...others, 'w'].map((thread) => run(thread, ['main', 'work', 'search'])),
  );
  for (const { facts } of buildModel(builder.build()).findings)
    if (facts.form === 'uneven-division') t.is(facts.faster, null);
  t.pass();
});

/** One thread reads, sorts and so on for these times; another one is beside it if it waits. */
function inPieces(times: Readonly<Record<string, number>>, beside: boolean): Model {
  const builder = new Builder({ processors: 2 });
  const others = beside ? [wait('w', ['main', 'work', 'condition:more'])] : [];
  for (const [name, time] of Object.entries(times))
    builder.stretch(time * second, [run('main', ['main', name]), ...others]);
  return buildModel(builder.build());
}

test('serial code of one thread, of which no procedure has half: one finding about the thread', (t) => {
  const times = {
    read: 0.3,
    sort: 0.25,
    index: 0.2,
    write: 0.15,
    a: 0.004,
    b: 0.004,
    c: 0.004,
    d: 0.004,
  };
  const model = inPieces(times, true),
    [first, ...others] = model.findings;
  t.deepEqual([first?.kind, model.entities[first!.entity]?.kind, first?.name], ['serial', 'thread', 'main']);
  // what each of a, b, c and d has is too little for a finding, but not for the sum
  t.deepEqual([ms(first!.costNs), ms(first!.savingNs)], [916, 458]);
  const { pieces } = factsOf(first, 'serial');
  t.deepEqual(
    pieces.map(({ entity, costNs }) => [model.entities[entity]?.name, ms(costNs)]),
    [
      ['read', 300],
      ['sort', 250],
      ['index', 200],
      ['write', 150],
    ],
  );
  t.false(others.some(({ facts }) => facts.form === 'serial'));
  t.regex(sentence(model, first!), /All code that thread main runs alone costs 916 ms .* No procedure has half of it/);
  t.regex(sentence(model, first!), /spread over 2 processors, it would take up to 458 ms less/);
});

test('serial code of one thread, of which one procedure has most: that one, with what all of it costs', (t) => {
  const [first, ...others] = inPieces({ read: 0.6, sort: 0.15, index: 0.15 }, true).findings;
  t.deepEqual([first?.kind, first?.name, ms(first!.costNs)], ['serial', 'read', 600]);
  const { inAll, pieces } = factsOf(first, 'serial');
  t.deepEqual([ms(inAll!.costNs), ms(inAll!.spreadNs), pieces], [900, 450, []]);
  for (const one of others) if (one.facts.form === 'serial') t.is(one.facts.inAll, null);
});

test('a program with one thread: one finding, with the procedures that would have to become faster', (t) => {
  const model = inPieces({ read: 0.3, sort: 0.25, index: 0.2, write: 0.15 }, false),
    [first, ...others] = model.findings;
  t.deepEqual([first?.kind, first?.name, ms(first!.costNs), ms(first!.savingNs)], ['serial', 'main', 900, 450]);
  t.false(others.some(({ facts }) => facts.form === 'serial'));
  const text = sentence(model, first!);
  t.regex(text, /All code of thread main, the program's only one, costs 900 ms of 900 ms/);
  t.regex(text, /the largest parts are read 300 ms, .* Without read it would take 300 ms less\.$/);
});

test('a thread that is alone nearly all the time: named if the largest procedure has less than three fifths', (t) => {
  const named = (read: number, sort: number, rest: number): string[] => {
    const builder = new Builder({ processors: 2 });
    for (const [name, time] of [
      ['read', read],
      ['sort', sort],
    ] as const)
      builder.stretch(time * second, [run('main', ['main', name]), wait('w', ['main', 'work', 'condition:more'])]);
    builder.stretch(rest * second, [run('main', ['main', 'sum']), run('w', ['work', 'sum'])]);
    return buildModel(builder.build()).findings.flatMap(({ facts, name }) => (facts.form === 'serial' ? [name] : []));
  };
  t.deepEqual(named(0.5, 0.4, 0.1), ['main']);
  t.is(named(0.7, 0.2, 0.1)[0], 'read');
  t.deepEqual(named(0.3, 0.25, 0.45), ['read', 'sort'], 'between parallel code: 55 % of the run');
});

test('serial code in one procedure that two paths lead to is one piece', (t) => {
  const builder = new Builder({ processors: 2 });
  for (const caller of ['load', 'save', 'check'])
    builder.stretch(0.25 * second, [run('main', ['main', caller, 'scan'])]);
  builder.stretch(0.1 * second, [run('main', ['main', 'rest'])]);
  const found = buildModel(builder.build()).findings.filter(({ facts }) => facts.form === 'serial');
  t.is(found.filter(({ name }) => name === 'scan').length, 1);
  t.is(ms(found[0]!.costNs), 750);
});

test('serial code that also runs while all processors are busy: without it, all of its time goes', (t) => {
  const builder = new Builder({ processors: 2 });
  const inMain = ['main', 'rank'];
  builder.stretch(0.5 * second, [run('main', inMain)]);
  builder.stretch(0.3 * second, [run('main', inMain), run('w', ['work', 'count'])]);
  for (let k = 0; k < 3; k++)
    builder.stretch(0.1 * second, [run('main', ['main', 'rest']), run('w', ['work', 'other'])]);
  const model = buildModel(builder.build());
  const serial = model.findings.find(({ facts, name }) => facts.form === 'serial' && name === 'rank');
  t.deepEqual([ms(serial!.costNs), ms(factsOf(serial, 'serial').allNs)], [500, 650]);
  t.regex(sentence(model, serial!), /650 ms less \(with 150 ms that it takes at other times\)/);
});

test('a team whose regions gain nothing: one thread takes as long', (t) => {
  const rest = 'futex:inside libgomp.so.1';
  const serial = (regions: number): Finding => {
    const builder = new Builder({ processors: 2 });
    for (const name of ['GOMP_parallel', 'worker', rest]) builder.describe(name, { origin: 'openmp' });
    const region = (thread: string): Doing => run(thread, ['main', thread === 'w' ? 'worker' : 'GOMP_parallel', 'add']);
    builder.stretch(0.9 * second, [run('main', ['main', 'unpack']), spin('w', ['main', 'worker', rest])]);
    builder.stretch(regions * second, [region('main'), region('w')]);
    builder.stretch(0.05 * second, [wait('main', ['main', rest]), wait('w', ['main', 'worker', rest])]);
    return buildModel(builder.build()).findings.find(({ facts }) => facts.form === 'serial')!;
  };
  const few = serial(0.02);
  t.is(ms(factsOf(few, 'serial').teamNs!), 30, '0.97 s, of which one thread takes 0.94 s');
  t.is(factsOf(serial(0.3), 'serial').teamNs, null, 'regions that gain a quarter');
});

test('code below a procedure that has half of all work: that is named, too, with all of its time', (t) => {
  const optimize = (within: number): OptimizeFacts => {
    const builder = new Builder({ processors: 2 });
    const both = (share: number, path: string[]): void => {
      builder.stretch(
        share * second,
        ['a', 'b'].map((thread) => run(thread, ['start', ...path])),
      );
    };
    both(0.3, ['transform', 'sort']);
    for (let k = 0; k < 10; k++) both(within / 10, ['transform', `part${k}`]);
    for (let k = 0; k < 10; k++) both((0.7 - within) / 10, [`other${k}`]);
    return factsOf(buildModel(builder.build()).findings[0], 'optimize');
  };
  t.is(ms(optimize(0.5).around!.ns), 800);
  t.is(optimize(0.05).around, null, 'hardly more than the code itself, and not half of all');
});
