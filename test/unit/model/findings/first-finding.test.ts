/** Which finding comes first, and what its remedy says: threads in succession, parts of divided loops, allocators. */
import test from 'ava';
import { buildModel, type Finding, type Model } from '../../../../ts-frontend/src/model/index.js';
import { withoutEffects } from '../../../../ts-frontend/src/model/findings/same-cause.js';
import { clientsLast, promised, promisedInAll } from '../../../../ts-frontend/src/model/findings/order.js';
import { Purpose } from '../../../../ts-frontend/src/model/profile/abi.js';
import { findingSentences } from '../../../../ts-frontend/src/render/findings/index.js';
import { factsOf, ms } from '../../../support/facts.js';
import { inKernel, io, ProfileBuilder as Builder, ready, run, wait } from '../../../support/profile-builder.js';

const second = 1e9;
const sentence = (model: Model): string => {
  const { text, remedy } = findingSentences(model, model.findings[0]!, { ascii: true });
  return `${text} ${remedy}`;
};

/** Main creates eight threads and waits for each: immediately, or after two have begun (`together`). */
function futures(together: boolean): Model {
  const builder = new Builder({ processors: 2 });
  for (let k = 0; k < 8; k++) {
    const works = [run(`w${k}`, ['main', 'scale'])];
    if (together && k > 0) works.push(run(`w${k - 1}`, ['main', 'scale']));
    builder.stretch(0.1 * second, [wait('main', ['main', 'join:end']), ...works]);
  }
  return buildModel(builder.build());
}

test('threads of which each begins after the one before has ended: serial, and the remedy is to begin earlier', (t) => {
  const model = futures(false);
  const [first] = model.findings;
  t.is(first?.kind, 'serial');
  t.is(factsOf(first, 'serial').succession, 8);
  t.regex(
    sentence(model),
    /8 threads ran it, each of which started after the one before it had ended; .*Start the next threads/,
  );
  t.false(futures(true).findings.some(({ facts }) => facts.form === 'serial' && facts.succession !== null));
});

/**
 * A thread for each of six files, one after the other, in which the same modules are compiled before the file's own
 * work (`own`: its procedure); idle threads of a pool wait meanwhile.
 */
function files(own: (k: number) => string): Model {
  const builder = new Builder({ processors: 2 });
  const idle = ['p0', 'p1', 'p2'].map((name) => wait(name, ['pool', 'condition:pool']));
  const others = [wait('main', ['main', 'loop', 'condition:ended']), ...idle];
  for (let k = 0; k < 6; k++)
    builder
      .stretch(0.08 * second, [...others, run(`file ${k}`, ['begin', 'load', 'compile'])])
      .stretch(0.08 * second, [...others, run(`file ${k}`, ['begin', own(k)])]);
  return buildModel(builder.build());
}

test('threads that live one after the other, and what each of them does again; idle pools change nothing', (t) => {
  const model = files((k) => `test${k}`),
    [first] = model.findings;
  const { succession, again } = factsOf(first, 'serial');
  t.is(succession, 6);
  t.deepEqual(
    again?.procedures.map(({ entity, eachNs }) => [model.entities[entity]!.name, ms(eachNs)]),
    [['compile', 80]],
  );
  t.is(ms(again!.workNs), 160);
  t.regex(
    sentence(model),
    /Each of them takes 160 ms on average, and .* compile \(80\.0 ms in each\)\. .*do that once/,
  );
  // Threads that only do different things do nothing again.
  const different = new Builder({ processors: 2 });
  for (let k = 0; k < 6; k++)
    different.stretch(0.16 * second, [wait('main', ['main', 'join:end']), run(`file ${k}`, [`begin${k}`, `test${k}`])]);
  t.is(factsOf(buildModel(different.build()).findings[0], 'serial').again, null);
});

test('two threads that live one after the other and share the work: serial, beside a compiling thread, too', (t) => {
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread' } });
  builder.describe('C2 Compiler', { purposes: Purpose.compilation });
  for (const name of ['one', 'two'])
    builder
      .stretch(0.4 * second, [wait('main', ['main', 'condition:done']), run(name, ['analyse'])])
      .stretch(0.1 * second, [
        wait('main', ['main', 'condition:done']),
        run(name, ['analyse']),
        run('C2 Compiler', ['compile_method']),
      ]);
  const [first] = buildModel(builder.build()).findings;
  t.is(first?.kind, 'serial');
  t.is(factsOf(first, 'serial').succession, 2);
  t.is(factsOf(first, 'serial').again, null); // two are too few to say what is done again
});

/** Main works alone for 0.9 s, most of it beside a thread with these purposes. */
function beside(name: string): Model {
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread' } });
  const work = run('main', ['main', 'analyse']);
  builder
    .stretch(0.7 * second, [work, run(name, ['begin', 'transform'])])
    .stretch(0.2 * second, [work, wait(name, ['begin', 'condition:more'])])
    .stretch(0.1 * second, [work, run('w', ['main', 'print'])]);
  return buildModel(builder.build());
}

test('compilation beside the only thread with work keeps a processor busy, but is not what limits the program', (t) => {
  const model = beside('C2 CompilerThre');
  const [first, second] = model.findings;
  t.deepEqual([first?.kind, ms(first!.costNs), ms(first!.savingNs)], ['serial', 900, 450]);
  t.is(ms(factsOf(first, 'serial').backgroundNs), 700);
  t.regex(
    sentence(model),
    /For 700 ms of that, others compiled the program's code \(JIT\), which it does not wait for/,
  );
  // Without it, main would have as much to do as before.
  t.true(second === undefined || second.facts.form !== 'compilation' || second.savingNs < 0.05 * model.elapsedNs);
  // Of a thread of the program the work is needed.
  for (const { kind, costNs } of beside('helper').findings) if (kind === 'serial') t.is(ms(costNs), 200);
});

/**
 * A loop that two threads share, each on a path of its own; main runs it for `alone` of the time without the other
 * thread.
 */
function loop(alone: number): Model {
  return buildModel(
    new Builder({ processors: 2 })
      .stretch((1 - alone) * second, [run('main', ['main', 'region']), run('w', ['start', 'region'])])
      .stretch(alone * second, [run('main', ['main', 'region'])])
      .build(),
  );
}

test('what one thread has left of a loop that threads share does not come before the loop', (t) => {
  t.deepEqual(
    loop(0.1)
      .findings.map(({ kind }) => kind)
      .slice(0, 1),
    ['optimize'],
  );
  t.not(loop(0.5).findings[0]?.kind, 'optimize');
});

/** Two threads that build lists; `part` of their time is in the allocator. */
function lists(part: number): Model {
  const both = (below: string[]): ReturnType<typeof run>[] => ['a', 'b'].map((one) => run(one, ['lists', ...below]));
  return buildModel(
    new Builder({ processors: 2 })
      .describe('malloc', { origin: 'runtime' })
      .describe('free', { origin: 'runtime' })
      .stretch(0.6 * part * second, both(['malloc']))
      .stretch(0.4 * part * second, both(['free']))
      .stretch((1 - part) * second, both([]))
      .build(),
  );
}

test('code of which half or more is in the allocator: allocate less', (t) => {
  const model = lists(0.8);
  t.is(ms(factsOf(model.findings[0], 'optimize').allocatorNs!), 800);
  t.regex(sentence(model), /Allocate less: 800 ms of it is in the allocator\./);
  t.is(factsOf(lists(0.4).findings[0], 'optimize').allocatorNs, null);
});

/** Two threads and a lock that only the kernel knows; other programs have the CPUs for `away` of the time. */
function handedOn(away: number, within: string[] = []): Model {
  const held = ['main', 'update', ...within, 'futex(lock):malloc at a.c:8'];
  const ran = 1 - away;
  const head = {
    publisher: 'pthread',
    switchesKnown: true,
    usageKnown: true,
    usageNs: second,
    userNs: ran * second,
    systemNs: 0.5 * ran * second,
    voluntarySwitches: 18_000 * ran, // one for each 83 us of the time that it ran
    involuntarySwitches: 100,
    cpuRunNs: 1.5 * ran * second,
    cpuWaitNs: 2 * away * second,
    cpuDispatches: 100,
  } as const;
  return buildModel(
    new Builder({ processors: 2, head })
      .describe('malloc', { origin: 'runtime' })
      .stretch(0.5 * ran * second, [run('w1', held), inKernel('futex', 'w2', held)])
      .stretch(0.5 * ran * second, [run('w1', held), wait('w2', held)])
      .stretch(away * second, [ready('w1', held), ready('w2', held)])
      .build(),
  );
}

test('how often threads wait is counted against what they ran, not against what they would have run alone', (t) => {
  for (const away of [0, 0.5]) {
    const [first] = handedOn(away).findings;
    t.deepEqual([first?.kind, first?.facts.form], ['overhead', 'hand-overs'], String(away));
  }
});

test('handing on and waking save about the same: of a mutex the first is kept, of what passes data the second', (t) => {
  const entities = [{ rawKind: 'mutex' }, { rawKind: 'condition' }] as Model['entities'];
  const kept = (entity: number, handing: number, waking: number): string[] =>
    withoutEffects({ entities } as Model, [
      { entity, savingNs: handing, facts: { form: 'hand-overs' } } as Finding,
      { entity, savingNs: waking, facts: { form: 'wake-ups' } } as Finding,
    ]).map(({ facts }) => facts.form);
  t.deepEqual(kept(0, 100, 110), ['hand-overs']);
  t.deepEqual(kept(0, 100, 130), ['wake-ups']);
  t.deepEqual(kept(1, 110, 100), ['wake-ups']);
  t.deepEqual(kept(1, 130, 100), ['hand-overs']);
});

test("a lock of the allocator's: more arenas or less allocation, no other data for each thread", (t) => {
  for (const [within, allocator] of [
    [['malloc'], true],
    [['insert'], false],
  ] as const) {
    const model = handedOn(0, [...within]);
    t.is(factsOf(model.findings[0], 'hand-overs').allocator, allocator);
    t.is(/more arenas .*allocate less/.test(sentence(model)), allocator);
    t.is(/Share it less/.test(sentence(model)), !allocator);
  }
});

test("a lock of the C library's own: the procedure that takes it, and what to use instead", (t) => {
  for (const [libraryLock, remedy] of [
    ['random', /rand takes this lock, .*: give each thread a generator of its own \(rand_r, /],
    ['stream', /: write larger pieces /],
    ['time', /: convert times less often: /],
    ['loader', /: look symbols up once /],
    ['none', /give each thread or part its own lock and data/],
  ] as const) {
    const path = ['main', 'throwDarts', 'rand', 'futex(lock):rand at darts.c:7'];
    const model = buildModel(
      new Builder({
        processors: 2,
        head: { publisher: 'pthread', switchesKnown: true, voluntarySwitches: 40_000 },
      })
        .stretch(0.5e9, [inKernel('futex', 'w1', path.slice(0, 3)), inKernel('futex', 'w2', path.slice(0, 3))])
        .stretch(0.5e9, [run('w1', path.slice(0, 3)), wait('w2', path)])
        .describe('rand', { origin: 'runtime', libraryLock })
        .build(),
    );
    const { library } = factsOf(model.findings[0], 'hand-overs');
    t.is(library?.of, libraryLock === 'none' ? undefined : libraryLock);
    t.regex(sentence(model), remedy);
  }
});

/** Two threads search; their work is in that many procedures, each with a tenth or less of the time. */
function search(procedures: number): Model {
  const builder = new Builder({ processors: 2 });
  for (let k = 0; k < procedures; k++)
    builder.stretch(second / procedures, [
      wait('main', ['main', 'join:end']),
      ...['a', 'b'].map((one) => run(one, ['start', 'search', `p${k}`])),
    ]);
  return buildModel(builder.build());
}

test('work that no procedure has much of by itself: the one that calls it all, not where threads begin', (t) => {
  const model = search(20);
  const [first] = model.findings;
  t.deepEqual([first?.kind, first?.name, ms(first!.costNs)], ['optimize', 'search', 1000]);
  t.true(factsOf(first, 'optimize').spread);
  t.regex(sentence(model), /search with everything that it calls .*No procedure in it takes a tenth/);
  t.false(factsOf(search(4).findings[0], 'optimize').spread);
});

/**
 * Two threads divide files; one of them has work for `longer`, and the other then looks for more work every
 * millisecond.
 */
function poller(longer: number): Model {
  const ends = wait('main', ['main', 'join:end']);
  const look = io('b', ['take', 'look', 'nanosleep']);
  return buildModel(
    new Builder({ processors: 2, head: { publisher: 'pthread' } })
      .describe('nanosleep', { origin: 'runtime' })
      .stretch((1 - longer) * second, [ends, run('a', ['take', 'search']), run('b', ['take', 'search'])])
      .stretch(longer * second, [ends, run('a', ['take', 'search']), look])
      .build(),
  );
}

test('a thread that sleeps and looks for work beside one that still has some: uneven division, no sleep', (t) => {
  const [first, ...others] = poller(0.4).findings;
  t.deepEqual([first?.kind, ms(first!.costNs), ms(first!.savingNs)], ['imbalance', 400, 200]);
  t.false(others.some(({ kind }) => kind === 'io'));
  t.is(poller(0.01).findings[0]?.kind, 'optimize');
});

/** Serial code, and code that both processors run; `alone` of the time by one thread. */
function serialBeside(alone: number): Model {
  return buildModel(
    new Builder({ processors: 2 })
      .stretch(alone * second, [run('main', ['main', 'read'])])
      .stretch((1 - alone) * second, [run('main', ['main', 'hash']), run('w', ['main', 'hash'])])
      .build(),
  );
}

test('serial code comes first where it would be worth most with twice the processors', (t) => {
  const kinds = (model: Model): string[] => model.findings.map(({ kind }) => kind);
  t.deepEqual(kinds(serialBeside(0.1)), ['optimize', 'serial']);
  t.deepEqual(kinds(serialBeside(0.25)), ['serial', 'optimize']);
});

test('serial code beside a team that gains nothing stands for all that its thread runs alone', (t) => {
  const serial = (teamNs: number | null, mostNs?: number): Finding =>
    ({
      kind: 'serial',
      savingNs: 6,
      bound: mostNs === undefined ? null : { mostNs },
      facts: { form: 'serial', teamNs, inAll: { costNs: 36, spreadNs: 18 } },
    }) as Finding;
  t.deepEqual([promised(serial(0)), promisedInAll(serial(0))], [6, 18]);
  t.is(promisedInAll(serial(0, 9)), 9, 'another thread works beside it');
  t.is(promisedInAll(serial(null)), 6, 'no team');
});

test('beside other programs, what a server does comes before its clients, who lack CPUs as well', (t) => {
  const findings = [
    { costNs: 70, facts: { form: 'io', waits: 'others', restNs: 65 } },
    { costNs: 10, facts: { form: 'too-few-threads' } },
  ] as Finding[];
  const formsIf = (othersNs: number): string[] =>
    clientsLast({ elapsedNs: 100, cpuWait: { runNs: 10, waitNs: 30, othersNs } } as Model, findings).map(
      ({ facts }) => facts.form,
    );
  t.deepEqual(formsIf(18), ['too-few-threads', 'io']);
  t.deepEqual(formsIf(8), ['io', 'too-few-threads']);
});
