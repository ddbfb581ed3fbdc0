/** Cases that real programs showed: work that threads do in turn, children, yields, and the choice of names. */
import test from 'ava';
import { abi, buildModel, noPaths, type Model } from '../../../../ts-frontend/src/model/index.js';
import { findingSentences } from '../../../../ts-frontend/src/render/findings/index.js';
import { factsOf, ms, namesOf } from '../../../support/facts.js';
import { inKernel, io, ProfileBuilder as Builder, run, spin, wait } from '../../../support/profile-builder.js';

const second = 1e9;
const sentence = (model: Model): string => {
  const { text, remedy } = findingSentences(model, model.findings[0]!, { ascii: true });
  return `${text} ${remedy}`;
};

/** Four threads write rows; `beside`: the part of the time in which two of them do so at once. */
function rows(beside: number, object: string): Model {
  const builder = new Builder({ processors: 2 });
  for (let k = 0; k < 40; k++) {
    const doing = (n: number, works: boolean): ReturnType<typeof run> =>
      works ? run(`w${n % 4}`, ['pool', 'write_row']) : wait(`w${n % 4}`, ['pool', object]);
    for (const [part, atOnce] of [
      [1 - beside, 1],
      [beside, 2],
    ] as const)
      if (part > 0)
        builder.stretch(
          0.05 * part * second,
          [0, 1, 2, 3].map((n) => doing(k + n, n < atOnce)),
        );
  }
  return buildModel(builder.build());
}

test('threads of a pool take turns at work that cannot be divided: serial, not unevenly divided', (t) => {
  for (const beside of [0.03, 0.25]) {
    const alone = rows(beside, 'futex:inside lib.so');
    t.deepEqual([alone.findings[0]?.kind, alone.findings[0]?.name], ['serial', 'write_row']);
    t.is(factsOf(alone.findings[0], 'serial').oneAtATime, 4);
    t.regex(sentence(alone), /4 threads ran it, mostly one at a time; /);
  }
  const barrier = 'futex(barrier):GOMP_barrier at a.c:9'; // all threads run a part of a loop; a block has one thread
  const single = rows(0, barrier).findings[0];
  t.is(factsOf(single, 'serial').oneAtATime, 4);
  for (const model of [rows(0.4, 'futex:inside lib.so'), rows(0.25, barrier)])
    t.false(model.findings.some(({ facts }) => facts.form === 'serial' && facts.oneAtATime !== null));
});

/**
 * Four threads of an interpreter, of which one runs at a time, for 50 ms; a library has a condition for each of them.
 * `inWork`: they wait in the middle of their work, otherwise where they get work. `counted`: the number of waits of
 * all.
 */
function interpreter(inWork: boolean, counted = 60): Model {
  const builder = new Builder({ processors: 2 });
  const waiting = ['start', ...(inWork ? ['evaluate', 'yield'] : ['next']), 'futex:inside lib.so'];
  for (let k = 0; k < 40; k++) {
    const others = [1, 2, 3].map((n) => `w${(k + n) % 4}`);
    builder
      .stretch(0.03 * second, [run(`w${k % 4}`, ['start', 'evaluate']), ...others.map((one) => wait(one, waiting))])
      .stretch(0.02 * second, [
        run(`w${k % 4}`, ['start', 'evaluate', 'add']),
        ...others.map((one) => wait(one, k === 0 ? ['start', 'begin', 'futex:inside lib.so'] : waiting)),
      ]);
  }
  for (const name of ['futex:inside lib.so', 'condition:turn']) builder.describe(name, { module: 1 });
  builder.object('condition:turn', { contended: counted });
  return buildModel(builder.build());
}

test('threads that wait in the middle of their work while one of them runs: a lock, though no wake is seen', (t) => {
  const [first] = interpreter(true).findings;
  t.is(first?.kind, 'lock-contention');
  t.deepEqual(factsOf(first, 'lock').exclusion, { threads: 4 });
  t.regex(sentence(interpreter(true)), /4 threads that do the same work run one at a time/);
  for (const other of [interpreter(false), interpreter(true, 5)])
    t.deepEqual([other.findings[0]?.kind, factsOf(other.findings[0], 'serial').oneAtATime], ['serial', 4]);
});

/**
 * A phase of one thread with two hot procedures below one, beside work of two threads; `apart`: the two are below
 * main's instead.
 */
function phase(apart: boolean): Model {
  const path = (name: string): string[] => ['main', 'all', ...(apart ? [] : ['align']), name];
  const builder = new Builder({ processors: 2 });
  for (let k = 0; k < 100; k++)
    builder
      .stretch(0.003 * second, [run('main', path('distance'))])
      .stretch(0.002 * second, [run('main', path('merge'))])
      .stretch(0.01 * second, [run('main', ['main', 'all', 'score']), run('helper', ['help', 'score'])]);
  return buildModel(builder.build());
}

test('a serial phase is one finding, at the procedure that calls its parts and does little else', (t) => {
  const serials = (model: Model): (string | undefined)[] =>
    model.findings.filter(({ kind }) => kind === 'serial').map(({ name }) => name);
  const one = phase(false);
  t.deepEqual(serials(one), ['align']);
  t.deepEqual([ms(one.findings[0]!.costNs), ms(one.findings[0]!.savingNs)], [500, 250]);
  t.deepEqual(namesOf(one, factsOf(one.findings[0], 'serial').parts), ['distance', 'merge']);
  t.deepEqual(serials(phase(true)).sort(), ['distance', 'merge'], 'their caller does much else');
});

/** A forked child beside its siblings, which had that many CPUs; it has one thread. */
function child(relatedMilli: number): Model {
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread', relatedMilli } });
  return buildModel(builder.stretch(second, [run('main', ['main', 'child_work'])]).build());
}

test('CPUs that other processes of the program have are not idle', (t) => {
  const alone = child(0),
    beside = child(950);
  t.deepEqual([alone.findings[0]?.kind, beside.findings[0]?.kind], ['serial', 'optimize']);
  t.deepEqual([alone.usable, beside.usable], [2, 1]);
  t.deepEqual(
    [alone, beside].map(({ notices }) => notices.some(({ form }) => form === 'related-processes')),
    [false, true],
  );
  t.regex(sentence(beside), /1 of 1 processor was busy \(other processes of the program had 1\)/);
});

test('of two threads that share work, one has nearly all of it: it is to be divided among them', (t) => {
  const shared = (share: number): Model =>
    buildModel(
      new Builder({ processors: 2, head: { publisher: 'pthread' } })
        .stretch((1 - share) * second, [
          wait('main', ['main', 'join:join']),
          run('a', ['start', 'distance']),
          run('b', ['start', 'distance']),
        ])
        .stretch((2 * share - 1) * second, [wait('main', ['main', 'join:join']), run('b', ['start', 'distance'])])
        .build(),
    );
  const { most } = factsOf(shared(0.97).findings[0], 'serial');
  t.true(most !== null && most.share > 0.9);
  t.regex(sentence(shared(0.97)), /2 threads ran it, 9[0-9].*of it in thread b;.*Divide it evenly among these threads/);
});

/**
 * Two threads that yield until the other one has done its piece, for `apart` of the time; both do for `both`, while a
 * piece is handed over; `waits`: the yields are recognized as waiting.
 */
function turns(apart: number, both: number, waits: boolean): Model {
  const systemNs = (apart + 2 * both) * second;
  const builder = new Builder({
    processors: 2,
    head: {
      publisher: 'pthread',
      paths: { ...noPaths, running: true, kernel: true },
      usageKnown: true,
      usageNs: second,
      userNs: 2 * second - systemNs,
      systemNs,
    },
  });
  const loop = 'loop:product at a.c:9';
  builder.describe('product', { origin: 'installed' }).describe(loop, { origin: 'installed' });
  const yields = (thread: string): ReturnType<typeof run> =>
    waits
      ? { ...spin(thread, ['main', 'product', loop]), kernel: 'yield' }
      : inKernel('yield', thread, ['main', 'product']);
  const works = (thread: string): ReturnType<typeof run> => run(thread, ['main', 'product']);
  for (let k = 0; k < 10; k++)
    builder
      .stretch(0.05 * apart * second, [works('a'), yields('b')])
      .stretch(0.05 * apart * second, [yields('a'), works('b')])
      .stretch(0.1 * both * second, [yields('a'), yields('b')])
      .stretch(0.1 * (1 - apart - both) * second, [works('a'), works('b')]);
  return buildModel(builder.build());
}

test('threads that yield until the other one has come: reported with what one thread alone would save', (t) => {
  const model = turns(0.6, 0.3, true);
  const [finding] = model.findings;
  t.deepEqual([finding?.kind, finding?.change, finding?.name], ['spinning', 'fewer-threads', 'product']);
  const { threads, share, workShare } = factsOf(finding, 'yields');
  t.deepEqual([threads, Math.round(100 * share), Math.round(100 * workShare), ms(finding!.savingNs)], [2, 60, 40, 200]);
  t.true(model.slowdown.waitsMayChange);
  for (const other of [turns(0.05, 0.01, true), turns(0.6, 0.3, false)])
    t.false(other.findings.some(({ facts }) => facts.form === 'yields'));
});

/** A nameless procedure of a library, called by an exported one and, for `part` of its time, by the program. */
function stripped(part: number): Model {
  const builder = new Builder({ processors: 2 })
    .describe('libz+0x4970', { missing: 'stripped', module: 1 })
    .describe('libz+0x5d80', { missing: 'stripped', module: 1 })
    .describe('deflate', { module: 1 })
    .stretch((1 - part) * second, [run('main', ['main', 'deflate', 'libz+0x5d80', 'libz+0x4970'])]);
  if (part > 0) builder.stretch(part * second, [run('main', ['main', 'libz+0x4970'])]);
  const profile = builder.build();
  return buildModel(profile);
}

test('a nameless procedure of a library is named after the exported one that it runs for', (t) => {
  t.regex(sentence(stripped(0)), /deflate \(in libz\+0x4970\)/);
  t.regex(sentence(stripped(0.1)), /deflate \(in libz\+0x4970\)/);
  t.notRegex(sentence(stripped(0.4)), /in libz\+0x4970/);
});

test('a lock that a wrapper made is reported with who takes it', (t) => {
  const lock = 'mutex:mutex at wrapper.h:9';
  const builder = new Builder({ processors: 2 }).describe(lock, { naming: 'place' });
  for (let k = 0; k < 50; k++)
    builder
      .stretch(0.01 * second, [run('a', ['Cache::lookup', lock]), wait('b', ['Cache::insert', 'Mutex::Lock', lock])])
      .stretch(0.01 * second, [wait('a', ['Cache::lookup', 'Mutex::Lock', lock]), run('b', ['Cache::insert', lock])]);
  const model = buildModel(builder.object(lock, { acquisitions: 100, contended: 100 }).build());
  const { takenIn } = factsOf(model.findings[0], 'lock');
  t.deepEqual(namesOf(model, takenIn), ['Cache::insert', 'Cache::lookup']);
  t.regex(sentence(model), /wait for mutex at wrapper\.h:9, taken in Cache::insert and Cache::lookup, for/);
});

const tbb = 'tbb::detail::d1::start_for<Body>::execute';
/** Main waits in TBB's library, which runs `body`; `spawns` is the part of the time in which `body` creates tasks. */
function tasks(spawns: number): Model {
  const purposes = abi.Purpose.tbbLibrary;
  const library = { origin: 'openmp', module: 1, purposes } as const;
  const builder = new Builder({ processors: 2 })
    .describe('execute_and_wait', library)
    .describe('tbb::detail::r1::spawn', {
      ...library,
      purposes: purposes | abi.Purpose.tbbCode | abi.Purpose.teamCall,
    })
    .describe(tbb, { origin: 'standard', missing: 'place' });
  const on = (thread: string, below: string[]): ReturnType<typeof run> =>
    run(thread, [...(thread === 'main' ? ['main', 'execute_and_wait'] : ['execute_and_wait']), ...below]);
  const both = (below: string[]): ReturnType<typeof run>[] => [on('main', below), on('w', below)];
  builder.stretch(spawns * second, both([tbb, 'tbb::detail::r1::spawn']));
  builder.stretch((0.6 - spawns) * second, both([tbb, 'body']));
  // Main looks for work while the other thread has the last task.
  builder.stretch(0.4 * second, [on('main', []), on('w', [tbb, 'body'])]);
  const profile = builder.build();
  profile.modules.push({ ...profile.modules[0]!, path: '/usr/lib/libtbb.so.12.8' });
  return buildModel({ ...profile, modules: [profile.modules.at(-1)!] });
}

test("TBB's tasks that are too small are reported as such; waiting for the last one is not", (t) => {
  const [finding] = tasks(0.4).findings;
  t.deepEqual([finding?.kind, finding?.name], ['overhead', 'main']);
  t.is(factsOf(finding, 'openmp').library, 'TBB');
  t.is(ms(finding!.costNs), 400);
  t.false(tasks(0.02).findings.some(({ facts }) => facts.form === 'openmp'));
});

test('who yields is not woken: that time without a CPU is what other programs took', (t) => {
  const waits = (voluntarySwitches: number): number =>
    buildModel(
      new Builder({
        processors: 2,
        head: {
          publisher: 'pthread',
          cpuRunNs: second,
          cpuWaitNs: 0.8 * second,
          cpuDispatches: 100_000,
          switchesKnown: true,
          voluntarySwitches,
          involuntarySwitches: 100_000 - voluntarySwitches,
        },
      })
        .stretch(second, [run('main', ['main'])])
        .build(),
    ).cpuWait.othersNs;
  t.is(ms(waits(100_000)), 0);
  t.is(ms(waits(0)), 800);
});

test('garbage collection is one cause, whichever of its procedures take the time', (t) => {
  const collected = (part: number): Model => {
    const builder = new Builder({ processors: 2 });
    for (const name of ['mark', 'adjust', 'copy', 'sweep'])
      builder.stretch(
        (part / 4) * second,
        ['GC Thread#0', 'GC Thread#1'].map((thread) => run(thread, ['run', name])),
      );
    return buildModel(builder.stretch((1 - part) * second, [run('java', ['main', 'build'])]).build());
  };
  const [finding, ...others] = collected(0.85).findings;
  t.deepEqual([finding?.kind, finding?.facts.form, ms(finding!.savingNs)], ['overhead', 'collection', 808]);
  const { savesNs, mostNs } = factsOf(finding, 'collection');
  t.deepEqual([ms(savesNs), ms(mostNs)], [765, 850]); // of 0.85 s a tenth remains, or nothing
  t.is(Math.round(100 * factsOf(finding, 'collection').share), 92);
  t.false(others.some(({ kind }) => kind === 'optimize'));
  t.not(collected(0.05).findings[0]?.facts.form, 'collection');
});

test('garbage collection names who allocates: the innermost procedure with most of it', (t) => {
  const { allocation, collection } = abi.Purpose;
  const model = (inParse: number): Model => {
    const builder = new Builder({ processors: 2 });
    builder.describe('mallocgc', { origin: 'runtime', purposes: allocation });
    builder.describe('assist', { origin: 'runtime', purposes: collection });
    builder.describe('makeslice', { origin: 'runtime' });
    builder.stretch(0.4 * second, [run('main', ['main', 'compile', 'mallocgc', 'assist'])]);
    builder.stretch((0.2 - inParse) * second, [run('main', ['main', 'compile', 'makeslice', 'mallocgc'])]);
    builder.stretch(inParse * second, [run('main', ['main', 'compile', 'parse', 'mallocgc', 'clear'])]);
    builder.stretch(0.05 * second, [run('main', ['main', 'print', 'mallocgc'])]);
    return buildModel(builder.stretch(0.35 * second, [run('main', ['main', 'match'])]).build());
  };
  const named = (inParse: number): (string | number | null)[] => {
    const its = model(inParse);
    const finding = its.findings.find(({ facts }) => facts.form === 'collection');
    const { entity, part, share } = factsOf(finding, 'collection').allocating!;
    return [...namesOf(its, [entity]), Math.round(100 * part), Math.round(100 * share)];
  };
  t.deepEqual(named(0.05), ['compile', 80, 25]);
  t.deepEqual(named(0.15), ['parse', 60, 25]);
});

test('a thread for each job, one after the other, is one stage: that which all of them have', (t) => {
  const builder = new Builder({ processors: 2 });
  for (let k = 0; k < 50; k++) {
    const job = run(`job#${Math.floor(k / 5)}`, ['start', 'compare']);
    builder
      .stretch(0.012 * second, [job, wait('main', ['main', 'channel:room'])])
      .stretch(0.008 * second, [job, run('main', ['main', 'read'])]);
  }
  const model = buildModel(builder.object('channel:room', { acquisitions: 100, contended: 50 }).build());
  const [finding] = model.findings;
  t.deepEqual([finding?.kind, finding?.name], ['pipeline', 'compare']);
  const { stage, next, savesNs, fasterNs } = factsOf(finding, 'slowest-stage');
  t.deepEqual([ms(stage.workNs), ms(next.workNs), ms(savesNs)], [1000, 400, 300]); // 1.4 s on two processors
  t.is(ms(fasterNs), 600); // until main's 400 ms limit it
});

test('a stage that works nearly all the time comes before compilation beside it, which it does not wait for', (t) => {
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread' } });
  const packs = run('writer', ['start', 'write', 'deflate']);
  for (let k = 0; k < 50; k++)
    builder
      .stretch(0.013 * second, [packs, run('C2 CompilerThre', ['start', 'libjvm'])])
      .stretch(0.005 * second, [packs, run('reader', ['begin', 'parse'])])
      .stretch(0.002 * second, [packs, wait('reader', ['begin', 'channel:room'])]);
  const model = buildModel(builder.object('channel:room', { acquisitions: 50, contended: 50 }).build());
  const [finding] = model.findings;
  t.deepEqual([finding?.kind, finding?.name], ['pipeline', 'deflate']);
  t.is(ms(factsOf(finding, 'slowest-stage').fasterNs), 550); // 1 s, until 0.9 s of others' work limit two processors
});

test('a server that is busy once requests come: its rest before is not what limits it', (t) => {
  const builder = new Builder({ processors: 2 }).describe('accept4', { origin: 'runtime' });
  builder.stretch(0.2 * second, [io('listener', ['listen', 'accept4'])]);
  for (let k = 0; k < 20; k++)
    builder.stretch(0.04 * second, [
      run('a', ['serve', 'deflate']),
      run('b', ['serve', 'deflate']),
      io('listener', ['listen', 'accept4']),
    ]);
  const { findings } = buildModel(builder.build());
  t.deepEqual([findings[0]?.kind, findings[0]?.name], ['optimize', 'deflate']);
  const rest = findings.find(({ kind }) => kind === 'io');
  if (rest) t.is(ms(factsOf(rest, 'io').restNs), 200);
});
