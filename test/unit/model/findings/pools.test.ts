/** Pools of threads, locks with several conditions, and code that takes locks of the C library. */
import test from 'ava';
import { buildModel } from '../../../../ts-frontend/src/model/build-model.js';
import { checkInvariants } from '../../../../ts-frontend/src/model/invariants.js';
import type { Model } from '../../../../ts-frontend/src/model/index.js';
import { factsOf, nameOf, namesOf } from '../../../support/facts.js';
import { ProfileBuilder as Builder, run, wait } from '../../../support/profile-builder.js';
import { findingSentences } from '../../../../ts-frontend/src/render/findings/index.js';

const second = 1e9;
const remedyOf = (model: Model): string => findingSentences(model, model.findings[0]!, { ascii: false }).remedy;

/** Two workers share pieces of work; then one has the last and largest piece. */
function pool(main: ReturnType<typeof wait>): Model {
  const work = ['worker', 'render'],
    todo = ['worker', 'condition:todo'];
  return buildModel(
    new Builder({ processors: 2, head: { publisher: 'pthread' } })
      .stretch(0.6 * second, [main, run('w#1', work), run('w#2', work)])
      .stretch(0.4 * second, [main, run('w#1', work), wait('w#2', todo)])
      .stretch(0.01 * second, [main, run('w#1', work), run('w#2', work)])
      .object('condition:todo', { contended: 2 })
      .build(),
  );
}

test('the largest piece of work comes last: the division, although all threads of the pool end together', (t) => {
  const model = pool(wait('main', ['main', 'condition:done']));
  const [first] = model.findings;
  const { pool: isPool, evenNs } = factsOf(first, 'uneven-division');
  t.deepEqual([first?.name, isPool, Math.round(evenNs / 1e6)], ['render', true, 200]);
  t.regex(remedyOf(model), /^Start the largest pieces of work first, or divide them/);
  t.deepEqual(checkInvariants(model), []);
});

/**
 * Two threads of a pool take small pieces; then one of them has a chain of large ones, each after the one before, and
 * `other` in place of small pieces for `shared` of the former time. `starts`: where the two begin.
 */
function chain(shared: number, starts: readonly [number, number]): Model {
  const piece = ['worker', 'assemble'],
    main = wait('main', ['main', 'join:end']);
  return buildModel(
    new Builder({ processors: 2, head: { publisher: 'pthread', pathNs: second } })
      .stretch(0.4 * shared * second, [main, run('w#1', piece), run('w#2', piece)])
      .stretch(0.4 * (1 - shared) * second, [main, run('w#1', ['worker', 'factor']), run('w#2', piece)])
      .stretch(0.6 * second, [main, run('w#1', ['worker', 'factor']), wait('w#2', ['worker', 'condition:todo'])])
      .describe('thread:w#1', { address: starts[0] })
      .describe('thread:w#2', { address: starts[1] })
      .object('condition:todo', { contended: 20 })
      .build(),
  );
}

test('pieces that are not alike: threads that take them from one queue are no stages', (t) => {
  const same = [64, 64] as const;
  t.is(chain(0.7, same).findings[0]?.facts.form, 'serial');
  t.is(chain(0.1, same).findings[0]?.facts.form, 'slowest-stage', 'they hardly run the same');
  t.is(chain(0.7, [64, 128]).findings[0]?.facts.form, 'slowest-stage', 'they begin in different procedures');
});

test('a chain of one thread is serial, whether it is beside others for a moment more or less', (t) => {
  for (const shared of [0.5, 0.7, 0.9, 1]) {
    const [first] = chain(shared, [64, 64]).findings;
    t.deepEqual([first?.facts.form, first?.name], ['serial', 'factor'], String(shared));
  }
});

/** The only thread with work, which main creates and passes it on to, and what it runs itself where it begins. */
function onlyOne(itself: number): Model {
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread', pathNs: second } });
  const waiting = wait('main', ['main', 'condition:done']);
  for (let k = 0; k < 20; k++)
    builder
      .stretch(0.03 * second, [waiting, run('worker', ['main', 'start', 'encode'])])
      .stretch(0.015 * second, [waiting, run('worker', ['main', 'start', 'filter'])])
      .stretch(itself * second, [waiting, run('worker', ['main', 'start'])])
      .stretch(0.001 * second, [run('main', ['main']), wait('worker', ['main', 'start', 'condition:todo'])]);
  const raw = builder.object('condition:done', { contended: 20 }).object('condition:todo', { contended: 20 }).build();
  const main = raw.entities.findIndex(({ kind, name }) => kind === 'thread' && name === 'main');
  for (const thread of raw.threads) if (thread.entity !== main) thread.creator = main;
  return buildModel(raw);
}

test('the only thread with work is named, whatever little it runs itself', (t) => {
  for (const itself of [0, 0.001, 0.004]) {
    const model = onlyOne(itself),
      [first] = model.findings;
    const { worker, parts } = factsOf(first, 'serial');
    t.deepEqual(
      [first?.name, worker && nameOf(model, worker.thread), namesOf(model, parts)],
      ['worker', 'worker', ['encode', 'filter']],
      String(itself),
    );
  }
});

/**
 * Three filters of a chain run the same code, each between two of the queues that one line creates: the first one waits
 * for room in the second queue, the last one for results in the third, the one between them (`middle`) for nothing.
 */
function filters(waits: readonly [string, string]): Model {
  const code = ['filter', 'convolve'],
    main = wait('main', ['main', 'join:end']),
    [first, last] = waits.map((at, k) => wait(`filter#${2 * k}`, ['filter', at, `condition:queue#${k}`]));
  return buildModel(
    new Builder({ processors: 2, head: { publisher: 'pthread', pathNs: second } })
      .stretch(0.1 * second, [main, run('filter#0', code), run('filter#1', code), last!])
      .stretch(0.7 * second, [main, first!, run('filter#1', code), last!])
      .stretch(0.2 * second, [main, first!, run('filter#1', code), run('filter#2', code)])
      .describe('thread:filter#0', { address: 64 })
      .describe('thread:filter#1', { address: 64 })
      .describe('thread:filter#2', { address: 64 })
      .object('condition:queue#0', { contended: 100 })
      .object('condition:queue#1', { contended: 100 })
      .build(),
  );
}

test('threads of equal code that wait at different places for objects of one name are stages, not a pool', (t) => {
  const { stage, next } = factsOf(filters(['put', 'get']).findings[0], 'slowest-stage');
  t.deepEqual(
    [stage.workNs, next.workNs].map((ns) => Math.round(ns / 1e6)),
    [1000, 200],
  );
  t.is(filters(['get', 'get']).findings[0]?.facts.form, 'uneven-division', 'each may have a queue of its own');
});

test('pieces each of which needs the one before, whichever thread of the pool takes them: serial code', (t) => {
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread', pathNs: 2 * second } });
  const main = wait('main', ['main', 'condition:done']);
  for (let k = 0; k < 20; k++)
    builder.stretch(0.1 * second, [
      main,
      run(`w#${1 + (k % 2)}`, ['worker', 'render']),
      wait(`w#${2 - (k % 2)}`, ['worker', 'condition:todo']),
    ]);
  const [first] = buildModel(builder.object('condition:todo', { contended: 20 }).build()).findings;
  t.is(factsOf(first, 'serial').oneAtATime, 2);
  t.is(first?.name, 'render');
});

/** Four threads run one at a time; those that wait do so at two conditions in turn, and `idle` others all the time. */
function monitor(idle = 0): Model {
  const builder = new Builder({ processors: 2 });
  const resting = Array.from({ length: idle }, (_, k) => wait(`idle ${k}`, ['start', 'evaluate', 'condition:enter']));
  for (let k = 0; k < 100; k++) {
    const others = [0, 1, 2, 3].filter((one) => one !== k % 4).map((one) => `w${one}`);
    const at = ['start', 'evaluate', `condition:${k % 2 === 0 ? 'enter' : 'retry'}`];
    builder
      .stretch(0.03 * second, [
        run(`w${k % 4}`, ['start', 'evaluate']),
        ...others.map((one) => wait(one, at)),
        ...resting,
      ])
      .stretch(0.02 * second, [
        run(`w${k % 4}`, ['start', 'evaluate', 'add']),
        ...others.map((one) => wait(one, k === 0 ? ['start', 'begin', 'condition:enter'] : at)),
        ...resting,
      ]);
  }
  for (const name of ['condition:enter', 'condition:retry']) builder.object(name, { contended: 50 });
  return buildModel(builder.build());
}

test('a lock with two conditions is one lock, with one finding and the saving of both', (t) => {
  const model = monitor();
  const locks = model.findings.filter(({ facts }) => facts.form === 'lock');
  t.is(locks.length, 1);
  const { also, exclusion } = factsOf(locks[0], 'lock');
  t.deepEqual([also.length, exclusion], [1, { threads: 4 }]);
  t.true(locks[0]!.savingNs > 0.4 * model.elapsedNs, 'each of both is waited for in half of the time only');
  t.regex(findingSentences(model, locks[0]!, { ascii: false }).text, /\(the same threads wait at both\)/);
});

const excluded = (model: Model): number =>
  model.findings.filter(({ facts }) => facts.form === 'lock' && facts.exclusion !== null).length;

test('threads without work do not wait for a lock; where most of the waiting is theirs, it is none', (t) => {
  t.is(excluded(monitor()), 1);
  t.is(excluded(monitor(6)), 0);
});

test('hot code that takes a lock of the C library: by several threads, with what to do instead', (t) => {
  const counting = (threads: number): Model =>
    buildModel(
      new Builder({ processors: threads })
        .describe('rand', { origin: 'runtime', libraryLock: 'random' })
        .stretch(
          second,
          Array.from({ length: threads }, (_, k) => run(`w#${k}`, ['count', 'rand'])),
        )
        .build(),
    );
  const model = counting(2);
  t.is(factsOf(model.findings[0], 'optimize').library?.of, 'random');
  t.regex(remedyOf(model), /^rand takes a lock of the C library in each call: give each thread a generator of its own/);
  t.is(factsOf(counting(1).findings[0], 'optimize').library, null);
});

test('a finding that says it could save more than it costs breaks an invariant', (t) => {
  const model = pool(wait('main', ['main', 'condition:done']));
  const [first] = model.findings;
  factsOf(first, 'uneven-division').evenNs = 2 * first!.costNs;
  t.regex(checkInvariants(model).join('\n'), /uneven-division about .*: its evenNs and its cost/);
});

/**
 * Main hands each piece to one of three workers, and waits for its result; `beside`: another one works meanwhile;
 * `gap`: nobody is woken for so long. `waits`: how often each side waited, `ofMain`: main, if not as often.
 */
function oneByOne({ beside = false, gap = 0, waits = 90, ofMain = 0 } = {}): Model {
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread' } });
  for (let k = 0; k < 90; k++) {
    const names = [0, 1, 2].map((n) => `w${(k + n) % 3}`) as [string, string, string];
    const task = (name: string): ReturnType<typeof run> => run(name, ['start', 'price']);
    const rest = (name: string): ReturnType<typeof wait> => wait(name, ['start', 'take', 'condition:todo']);
    const done = wait('main', ['main', 'report', 'condition:done']);
    builder
      .stretch(0.001 * second, [run('main', ['main', 'submit']), ...names.map(rest)])
      .stretch(0.01 * second, [done, task(names[0]), (beside ? task : rest)(names[1]), rest(names[2])]);
    if (gap > 0) builder.stretch(gap * second, [done, ...names.map(rest)]);
  }
  builder.object('condition:todo', { contended: waits }).object('condition:done', { contended: ofMain || waits });
  return buildModel(builder.build());
}

test('a thread that waits far less often than those that work rests until a time, and hands out nothing', (t) => {
  const isAwaited = ({ findings }: Model): boolean =>
    findings.some(({ facts }) => facts.form === 'passed-data' && facts.awaited !== null);
  t.true(isAwaited(oneByOne({ waits: 900, ofMain: 300 })), 'three workers wait 300 times each');
  t.false(isAwaited(oneByOne({ waits: 900, ofMain: 30 })));
});

test('pieces so small that waking takes most of the time are not awaited: one thread would do all sooner', (t) => {
  const isAwaited = ({ findings }: Model): boolean =>
    findings.some(({ facts }) => facts.form === 'passed-data' && facts.awaited !== null);
  t.true(isAwaited(oneByOne({ gap: 0.01, waits: 90_000 })), 'without the gaps it would take half of the time');
  t.false(isAwaited(oneByOne({ gap: 0.03, waits: 90_000 })));
});

test('threads of another pool, which has no work, do not wait for its results', (t) => {
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread' } });
  const names = ['w1', 'w2', 'w3'];
  for (let k = 0; k < 30; k++) {
    const idle = ['p1', 'p2', 'p3'].map((name) => wait(name, ['pool', 'condition:tasks']));
    const rest = (name: string): ReturnType<typeof wait> => wait(name, ['start', 'take', 'condition:todo']);
    builder.stretch(0.01 * second, [
      ...idle,
      run(names[k % 3]!, ['start', 'price']),
      rest(names[(k + 1) % 3]!),
      rest(names[(k + 2) % 3]!),
    ]);
  }
  for (const name of ['condition:todo', 'condition:tasks']) builder.object(name, { contended: 60 });
  const { findings } = buildModel(builder.build());
  t.false(findings.some(({ facts }) => facts.form === 'passed-data' && facts.awaited !== null));
});

test('a pool that gets one piece at a time, since main waits for each result: more pieces before waiting', (t) => {
  const model = oneByOne();
  const [first] = model.findings;
  t.is(first?.name, 'price');
  const { awaited } = factsOf(first, 'passed-data');
  const nameOf = (id?: number): string | undefined => model.entities[id ?? 0]?.name;
  t.deepEqual([nameOf(awaited?.thread), nameOf(awaited?.object), awaited?.idle], ['main', 'done', 2]);
  t.true(first!.savingNs > 0.4 * model.elapsedNs && first!.savingNs <= 0.5 * model.elapsedNs);
  t.regex(remedyOf(model), /^Hand out more pieces before waiting for the first result/);
  t.deepEqual(checkInvariants(model), []);
  t.not(oneByOne({ beside: true }).findings[0]?.facts.form, 'passed-data', 'both processors have work');
  t.is(oneByOne({ gap: 0.005 }).findings[0]?.facts.form, 'nothing-runs');
});
