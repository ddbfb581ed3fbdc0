/** Waits inside libraries, unmarked loops, and the findings about them. */
import test from 'ava';
import { buildModel, type IoFacts, type Model, type Origin } from '../../../../ts-frontend/src/model/index.js';
import { Purpose } from '../../../../ts-frontend/src/model/profile/abi.js';
import { factsOf, findingOf, ms, nameOf, namesOf, noticesOf } from '../../../support/facts.js';
import { inKernel, io, ProfileBuilder as Builder, run, spin, wait } from '../../../support/profile-builder.js';

const second = 1e9;

const region = (thread: string, below: string[]): [string, string[]] => [
  thread,
  thread === 'main' ? ['main', 'GOMP_parallel', 'part', ...below] : ['main', 'worker', 'part', ...below],
];

test('a lock inside a library is a lock, though nobody counts its users', (t) => {
  const lock = 'futex(lock):GOMP_critical_start at a.c:9';
  const model = buildModel(
    new Builder({ processors: 2 })
      .stretch(second, [run(...region('main', ['work'])), spin(...region('w', [lock]))])
      .stretch(second, [spin(...region('main', [lock])), run(...region('w', ['work']))])
      .build(),
  );
  const [finding] = model.findings;
  t.deepEqual([finding?.kind, finding?.name], ['spinning', 'GOMP_critical_start at a.c:9']);
  const { spins, counted } = factsOf(finding, 'lock');
  t.deepEqual([spins, counted], [true, false]);
});

test('a lock seen from outside: what its one taker does besides waiting stands for the holder', (t) => {
  const lock = 'futex(lock):lock at journal.rs:9';
  const builder = new Builder({ processors: 2 });
  for (const [holds, waits] of [
    ['a', 'b'],
    ['b', 'a'],
  ] as const)
    builder
      .stretch(0.8 * second, [io(holds, ['work', 'note', 'fdatasync']), wait(waits, ['work', 'note', lock])])
      .stretch(0.2 * second, [run(holds, ['work', 'note']), run(waits, ['work'])]);
  builder.describe('fdatasync', { origin: 'runtime' });
  const model = buildModel(builder.build());
  const { holder, taker, inIo } = factsOf(findingOf(model, 'lock-contention'), 'lock');
  t.deepEqual([holder, taker !== null && nameOf(model, taker)], [null, 'note']);
  t.deepEqual([inIo?.share, inIo?.call && nameOf(model, inIo.call)], [0.8, 'fdatasync']);
});

test('a barrier inside a library is a barrier: its uneven division is reported in what runs before it', (t) => {
  const barrier = 'futex(barrier):GOMP_barrier at a.c:9';
  const model = buildModel(
    new Builder({ processors: 2 })
      .stretch(second, [run(...region('main', ['work'])), run(...region('w', ['work']))])
      .stretch(second, [run(...region('main', ['work'])), wait(...region('w', [barrier]))])
      .build(),
  );
  const [finding] = model.findings;
  t.is(finding?.kind, 'imbalance');
  const { barrier: at, code } = factsOf(finding, 'uneven-division');
  t.deepEqual(namesOf(model, [at!, code]), ['GOMP_barrier at a.c:9', 'work']);
});

test('a wait for tasks, which other threads of the team execute: uneven, not a pipeline', (t) => {
  const taskwait = 'futex(tasks):GOMP_taskwait at a.c:9';
  const model = buildModel(
    new Builder({ processors: 2 })
      .stretch(second, [run(...region('main', ['work'])), run(...region('w', ['work']))])
      .stretch(second, [wait(...region('main', [taskwait])), run(...region('w', ['work']))])
      .build(),
  );
  t.is(model.findings[0]?.kind, 'imbalance');
});

test('one thread has nearly all work of a parallel region, the others wait at its end: uneven, not serial', (t) => {
  for (const [name, kind] of [
    ['region-end', 'imbalance'],
    ['barrier', 'serial'],
  ] as const) {
    const end = `futex(${name}):called at a.c:9`;
    const [finding] = buildModel(
      new Builder({ processors: 2 })
        .stretch(0.01 * second, [run(...region('main', ['work'])), run(...region('w', ['work']))])
        .stretch(second, [run(...region('main', ['work'])), wait(...region('w', [end]))])
        .build(),
    ).findings;
    t.is(finding?.kind, kind);
  }
});

test('a region in which one thread has all work is named by the code, wherever the others are seen to wait', (t) => {
  for (const end of ['futex(region-end):GOMP_parallel at a.c:9', 'futex:inside libgomp.so.1']) {
    const [finding] = buildModel(
      new Builder({ processors: 2 })
        .describe('GOMP_parallel', { origin: 'openmp' })
        .describe('worker', { origin: 'openmp' })
        .describe(end, { origin: 'openmp' })
        .stretch(second, [run(...region('main', ['smooth'])), wait(...region('w', [end]))])
        .build(),
    ).findings;
    t.deepEqual([finding?.facts.form, finding?.name], ['uneven-division', 'smooth'], end);
  }
});

test('what the run-time library of OpenMP does belongs to its caller, and stands in no list of callers', (t) => {
  const profile = new Builder({ processors: 2 })
    .describe('worker', { origin: 'openmp' })
    .describe('GOMP_critical_end', { origin: 'openmp' })
    .stretch(second, [
      run('main', ['main', 'part', 'GOMP_critical_end']),
      run('w', ['main', 'worker', 'part', 'GOMP_critical_end']),
    ])
    .stretch(second, [run('main', ['main', 'worker', 'sum'])])
    .build();
  const model = buildModel(profile);
  const { findings } = model;
  t.deepEqual(
    findings.map(({ kind, name }) => `${kind} ${name}`),
    ['overhead part', 'serial sum'],
  );
  t.deepEqual(namesOf(model, factsOf(findings[1], 'serial').callers), ['main']);
});

test('small pieces of OpenMP are reported only if there were as many regions as that takes', (t) => {
  const isFound = (rounds: number, call = 'GOMP_parallel', worker = ['worker']): boolean => {
    const profile = new Builder({ processors: 2 })
      .describe('worker', { origin: 'openmp' })
      .describe(call, { origin: 'openmp', purposes: Purpose.teamCall })
      .stretch(second, [run('main', ['main', call]), run('w', ['main', ...worker])])
      .stretch(second, [run('main', ['main', 'work']), run('w', ['main', 'worker', 'work'])])
      .build();
    profile.cpuLimits.rounds = Float64Array.of(rounds);
    return buildModel(profile).findings.some(({ facts }) => facts.form === 'openmp');
  };
  t.true(isFound(100_000));
  t.false(isFound(10), 'what the library executes in a second is waiting that was not recognized');
  t.true(isFound(0), 'they were not counted');
  const next = 'GOMP_loop_dynamic_next';
  t.true(isFound(10, next, ['worker', 'part', next]), 'pieces of loops are not counted');
});

test('code that one thread runs on its own path, while workers wait in their library, is serial', (t) => {
  const profile = new Builder({ processors: 2 })
    .describe('GOMP_parallel', { origin: 'openmp' })
    .describe('worker', { origin: 'openmp' })
    .stretch(second, [run('main', ['main', 'work']), wait('w', ['main', 'worker', 'futex:inside libgomp.so.1'])])
    .stretch(second, [run(...region('main', ['work'])), run(...region('w', ['work']))])
    .build();
  const model = buildModel(profile);
  const [finding] = model.findings;
  t.deepEqual([finding?.kind, finding?.name], ['serial', 'work']);
  t.deepEqual(namesOf(model, factsOf(finding, 'serial').callers), ['main']);
});

test('main between regions is serial, though a worker that waits for the next one seems to work at times', (t) => {
  const rest = 'futex:inside libgomp.so.1';
  const first = (seemsAtWork: number): string => {
    const profile = new Builder({ processors: 2 })
      .describe('GOMP_parallel', { origin: 'openmp' })
      .describe('worker', { origin: 'openmp' })
      .describe(rest, { origin: 'openmp' })
      .stretch((1 - seemsAtWork) * second, [run('main', ['main', 'unpack']), wait('w', ['main', 'worker', rest])])
      .stretch(seemsAtWork * second, [run('main', ['main', 'unpack']), run('w', ['main', 'worker'])])
      .stretch(second, [run(...region('main', ['work'])), run(...region('w', ['work']))])
      .stretch(second / 20, [run(...region('main', ['work'])), wait('w', ['main', 'worker', rest])])
      .build();
    const [finding] = buildModel(profile).findings;
    return `${finding?.kind} ${finding?.name}`;
  };
  for (const part of [0, 0.3]) t.is(first(part), 'serial unpack');
  t.not(first(0.7), 'serial unpack');
});

test(
  'an object that a library made for itself may be a barrier: uneven work before it is reported though the threads ' +
    'end together',
  (t) => {
    const inLibrary = (origin: Origin): string[] => {
      const condition = 'condition:condition at libomp.so.5+0x1';
      const profile = new Builder({ processors: 2 })
        .describe(condition, { origin })
        .describe('GOMP_parallel', { origin: 'openmp' })
        .describe('worker', { origin: 'openmp' })
        .stretch(second, [run(...region('main', ['work'])), run(...region('w', ['work']))])
        .stretch(second, [run(...region('main', ['work'])), wait(...region('w', [condition]))])
        .stretch(second / 100, [run(...region('main', ['work'])), run(...region('w', ['work']))])
        .build();
      return buildModel(profile).findings.map(({ kind }) => kind);
    };
    t.is(inLibrary('installed')[0], 'imbalance');
    t.not(inLibrary('own')[0], 'imbalance');
  },
);

test('a loop that only waits: who works meanwhile is reported', (t) => {
  const model = buildModel(
    new Builder({ processors: 2 })
      .stretch(second, [
        run('main', ['main', 'prepare', 'mutex:table']),
        spin('w', ['main', 'use', 'loop:loop at a.c:5']),
      ])
      .stretch(second / 10, [run('main', ['main', 'prepare']), run('w', ['main', 'use'])])
      .build(),
  );
  const { waiting } = factsOf(model.findings[0], 'serial');
  t.is(nameOf(model, waiting!.entity), 'loop at a.c:5');
});

test('input and output: no more threads are said to wait than there are', (t) => {
  const builder = new Builder({ processors: 2 }).stretch(second / 20, [io('r', ['main', 'read'])]);
  builder.stretch(second, [run('main', ['main', 'compute']), run('r', ['main', 'read']), io('idle', ['main', 'read'])]);
  builder.stretch(second, [run('main', ['main', 'compute']), io('r', ['main', 'read']), io('idle', ['main', 'read'])]);
  t.true(factsOf(findingOf(buildModel(builder.build()), 'io'), 'io').threads <= 2);
});

test('why a thread sleeps: time, child processes, other input; who waits for a signal limits nothing', (t) => {
  const asleepIn = (call: string, threads = 1): Model => {
    const sleepers = Array.from({ length: threads }, (_, k) => io(`w#${k}`, ['main', 'step', call]));
    const profile = new Builder({ processors: 2 })
      .describe(call, { origin: 'runtime' })
      .stretch(second, [run('main', ['main', 'step'])])
      .stretch(second, sleepers)
      .build();
    return buildModel(profile);
  };
  const reported = (call: string): [string, IoFacts['waits'], string | null, number] => {
    const model = asleepIn(call);
    const finding = findingOf(model, 'io') ?? findingOf(model, 'lock-contention');
    const { waits, call: its } = factsOf(finding, 'io');
    return [finding!.name, waits, its, ms(finding!.costNs)];
  };
  t.deepEqual(reported('read'), ['step', 'device', 'read', 1000]);
  t.deepEqual(reported('nanosleep'), ['step', 'sleep', 'nanosleep', 1000]);
  t.deepEqual(reported('fcntl'), ['step', 'file-lock', 'fcntl', 1000]);
  t.is(findingOf(asleepIn('flock'), 'lock-contention')?.name, 'step');
  t.deepEqual(reported('wait4'), ['step', 'children', 'wait4', 1000]);
  t.deepEqual(reported('epoll_wait'), ['step', 'others', 'epoll_wait', 1000]);
  t.is(findingOf(asleepIn('sigwait'), 'io'), undefined);
  const [rest] = noticesOf(asleepIn('sigwait', 3), 'nothing-ran');
  t.deepEqual([rest!.waiting, rest!.calls], [[], [{ name: 'sigwait', threads: 3 }]]);
});

test('work of child processes is pointed to, and where it is reported', (t) => {
  const said = (childrenRunNs: number, childrenApart = false): unknown =>
    noticesOf(
      buildModel(
        new Builder({ processors: 2, head: { childrenRunNs, childrenApart } })
          .stretch(second, [run('main', ['main'])])
          .build(),
      ),
      'child-processes',
    );
  const reported = { form: 'child-processes', childrenNs: 3 * second, ownNs: second };
  t.deepEqual(said(3e9), [{ ...reported, profiled: false }]);
  t.deepEqual(said(3e9, true), [{ ...reported, profiled: true }]);
  t.deepEqual(said(2e7), []);
});

test('two snapshots: nothing is said to save more than there is', (t) => {
  const model = buildModel(
    new Builder({ processors: 2, snapshotNs: 1e6 }).stretch(2e6, [run('main', ['main'])]).build(),
  );
  t.true(noticesOf(model, 'few-snapshots')[0]!.margin < 1);
  for (const { savingNs } of model.findings) t.true(savingNs <= model.elapsedNs);
  for (const { leastNs } of noticesOf(model, 'nothing-stands-out')) t.true(leastNs <= model.elapsedNs);
});

test("loops of OpenMP's library are one notice, with advice for teams; another loop has its own", (t) => {
  const teams = ['loop:loop at a', 'loop:loop at b'];
  const model = buildModel(
    new Builder({ processors: 2 })
      .describe(teams[0]!, { origin: 'openmp' })
      .describe(teams[1]!, { origin: 'openmp' })
      .stretch(second, [
        run('main', ['main', 'work']),
        spin('w1', ['main', teams[0]!]),
        { thread: 'w2', state: 'ready', stack: ['main', 'loop:own'], waiting: true },
      ])
      .stretch(second, [run('main', ['main', 'work']), spin('w1', ['main', teams[1]!])])
      .build(),
  );
  t.deepEqual(
    noticesOf(model, 'waiting-teams').map(({ entities, ns, advice }) => [entities.length, ns, advice.threads]),
    [[2, 2 * second, 'fewer']],
  );
  t.deepEqual(
    noticesOf(model, 'waiting-loop').map(({ entity }) => nameOf(model, entity)),
    ['own'],
  );
});

test('a lock taken again and again with hardly anything in between is pointed out; one around work is not', (t) => {
  const polling = (times: number): [string | null, string | null, number, number, number][] => {
    const model = buildModel(
      new Builder({ processors: 2 })
        .object('mutex:table', { acquisitions: times })
        .call('poll', 'mutex:table', times)
        .stretch(second, [run('main', ['main', 'work']), run('w', ['poll', 'mutex:table'])])
        .stretch(second, [run('main', ['main', 'work']), run('w', ['poll'])])
        .build(),
    );
    return noticesOf(model, 'lock-churn').map(({ by, lock, times: taken, eachNs, totalNs }) => [
      nameOf(model, by),
      nameOf(model, lock),
      taken,
      eachNs,
      totalNs,
    ]);
  };
  t.deepEqual(polling(2e7), [['poll', 'table', 2e7, 100, 2 * second]]);
  t.deepEqual(polling(1e6), []);
});

test('MPI: what waits for other processes is one limit, by its calls; work beside it costs nothing', (t) => {
  const all = 'futex(collective):MPI_Allreduce at a.c:9',
    one = 'futex(message):MPI_Recv at a.c:12',
    start = 'futex(processes):MPI_Init at a.c:3';
  const model = buildModel(
    new Builder({ processors: 2 })
      .stretch(0.1 * second, [wait('main', ['main', start])])
      .stretch(second, [run('main', ['main', 'work'])])
      .stretch(0.6 * second, [spin('main', ['main', all])])
      .stretch(0.3 * second, [wait('main', ['main', one])])
      .stretch(0.5 * second, [spin('main', ['main', one]), run('helper', ['work'])])
      .build(),
  );
  const [finding] = model.findings.filter(({ kind }) => kind === 'processes');
  t.deepEqual([finding?.name, finding?.change], ['MPI_Allreduce at a.c:9', 'balance-processes']);
  t.is(ms(finding!.costNs), 1000);
  const { calls, startNs, messageNs, collectiveNs, further } = factsOf(finding, 'processes');
  t.deepEqual(
    calls.map(({ entity, ns }) => [nameOf(model, entity), ms(ns)]),
    [
      ['MPI_Allreduce at a.c:9', 600],
      ['MPI_Recv at a.c:12', 300],
      ['MPI_Init at a.c:3', 100],
    ],
  );
  t.deepEqual([ms(startNs), ms(messageNs), ms(collectiveNs), further], [100, 300, 600, 0]);
  t.false(model.findings.some(({ kind }) => kind === 'spinning' || kind === 'lock-contention'));
});

test('MPI: its own start is no code of the program to make faster, alone or beside other work', (t) => {
  const model = buildModel(
    new Builder({ processors: 2 })
      .stretch(second, [run('main', ['main', 'PMPI_Init'])])
      .stretch(second, [run('main', ['main', 'PMPI_Init', 'grow']), run('helper', ['PMPI_Init_thread'])])
      .stretch(second, [run('main', ['main', 'work'])])
      .build(),
  );
  t.deepEqual([...new Set(model.findings.map(({ entity }) => nameOf(model, entity)))], ['work']);
});

test('critical sections that are taken very often: the library, and who spins for it, are one finding', (t) => {
  const lock = 'futex(lock):GOMP_critical_start at a.c:9';
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread' } })
    .describe('GOMP_critical_end', { origin: 'openmp' })
    .stretch(
      0.4 * second,
      ['main', 'w'].map((thread) => run(thread, ['main', 'part', 'GOMP_critical_end'])),
    )
    .stretch(0.4 * second, [run('main', ['main', 'part']), spin('w', ['main', 'part', lock])])
    .stretch(
      0.2 * second,
      ['main', 'w'].map((thread) => run(thread, ['main', 'part'])),
    );
  const { findings } = buildModel(builder.build());
  t.deepEqual(
    findings.filter(({ kind }) => kind !== 'optimize').map(({ kind, name }) => `${kind} ${name}`),
    ['overhead part'],
  );
  const { savesNs, waitsNs } = factsOf(findings[0], 'openmp');
  t.deepEqual([ms(waitsNs), ms(savesNs)], [400, 475]); // 0.36 s, and 0.18 of the rest
});

test('a library that waits by futexes nobody counts: how often threads gave up a CPU says that they hand on', (t) => {
  const model = (voluntarySwitches: number): Model => {
    const head = { publisher: 'pthread', usageKnown: true, switchesKnown: true, usageNs: second, voluntarySwitches };
    const builder = new Builder({ processors: 2, head: { ...head, publisher: 'pthread' } });
    for (let k = 0; k < 20; k++)
      builder
        .stretch(0.03 * second, [inKernel('futex', 'a', ['send', 'wake']), wait('b', ['recv', 'futex:recv at c.rs:2'])])
        .stretch(0.02 * second, [run('b', ['recv', 'add']), wait('a', ['send', 'futex:send at c.rs:1'])]);
    return buildModel(builder.build());
  };
  const [finding] = model(100_000).findings;
  const { waits, leastNs } = factsOf(finding, 'wake-ups');
  t.deepEqual([waits, ms(leastNs)], [100_000, 600]);
  t.not(model(1000).findings[0]?.facts.form, 'wake-ups');
});

test('code of one thread is serial code though other programs may be why others end before it', (t) => {
  const head = { publisher: 'pthread', cpuRunNs: 2 * second, cpuWaitNs: 3 * second } as const;
  const builder = new Builder({ processors: 2, head });
  const packs = run('writer', ['start', 'write', 'deflate']);
  for (let k = 0; k < 50; k++)
    builder
      .stretch(0.01 * second, [packs, run('helper', ['begin', 'prepare'])])
      .stretch(0.01 * second, [packs, wait('helper', ['begin', 'futex:inside libjvm.so'])]);
  const { findings } = buildModel(builder.build());
  t.true(findings.some(({ kind, name }) => kind === 'serial' && name === 'deflate'));
});
