/** Findings name code that a reader can change: the program's procedure, its loop, and what it calls of libraries. */
import test from 'ava';
import { buildModel, type Model } from '../../../../ts-frontend/src/model/index.js';
import { Purpose } from '../../../../ts-frontend/src/model/profile/abi.js';
import { ProfileBuilder as Builder, run, wait } from '../../../support/profile-builder.js';
import { findingSentences } from '../../../../ts-frontend/src/render/findings/index.js';
import { second } from '../../../support/example-profiles.js';
import { factsOf, nameOf, namesOf } from '../../../support/facts.js';

const sentence = (model: Model): string => {
  const { text, remedy } = findingSentences(model, model.findings[0]!, { ascii: true });
  return `${text} ${remedy}`;
};

test('instances of the C++ library’s templates belong to the procedure that calls them', (t) => {
  const sorts = ['main', 'median', 'std::sort<int*>', 'std::__introsort_loop<int*>'];
  const builder = new Builder({ processors: 2 })
    .stretch(second, [run('main', sorts)])
    .stretch(0.2 * second, [run('main', [...sorts, 'less'])])
    .stretch(second, [run('w1', ['main', 'work']), run('w2', ['main', 'work'])]);
  for (const name of sorts.slice(2)) builder.describe(name, { origin: 'standard' });
  const model = buildModel(builder.build());
  const [finding] = model.findings;
  t.deepEqual([finding?.kind, finding?.name], ['serial', 'median']);
  t.deepEqual(namesOf(model, factsOf(finding, 'serial').parts), ['std::sort<int*>']);
});

test('a thread that begins in the library is not its creator’s code', (t) => {
  const start = 'std::sys::backtrace::__rust_begin_short_backtrace';
  const model = buildModel(
    new Builder({ processors: 2 })
      .describe(start, { origin: 'standard' })
      .describe('memcpy', { origin: 'runtime' })
      .stretch(second, [run('w', [start, 'memcpy']), wait('main', ['main', 'join:w'])])
      .build(),
  );
  t.is(model.findings[0]?.name, start);
});

test('what runs in a thread that a run-time made is not its creator’s code, though its start has no name', (t) => {
  const start = ['main', 'runtime.newm', '_cgo_try_pthread_create', 'prog+0x1000'];
  const builder = new Builder({ processors: 2 })
    .describe('runtime.newm', { origin: 'runtime' })
    .describe('_cgo_try_pthread_create', { origin: 'runtime', purposes: Purpose.threadStart })
    .describe('prog+0x1000', { missing: 'stripped' })
    .describe('runtime.mcall', { origin: 'runtime' })
    .describe('runtime.memmove', { origin: 'runtime' })
    .describe('runtime.futexsleep', { origin: 'runtime' })
    .stretch(second, [run('w1', [...start, 'main.render', 'runtime.memmove']), run('w2', [...start, 'main.render'])])
    .stretch(0.4 * second, [run('w1', [...start, 'runtime.mcall']), run('w2', [...start, 'runtime.futexsleep'])])
    .stretch(0.9 * second, [run('w1', [...start, 'runtime.memmove']), run('w2', [...start, 'runtime.mcall'])]);
  t.is(buildModel(builder.build()).findings[0]?.name, 'main.render', 'not all that such threads do');
});

/** Two threads of which one holds the lock, in `compress` of another library, for `heldNs` each time. */
function held(heldNs: number): Model {
  const takes = ['main', 'append', 'mutex:archive'];
  const holds = [...takes, 'compress', 'deflate'];
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread' } });
  for (let k = 0; k < 50; k++)
    builder
      .stretch(0.01 * second, [run('a', holds), wait('b', takes)])
      .stretch(0.01 * second, [wait('a', takes), run('b', holds)]);
  for (const name of holds.slice(3)) builder.describe(name, { origin: 'installed' });
  return buildModel(builder.object('mutex:archive', { acquisitions: second / heldNs, contended: 100 }).build());
}

test('a lock’s holder is the procedure of the program, with what it calls; the advice depends on how long', (t) => {
  const model = held(1e6);
  const { holder, holderCalls, heldEachNs } = factsOf(model.findings[0], 'lock');
  t.deepEqual([nameOf(model, holder), nameOf(model, holderCalls), heldEachNs], ['append', 'compress', 1e6]);
  t.regex(
    sentence(model),
    /mostly held in append, which calls compress\b.*It is held for 1\.00 ms of processor time each time: do before/s,
  );
  t.regex(
    sentence(held(500)),
    /held for only 500 ns of processor time each time, but was taken 2,000,000 times: take it less often/,
  );
  t.regex(sentence(held(5000)), /Reduce waiting for lock archive: hold it for less time, take it less often, or split/);
});

test('of a lock that one procedure holds for long, and another often, the first is to hold it for less time', (t) => {
  const renews = ['main', 'renew', 'mutex:guard'],
    scans = ['main', 'reap', 'mutex:guard'];
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread' } });
  for (let k = 0; k < 50; k++)
    builder
      .stretch(0.018 * second, [run('a', [...scans, 'look']), wait('b', renews)])
      .stretch(0.002 * second, [wait('a', scans), run('b', renews)])
      .stretch(0.01 * second, [run('a', ['main', 'reap']), run('b', ['main', 'parse'])]);
  const model = buildModel(
    builder
      .object('mutex:guard', { acquisitions: 1_000_100, contended: 1000 })
      .call('renew', 'mutex:guard', 1_000_000)
      .call('reap', 'mutex:guard', 100)
      .build(),
  );
  const { longest } = factsOf(model.findings[0], 'lock');
  t.deepEqual(
    [nameOf(model, longest?.procedure ?? null), longest?.times, longest?.eachNs, longest?.othersEachNs],
    ['reap', 100, 9e6, 100],
  );
  t.regex(
    sentence(model),
    /reap holds it for 9\.00 ms of processor time each time \(100 times\), others for 100 ns: let it do before/,
  );
});

test('the loop of a procedure that has most of its time is said, its callees’ loops are not', (t) => {
  const outer = 'code-loop:loop at a.c:3',
    inner = 'code-loop:loop at a.c:5',
    others = 'code-loop:loop at b.c:2';
  const own = ['main', 'equalize', outer];
  const recorded = (innerNs: number, innerFile = '/src/a.c'): string | null => {
    const builder = new Builder({ processors: 2 });
    for (const [loop, file, line] of [
      [outer, '/src/a.c', 3],
      [inner, innerFile, 5],
    ] as const)
      builder.describe(loop, { record: builder.id('equalize'), file, line, naming: 'place' });
    builder.describe('equalize', { file: '/src/a.c', line: 1 });
    builder.describe(others, { record: builder.id('powf'), file: '/src/b.c', line: 2, naming: 'place' });
    builder
      .describe('powf', { origin: 'runtime' })
      .stretch(innerNs, [run('main', [...own, inner, 'powf', others])])
      .stretch(second - innerNs, [run('main', own)])
      .stretch(second, [run('w1', ['main', 'work']), run('w2', ['main', 'work'])]);
    const model = buildModel(builder.build());
    t.deepEqual([model.findings[0]?.kind, model.findings[0]?.name], ['serial', 'equalize']);
    return factsOf(model.findings[0], 'serial').loop;
  };
  t.is(recorded(0.9 * second), 'a.c:5');
  t.is(recorded(0.4 * second), 'a.c:3');
  t.is(recorded(0.9 * second, '/usr/include/list.h'), 'a.c:3', 'a line of a header that is compiled into it');
});

test('what runs under locks of one name is named, however many locks have it', (t) => {
  const builder = new Builder({ processors: 2 }).stretch(second, [run('main', ['main', 'read'])]);
  for (const lock of ['mutex:table#1', 'mutex:table#2'])
    builder
      .stretch(1.2 * second, [run('main', ['main', lock, 'assemble'])])
      .stretch(1.1 * second, [run('main', ['main', lock, 'invert'])])
      .stretch(second, [run('main', ['main', lock, 'multiply'])]);
  const model = buildModel(builder.build());
  const [finding] = model.findings;
  t.deepEqual([finding?.kind, finding?.name], ['serial', 'table']);
  t.deepEqual(namesOf(model, factsOf(finding, 'serial').parts), ['assemble', 'invert']);
});

test('threads that begin like the only one with work, and have none, are said, with the remedy to share it', (t) => {
  const workers = ['w1', 'w2', 'w3'];
  const recorded = (others: typeof run): Model => {
    const raw = new Builder({ processors: 4 })
      .stretch(0.02 * second, [run('main', ['main', 'send']), wait('w2', ['serve', 'cond:items'])])
      .stretch(second, [
        wait('main', ['main', 'join:w1']),
        run('w1', ['serve', 'handle']),
        others('w2', ['serve', 'cond:items']),
        others('w3', ['serve', 'cond:items']),
      ])
      .build();
    const main = raw.entities.findIndex(({ kind, name }) => kind === 'thread' && name === 'main');
    for (const one of raw.entities) if ([...workers, 'serve'].includes(one.name)) one.address = 0x1000;
    for (const thread of raw.threads) if (thread.entity !== main) thread.creator = main;
    return buildModel(raw);
  };
  const model = recorded(wait);
  const { siblings } = factsOf(model.findings[0], 'serial');
  t.deepEqual([nameOf(model, siblings?.start ?? null), siblings?.threads], ['serve', 2]);
  t.regex(sentence(model), /2 more threads that begin in serve, like.*Give the other threads a share of it/s);
  const busy = recorded(run).findings.find(({ kind }) => kind === 'serial');
  t.falsy(busy && factsOf(busy, 'serial').siblings, 'all of them work');
});
