/**
 * The estimate of what a program would show with its CPUs to itself keeps the observed pairs of waiting and running
 * threads.
 */
import test from 'ava';
import type { RawHead } from '../../../../ts-frontend/src/model/profile/raw-profile.js';
import type { RawProfile } from '../../../../ts-frontend/src/model/index.js';
import { buildModel } from '../../../../ts-frontend/src/model/index.js';
import {
  costsBesideIdle,
  prepareWaitOverlap,
  waitersBeside,
} from '../../../../ts-frontend/src/model/evidence/wait-overlap.js';
import { KernelWork, State } from '../../../../ts-frontend/src/model/profile/raw-profile.js';
import { cpuWaitOf } from '../../../../ts-frontend/src/model/metrics/cpu-wait.js';
import { isDisturbed, undisturbed } from '../../../../ts-frontend/src/model/evidence/undisturbed/undisturbed.js';
import { ProfileBuilder, ready, run, spin, wait, woken, type Doing } from '../../../support/profile-builder.js';
import { second } from '../../../support/example-profiles.js';
import { factsOf } from '../../../support/facts.js';

/** One of two workers is kept from its CPU for nine of ten seconds, while main waits for both. */
function recorded(): RawProfile {
  const main = wait('main', ['main', 'join:end']);
  return new ProfileBuilder({
    processors: 2,
    head: { publisher: 'pthread', cpuRunNs: 12 * second, cpuWaitNs: 9 * second },
  })
    .stretch(9 * second, [main, run('w1', ['main', 'work']), ready('w2', ['main', 'work'])])
    .stretch(second, [main, run('w1', ['main', 'work']), run('w2', ['main', 'work'])])
    .stretch(second, [main, run('w1', ['main', 'work'])])
    .build();
}

/** How many threads waited on average while one of two processors ran `work`, by the pairs. */
function waiters(raw: RawProfile): { mean: number; ns: number } {
  const costs = costsBesideIdle(raw);
  const members = Array.from(costs.keys()).filter((node) => costs[node]! > 0);
  const [mean = 0] = waitersBeside(prepareWaitOverlap(raw), members).values();
  return { mean, ns: members.reduce((sum, node) => sum + costs[node]!, 0) };
}

test('no more threads wait than did', (t) => {
  const raw = recorded();
  t.true(isDisturbed(buildModel(raw)));
  const before = waiters(raw);
  t.is(before.ns, 10 * second);
  t.true(Math.abs(before.mean - 1) < 1e-9, `${before.mean}`);
  const after = waiters(undisturbed(raw, { isLock: () => false, endsWithin: () => true, meets: () => false }));
  t.true(Math.abs(after.ns - second) < 1e-3 * second, `${after.ns / second} s are left in which one runs alone`);
  t.true(Math.abs(after.mean - 1) < 1e-9, `${after.mean}`);
});

test('as many wait for what a delayed thread passes on as while it was seen to run', (t) => {
  const condition = wait('main', ['main', 'condition:made']);
  const raw = new ProfileBuilder({
    processors: 2,
    head: { publisher: 'pthread', cpuRunNs: second, cpuWaitNs: 9 * second },
  })
    .stretch(second, [condition, run('w', ['main', 'work'])])
    .stretch(9 * second, [condition, ready('w', ['main', 'work'])])
    .build();
  const kinds = { isLock: () => false, endsWithin: () => true };
  const after = waiters(undisturbed(raw, { ...kinds, meets: () => false }));
  t.true(Math.abs(after.ns - 10 * second) < 1e-3 * second, `${after.ns / second} s`);
  t.true(Math.abs(after.mean - 1) < 1e-9, `${after.mean}`);
  // those that wait at a barrier are known, and are counted once
  const met = waiters(undisturbed(raw, { ...kinds, meets: () => true }));
  t.true(Math.abs(met.mean - 1) < 1e-9, `${met.mean}`);
});

test('a stack that was seen once in the kernel is not there for all the time that it would gain', (t) => {
  const raw = new ProfileBuilder({
    processors: 2,
    snapshotNs: second / 10,
    head: { publisher: 'pthread', cpuRunNs: 2.1 * second, cpuWaitNs: 2 * second },
  })
    .stretch(2 * second, [run('main', ['main', 'work'])])
    .stretch(second / 10, [{ ...run('main', ['main', 'init']), kernel: 'fault' }])
    .stretch(2 * second, [ready('main', ['main', 'init'])])
    .build();
  const { tuples } = undisturbed(raw, { isLock: () => false, endsWithin: () => true, meets: () => false });
  const faultNs = tuples.ns.reduce((sum, ns, k) => sum + (tuples.kernel[k] === KernelWork.fault ? ns : 0), 0);
  t.true(faultNs > 0.3 * second && faultNs < 0.7 * second, `${faultNs / second} s, a fifth of what it gains`);
});

test('who wakes another one in its lock, and loses its CPU to it, does not work there for all that time', (t) => {
  const inLock = ['main', 'put', 'mutex:queue'],
    signal = [...inLock, 'pthread_cond_signal'];
  const raw = new ProfileBuilder({
    processors: 2,
    head: { publisher: 'pthread', cpuRunNs: 2 * second, cpuWaitNs: 2 * second },
  })
    .stretch(1.9 * second, [run('main', ['main', 'make'])])
    .stretch(0.1 * second, [run('main', inLock)])
    .stretch(second, [ready('main', inLock)])
    .stretch(second, [ready('main', signal)])
    .build();
  const { tuples } = undisturbed(raw, { isLock: () => false, endsWithin: () => true, meets: () => false });
  const queue = raw.entities.findIndex(({ kind }) => kind === 'mutex');
  const isIn = (node: number): boolean =>
    node !== 0 && (raw.stacks.entity[node] === queue || isIn(raw.stacks.parent[node]!));
  let workNs = 0;
  for (let k = 0; k < tuples.ns.length; k++)
    if (tuples.state[k] === State.useful && isIn(tuples.stack[k]!)) workNs += tuples.ns[k]!;
  t.true(workNs > 0.15 * second && workNs < 0.3 * second, `${workNs / second} s, a twentieth of the work`);
});

test('who has been woken for a lock, and waits for a CPU, would not have worked beside who has it', (t) => {
  const raw = new ProfileBuilder({
    processors: 2,
    head: { publisher: 'pthread', cpuRunNs: 2 * second, cpuWaitNs: 2 * second },
  })
    .stretch(2 * second, [run('w1', ['main', 'work']), { ...woken('w2', ['main', 'condition:turn']), state: 'ready' }])
    .build();
  const turn = raw.entities.findIndex(({ kind }) => kind === 'condition');
  const twoBusyNs = (isLock: boolean): number => {
    const { busy, ns } = undisturbed(raw, {
      isLock: (id) => isLock && id === turn,
      endsWithin: () => true,
      meets: () => false,
    }).balance;
    return ns.reduce((sum, its, k) => sum + (busy[k] === 2 ? its : 0), 0);
  };
  t.deepEqual([twoBusyNs(true), twoBusyNs(false)], [0, 2 * second]);
});

test('who comes late because others had its CPU has no larger share; who has more to do has, there too', (t) => {
  const end = spin('main', ['main', 'futex(barrier):GOMP_barrier at a.c:9']);
  const main = run('main', ['main', 'work']),
    w = run('w', ['main', 'work']);
  for (const [more, isUneven] of [
    [0, false],
    [2, true],
  ] as const) {
    const builder = new ProfileBuilder({
      processors: 2,
      head: { publisher: 'pthread', cpuRunNs: (4 + 2 * more) * second, cpuWaitNs: second },
    })
      .stretch(second, [main, w])
      .stretch(0.5 * second, [main, ready('w', ['main', 'work'])])
      .stretch(0.5 * second, [end, ready('w', ['main', 'work'])])
      .stretch(0.5 * second, [end, w]);
    if (more > 0) builder.stretch(more * second, [end, w]);
    const { findings } = buildModel(builder.build());
    t.is(
      findings.some(({ kind }) => kind === 'imbalance'),
      isUneven,
    );
  }
});

const dock = 'futex:inside libgomp.so.1';
const body = (thread: string): string[] => (thread === 'main' ? ['main', 'GOMP_parallel', 'body'] : ['start', 'body']);
const end = spin('main', ['main', 'futex(region-end):GOMP_parallel at a.c:9']);
const idle = spin('w', ['start', dock]);
/** Two CPUs, and other programs that have one or both of them nearly all the time: short parallel regions. */
const besideOthers = (): ProfileBuilder =>
  new ProfileBuilder({
    processors: 2,
    head: { publisher: 'pthread', cpuRunNs: 3 * second, cpuWaitNs: 12 * second },
  })
    .describe('GOMP_parallel', { origin: 'openmp' })
    .describe('start', { origin: 'openmp' })
    .describe(dock, { origin: 'openmp' });
const off = (doing: Doing): Doing => ({ ...doing, state: 'ready' });

test('regions as short as others keep threads waiting: even shares are neither serial nor too small', (t) => {
  for (const [shareOfMain, isUneven] of [
    [1, false],
    [3, true],
  ] as const) {
    const builder = besideOthers();
    const main = run('main', body('main')),
      w = run('w', body('w'));
    builder
      .stretch(0.2 * second, [main, w])
      .stretch(0.5 * shareOfMain * second, [main, off(idle)]) // it waits for the next region, and has no CPU
      .stretch(0.5 * second, [off(end), w])
      .stretch(0.5 * shareOfMain * second, [main, idle])
      .stretch(0.5 * second, [end, w])
      .stretch(0.5 * second, [off(main), idle])
      .stretch(0.5 * second, [end, off(w)])
      .stretch(2 * second, [off(end), off(idle)]); // all wait for each other: so one of them has been released
    const { findings } = buildModel(builder.build());
    const [first] = findings;
    t.deepEqual(
      findings.filter(({ kind }) => kind === 'serial' || kind === 'overhead').map(({ name }) => name),
      [],
      `${shareOfMain}`,
    );
    t.is(first?.kind === 'imbalance' && first.savingNs > 0.05 * 6 * second, isUneven, `${first?.kind}`);
  }
});

test('who is woken in a library of OpenMP, and has no CPU, does not do the work of the library', (t) => {
  const main = run('main', body('main')),
    w = run('w', body('w'));
  const { findings } = buildModel(
    besideOthers()
      .describe('futex_wait', { origin: 'openmp' })
      .stretch(second, [main, w])
      .stretch(2 * second, [
        ready('main', ['main', 'GOMP_parallel', 'futex_wait']),
        ready('w', ['start', 'futex_wait']),
      ])
      .build(),
  );
  t.deepEqual([findings[0]?.kind, findings[0]?.name], ['optimize', 'body']);
  t.false(findings.some(({ kind }) => kind === 'overhead' || kind === 'serial'));
});

test('a master block between shares that seldom have both CPUs: the block is serial, the shares are not', (t) => {
  const barrier = 'futex(barrier):GOMP_barrier at a.c:9';
  const main = run('main', body('main')),
    w = run('w', body('w')),
    arrived = spin('w', ['start', barrier]);
  const { findings } = buildModel(
    besideOthers()
      .stretch(0.05 * second, [main, w])
      .stretch(0.5 * second, [main, arrived])
      .stretch(0.5 * second, [spin('main', ['main', 'GOMP_parallel', barrier]), w])
      .stretch(second, [run('main', ['main', 'GOMP_parallel', 'block']), arrived])
      .build(),
  );
  const serials = findings.filter(({ kind }) => kind === 'serial').map(({ name }) => name);
  t.deepEqual(serials, ['block']);
  t.is(findings[0]?.name, 'block');
});

test('threads that wait for each other alone, without CPUs, cannot all wait: one at least does its usual work', (t) => {
  const work = run('main', body('main'));
  const raw = besideOthers()
    .stretch(second, [work, idle])
    .stretch(2 * second, [off(end), off(idle)])
    .build();
  const nodeOf = (name: string): number => raw.stacks.entity.findIndex((id) => raw.entities[id]!.name === name);
  const doneBy = (endsWithin: boolean): { nothingNs: number; bodyNs: number } => {
    const { balance, tuples } = undisturbed(raw, {
      isLock: () => false,
      endsWithin: () => endsWithin,
      meets: () => true,
    });
    const inBody = nodeOf('body');
    return {
      nothingNs: balance.ns.reduce((sum, ns, k) => sum + (balance.busy[k] === 0 ? ns : 0), 0),
      bodyNs: tuples.ns.reduce((sum, ns, k) => sum + (tuples.stack[k] === inBody && tuples.busy[k]! > 0 ? ns : 0), 0),
    };
  };
  t.deepEqual(doneBy(false), { nothingNs: 2 * second, bodyNs: second });
  const { nothingNs, bodyNs } = doneBy(true);
  t.is(nothingNs, 0);
  t.true(bodyNs > 1.9 * second, `${bodyNs / second} s`); // main's part: of who waits and has done nothing yet, unknown
});

/** Three threads, of which one has no CPU and one waits for a lock, most of the time (`waits`), or now and then. */
function besideLock(waits: boolean): RawProfile {
  const builder = new ProfileBuilder({
    processors: 2,
    head: { publisher: 'pthread', cpuRunNs: second, cpuWaitNs: 0.7 * second },
  });
  const work = ['start', 'shrink'],
    lock = ['start', 'mutex:m'];
  for (let k = 0; k < 20; k++) {
    const [a, b, c] = ['w1', 'w2', 'w3'].map((_, n, all) => all[(n + k) % 3]!) as [string, string, string];
    builder.stretch(0.035 * second, [run(a, work), ready(b, work), waits ? wait(c, lock) : ready(c, work)]);
    if (waits) builder.stretch(0.015 * second, [run(a, work), wait(b, lock), wait(c, lock)]);
    else builder.stretch(0.015 * second, [run(a, work), ready(b, work), k < 2 ? wait(c, lock) : ready(c, work)]);
    if (!waits && k < 2) builder.stretch(0.015 * second, [run(a, work), wait(b, lock), wait(c, lock)]);
    if (!waits && k < 4) builder.stretch(0.02 * second, [run('w1', ['start', 'sum'])]);
  }
  return builder.object('mutex:m', { contended: 40, acquisitions: 60 }).build();
}

test('beside others, threads may have waited for a lock instead of filling all CPUs: the lock comes first', (t) => {
  const { findings } = buildModel(besideLock(true));
  const code = findings.find(({ facts }) => facts.form === 'optimize');
  t.is(findings[0]?.facts.form, 'lock');
  t.true(code === undefined || (code.facts.form === 'optimize' && code.facts.guessed));
});

test('beside others, a lock that few of the threads that are seen wait for does not make code a guess', (t) => {
  const { findings } = buildModel(besideLock(false));
  const [first] = findings;
  t.true(findings.some(({ facts }) => facts.form === 'lock'));
  t.deepEqual([first?.facts.form, first?.name], ['optimize', 'shrink']);
  t.true(first?.facts.form === 'optimize' && !first.facts.guessed);
});

/** Four threads, of which one works; another one was woken for a lock, and the others have no CPU (`waited`: in s). */
function starved(waited: number): RawProfile {
  const builder = new ProfileBuilder({
    processors: 2,
    head: { publisher: 'pthread', cpuRunNs: second, cpuWaitNs: 2.5 * second },
  });
  const work = ['start', 'shrink'],
    lock = ['start', 'mutex:m'];
  for (let k = 0; k < 20; k++) {
    const [a, b, c, d] = ['w1', 'w2', 'w3', 'w4'].map((_, n, all) => all[(n + k) % 4]!);
    const others = [ready(c!, work), ready(d!, work)];
    builder.stretch((waited / 20) * second, [run(a!, work), woken(b!, lock), ...others]);
    builder.stretch(((1 - waited) / 20) * second, [run(a!, work), ready(b!, work), ...others]);
  }
  return builder.object('mutex:m', { contended: 40, acquisitions: 60 }).build();
}

test('beside others, code that keeps all CPUs busy by estimate names a lock that threads waited for long', (t) => {
  const doubtOf = (waited: number): unknown => {
    const model = buildModel(starved(waited));
    const [first] = model.findings;
    t.deepEqual([first?.facts.form, first?.name], ['optimize', 'shrink']);
    if (first?.facts.form !== 'optimize') return undefined;
    const { guessed, waited: its } = first.facts;
    t.is(guessed, its !== null);
    return its && model.entities[its.lock]?.name;
  };
  t.is(doubtOf(0.6), 'm');
  t.is(doubtOf(0.3), null);
});

/** Rounds: main works alone, then two threads that it made share the rest; the second one gets its CPU too late. */
function rounds(head: Partial<RawHead>): RawProfile {
  const builder = new ProfileBuilder({
    processors: 2,
    snapshotNs: 2e6,
    head: { publisher: 'pthread', cpuRunNs: 0.6 * second, spawns: 400, switchesKnown: true, ...head },
  });
  for (let k = 0; k < 100; k++) {
    const [first, last] = [`a${k}`, `b${k}`],
      joins = wait('main', ['main', 'join:end']);
    builder
      .stretch(2e6, [run('main', ['main', 'collect'])])
      .stretch(2e6, [joins, run(first, ['main', 'share']), ready(last, ['main', 'share'])])
      .stretch(2e6, [joins, run(last, ['main', 'share'])]);
  }
  return builder.build();
}

test('how long threads waited that ended before they were read is what snapshots saw', (t) => {
  const waitedMs = (cpuDispatches: number): number =>
    Math.round(cpuWaitOf(rounds({ cpuDispatches, voluntarySwitches: 100 }), null).waitNs / 1e6);
  t.is(waitedMs(500), 0, 'each of 500 creations and wake-ups got a CPU: nothing is missing');
  t.is(waitedMs(250), 150, 'less 0.1 ms for each');
});

test('short threads that waited for CPUs do not share the work unevenly', (t) => {
  const { findings } = buildModel(rounds({ cpuDispatches: 250, voluntarySwitches: 100 }));
  t.deepEqual([findings[0]?.kind, findings[0]?.name], ['serial', 'collect']);
  t.false(findings.some(({ kind }) => kind === 'imbalance'));
  const quiet = buildModel(rounds({ cpuDispatches: 500, voluntarySwitches: 100 })).findings;
  t.is(quiet[0]?.name, 'share', 'without waits, one of them runs after the other');
});

test('a thread that waited for a CPU while no other one ran has not come late for that', (t) => {
  const at = (thread: string): Doing => wait(thread, ['main', 'work', 'barrier:b']);
  const savesOf = (delayed: Doing[]): number | undefined => {
    const [one, other] = [run('w1', ['main', 'work']), run('w2', ['main', 'work'])];
    const raw = new ProfileBuilder({
      processors: 2,
      head: { publisher: 'pthread', cpuRunNs: 14 * second, cpuWaitNs: 2 * second },
    })
      .stretch(4 * second, [one, at('w2')])
      .stretch(4 * second, [at('w1'), other])
      .stretch(3 * second, [one, other])
      .stretch(2 * second, delayed)
      .build();
    const model = buildModel(raw);
    t.is(model.cpuWait.othersNs, 2 * second);
    const found = model.findings.find(({ kind }) => kind === 'imbalance');
    t.true(Math.abs(factsOf(found, 'uneven-division').evenMostNs - found!.costNs / 2) < 1e-3 * second);
    return found?.savingNs;
  };
  const late = ready('w2', ['main', 'work']);
  t.true(Math.abs(savesOf([at('w1'), late])! - 5 * second) < 1e-3 * second); // half of 4 + 4 + 2
  t.true(Math.abs(savesOf([run('w1', ['main', 'work']), late])! - 2 * second) < 1e-3 * second); // 4 - 2
});
