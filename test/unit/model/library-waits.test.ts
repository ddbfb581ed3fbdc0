/** Waits inside libraries, loops that nobody marked, and how findings about them read. */
import test from 'ava';
import { buildModel } from '../../support/sentences.js';
import { insideKind } from '../../../ts-frontend/src/model/evidence/library-waits.js';
import { ProfileBuilder as Builder, io, run, spin, wait } from '../../support/profile-builder.js';

const second = 1e9;

test('what a program called tells what its thread waits for inside a library', (t) => {
  const kind = (name: string): string | undefined => insideKind({ rawKind: 'futex', name });
  for (const name of [
    'GOMP_critical_name_start',
    '__kmpc_critical_with_hint',
    'omp_set_lock',
    'std::sys::sync::mutex::futex::Mutex::lock_contended',
    'std::sys::sync::rwlock::futex::RwLock::read_contended',
    'malloc',
  ])
    t.is(kind(`${name} at a.c:1`), 'lock', name);
  for (const name of ['GOMP_barrier', '__kmpc_barrier', 'GOMP_parallel', 'std::sync::barrier::Barrier::wait'])
    t.is(kind(`${name} at a.c:1`), 'barrier', name);
  for (const name of ['std::sync::mpmc::array::Channel<u32>::send', 'std::sys::sync::condvar::futex::Condvar::wait'])
    t.is(kind(`${name} at a.rs:1`), 'data', name);
  for (const place of [' at a.cc:1', '']) {
    // without a place where the program's code is not on the path
    for (const name of ['std::latch::wait', 'std::barrier::arrive_and_wait'])
      t.is(kind(`${name}${place}`), 'barrier', name);
    for (const name of ['std::counting_semaphore::acquire', 'std::atomic<int>::wait', 'std::atomic_flag::wait'])
      t.is(kind(`${name}${place}`), 'data', name);
  }
  for (const name of ['futex at a.c:1', 'inside libgomp.so.1.0.0', 'lock_flag', 'std::future<int>::get at a.cc:1'])
    t.is(kind(name), undefined, name);
  t.is(insideKind({ rawKind: 'loop', name: 'spin lock at a.c:1' }), 'lock');
  t.is(insideKind({ rawKind: 'loop', name: 'loop at a.c:1' }), undefined);
  t.is(insideKind({ rawKind: 'mutex', name: 'GOMP_barrier at a.c:1' }), undefined);
});

const region = (thread: string, below: string[]): [string, string[]] => [
  thread,
  thread === 'main' ? ['main', 'GOMP_parallel', 'part', ...below] : ['main', 'worker', 'part', ...below],
];

test('a lock inside a library is a lock, though nobody counts its users', (t) => {
  const lock = 'futex:GOMP_critical_start at a.c:9';
  const model = buildModel(
    new Builder({ processors: 2 })
      .stretch(second, [run(...region('main', ['work'])), spin(...region('w', [lock]))])
      .stretch(second, [spin(...region('main', [lock])), run(...region('w', ['work']))])
      .build(),
  );
  const [finding] = model.findings;
  t.deepEqual([finding?.kind, finding?.name], ['spinning', 'GOMP_critical_start at a.c:9'], finding?.text);
  t.regex(finding!.text, /^Threads spin for GOMP_critical_start at a\.c:9 during/);
});

test('a barrier inside a library is a barrier: its uneven division is told in what runs before it', (t) => {
  const barrier = 'futex:GOMP_barrier at a.c:9';
  const model = buildModel(
    new Builder({ processors: 2 })
      .stretch(second, [run(...region('main', ['work'])), run(...region('w', ['work']))])
      .stretch(second, [run(...region('main', ['work'])), wait(...region('w', [barrier]))])
      .build(),
  );
  const [finding] = model.findings;
  t.is(finding?.kind, 'imbalance', finding?.text);
  t.regex(finding!.text, /^Unequal work before GOMP_barrier at a\.c:9, in work/);
});

test('one thread has nearly all work of a parallel region, at whose end the others wait: that is uneven, not serial', (t) => {
  for (const [name, kind] of [
    ['GOMP_parallel', 'imbalance'],
    ['__kmpc_fork_call', 'imbalance'],
    ['GOMP_barrier', 'serial'],
  ] as const) {
    const end = `futex:${name} at a.c:9`;
    const [finding] = buildModel(
      new Builder({ processors: 2 })
        .stretch(0.01 * second, [run(...region('main', ['work'])), run(...region('w', ['work']))])
        .stretch(second, [run(...region('main', ['work'])), wait(...region('w', [end]))])
        .build(),
    ).findings;
    t.is(finding?.kind, kind, finding?.text);
  }
});

test('what the run-time library of OpenMP does belongs to its caller, and stands in no list of callers', (t) => {
  const profile = new Builder({ processors: 2 })
    .describe('worker', { module: 1 })
    .describe('GOMP_critical_end', { module: 1 })
    .stretch(second, [
      run('main', ['main', 'part', 'GOMP_critical_end']),
      run('w', ['main', 'worker', 'part', 'GOMP_critical_end']),
    ])
    .stretch(second, [run('main', ['main', 'worker', 'sum'])])
    .build();
  const path = '/usr/lib/x86_64-linux-gnu/libgomp.so.1';
  const { findings } = buildModel({ ...profile, modules: [{ start: 0, end: 1, bias: 0, path, buildId: '' }] });
  t.deepEqual(
    findings.map(({ kind, name }) => `${kind} ${name}`),
    ['overhead part', 'serial sum'],
  );
  t.regex(findings[1]!.text, /^sum, called from main, costs/);
});

test('code that one thread runs on its own path, while workers wait in their library, is serial', (t) => {
  const profile = new Builder({ processors: 2 })
    .describe('GOMP_parallel', { module: 1 })
    .describe('worker', { module: 1 })
    .stretch(second, [run('main', ['main', 'work']), wait('w', ['main', 'worker', 'futex:inside libgomp.so.1'])])
    .stretch(second, [run(...region('main', ['work'])), run(...region('w', ['work']))])
    .build();
  const path = '/usr/lib/x86_64-linux-gnu/libgomp.so.1';
  const [finding] = buildModel({ ...profile, modules: [{ start: 0, end: 1, bias: 0, path, buildId: '' }] }).findings;
  t.deepEqual([finding?.kind, finding?.name], ['serial', 'work'], finding?.text);
  t.regex(finding!.text, /called from main,/);
});

test('an object that a library made for itself may be a barrier: uneven work before it is told though the threads end together', (t) => {
  const inLibrary = (path: string): string[] => {
    const condition = 'condition:condition at libomp.so.5+0x1';
    const profile = new Builder({ processors: 2 })
      .describe(condition, { module: 1 })
      .describe('GOMP_parallel', { module: 1 })
      .describe('worker', { module: 1 })
      .stretch(second, [run(...region('main', ['work'])), run(...region('w', ['work']))])
      .stretch(second, [run(...region('main', ['work'])), wait(...region('w', [condition]))])
      .stretch(second / 100, [run(...region('main', ['work'])), run(...region('w', ['work']))])
      .build();
    return buildModel({ ...profile, modules: [{ start: 0, end: 1, bias: 0, path, buildId: '' }] }).findings.map(
      ({ kind }) => kind,
    );
  };
  t.is(inLibrary('/usr/lib/llvm-14/lib/libomp.so.5')[0], 'imbalance');
  t.not(inLibrary('/home/me/program')[0], 'imbalance');
});

test('a loop that only waits: who works meanwhile is told, and no comma stands twice', (t) => {
  const model = buildModel(
    new Builder({ processors: 2 })
      .stretch(second, [
        run('main', ['main', 'prepare', 'mutex:table']),
        spin('w', ['main', 'use', 'loop:loop at a.c:5']),
      ])
      .stretch(second / 10, [run('main', ['main', 'prepare']), run('w', ['main', 'use'])])
      .build(),
  );
  t.is(model.findings[0]?.kind, 'serial', model.findings.map(({ text }) => text).join('\n'));
  t.regex(model.findings[0]!.text, /loop at a\.c:5/);
  for (const { text, remedy } of model.findings) t.notRegex(`${text} ${remedy}`, /,,|\.\.|undefined|NaN/);
});

test('input and output: no more threads are said to wait than there are', (t) => {
  const builder = new Builder({ processors: 2 }).stretch(second / 20, [io('r', ['main', 'read'])]);
  builder.stretch(second, [run('main', ['main', 'compute']), run('r', ['main', 'read']), io('idle', ['main', 'read'])]);
  builder.stretch(second, [run('main', ['main', 'compute']), io('r', ['main', 'read']), io('idle', ['main', 'read'])]);
  for (const { kind, text } of buildModel(builder.build()).findings)
    if (kind === 'io') t.true(Number(/: ([\d.]+) threads? waited/.exec(text)?.[1]) <= 2, text);
  t.pass();
});

test('what a thread sleeps for is said: time, child processes, other input; who waits for a signal limits nothing', (t) => {
  const asleepIn = (call: string, threads = 1): ReturnType<typeof buildModel> => {
    const sleepers = Array.from({ length: threads }, (_, k) => io(`w#${k}`, ['main', 'step', call]));
    const profile = new Builder({ processors: 2 })
      .describe(call, { module: 1 })
      .stretch(second, [run('main', ['main', 'step'])])
      .stretch(second, sleepers)
      .build();
    return buildModel({ ...profile, modules: [{ start: 0, end: 1, bias: 0, path: '/lib/libc.so.6', buildId: '' }] });
  };
  const told = (call: string): string => asleepIn(call).findings.find(({ kind }) => kind === 'io')?.text ?? '';
  t.regex(told('read'), /^Input and output in step, in read, take 1\.00 s /);
  t.regex(told('nanosleep'), /^step sleeps \(nanosleep\) during /);
  t.regex(told('wait4'), /^step waits for child processes \(wait4\) during /);
  t.is(told('sigwait'), '');
  const remedy = (call: string): string => asleepIn(call).findings.find(({ kind }) => kind === 'io')?.remedy ?? '';
  t.regex(remedy('epoll_wait'), /others .* set the pace; else overlap it/);
  t.regex(remedy('read'), /^Overlap it/);
  t.regex(
    asleepIn('sigwait', 3)
      .notices.map(({ reason }) => reason)
      .join('\n'),
    /nothing ran; threads that waited meanwhile, on average: 3 in sigwait$/m,
  );
});

test('work of child processes is pointed to, and where it is told', (t) => {
  const said = (childrenRunNs: number, childrenApart = false): string =>
    buildModel(
      new Builder({ processors: 2, head: { childrenRunNs, childrenApart } })
        .stretch(second, [run('main', ['main'])])
        .build(),
    )
      .notices.map(({ reason, remedy }) => `${reason}; ${remedy}`)
      .find((text) => text.startsWith('child')) ?? '';
  t.regex(said(3e9), /^child processes used 3\.00 s of processor time, the program itself 1\.00 s: .* --children$/);
  t.regex(said(3e9, true), /it is in theirs/);
  t.is(said(2e7), '');
});

test('two snapshots: nothing is said to save more than there is', (t) => {
  const model = buildModel(
    new Builder({ processors: 2, snapshotNs: 1e6 }).stretch(2e6, [run('main', ['main'])]).build(),
  );
  for (const { reason, remedy } of model.notices) t.notRegex(`${reason} ${remedy}`, /[1-9]\d\d+ %|e-\d/);
  for (const { text, remedy, savingNs } of model.findings) {
    t.notRegex(`${text} ${remedy}`, /e-\d/);
    t.true(savingNs <= model.elapsedNs);
  }
});

test('a lock taken again and again with hardly anything in between is pointed out; one around work is not', (t) => {
  const polling = (times: number): string[] =>
    buildModel(
      new Builder({ processors: 2 })
        .object('mutex:table', { acquisitions: times })
        .call('poll', 'mutex:table', times)
        .stretch(second, [run('main', ['main', 'work']), run('w', ['poll', 'mutex:table'])])
        .stretch(second, [run('main', ['main', 'work']), run('w', ['poll'])])
        .build(),
    )
      .notices.map(({ reason }) => reason)
      .filter((text) => /takes and releases/.test(text));
  const [told, ...more] = polling(2e7);
  t.deepEqual(more, []);
  t.regex(
    told ?? '',
    /^poll takes and releases lock table 20,000,000 times, .*: 100 ns of processor time each, 2\.00 s in all$/,
  );
  t.deepEqual(polling(1e6), []);
});
