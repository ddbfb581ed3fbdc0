/** Work and span from the columns of a profile: predictions and their bounds, spawn sites, what is on the span. */
import test from 'ava';
import { buildModel, checkInvariants, workSpanOf, type RawProfile } from '../../../../ts-frontend/src/model/index.js';
import { ProfileBuilder, ready, run, wait } from '../../../support/profile-builder.js';
import { noObject } from '../../../../ts-frontend/src/model/profile/empty-columns.js';
import { second } from '../../../support/example-profiles.js';
import { whatIfKinds, type NamingStyle } from '../../../../ts-frontend/src/model/profile/abi.js';

/** One second alone in `a`, then three processors in `b`: work 4, span 2; four levels of half a second. */
function recorded(change: Partial<RawProfile['head']> = {}): RawProfile {
  const raw = new ProfileBuilder({
    processors: 3,
    head: {
      version: 38,
      spanRecorded: true,
      workNs: 4 * second,
      spanNs: 2 * second,
      typicalSpanNs: 2 * second,
      burdenedSpanNs: 2.01 * second,
      levelNs: second / 2,
      ...change,
    },
  })
    .stretch(second, [run('main', ['main', 'a'])])
    .stretch(second, [run('w1', ['main', 'b']), run('w2', ['main', 'b']), run('w3', ['main', 'b'])])
    .build();
  const node = (name: string): number => {
    const entity = raw.entities.findIndex((one) => one.name === name);
    return raw.stacks.entity.indexOf(entity);
  };
  const b = raw.entities.findIndex(({ name }) => name === 'b');
  return {
    ...raw,
    onSpan: {
      stack: Uint32Array.of(node('a'), node('b')),
      thread: Uint32Array.of(0, 0),
      count: Float64Array.of(1000, 1000),
      ns: Float64Array.of(second, second),
    },
    levels: { ns: Float64Array.of(0.5 * second, 0.5 * second, 1.5 * second, 1.5 * second) },
    sites: {
      site: Float64Array.of(0x1000),
      start: Uint32Array.of(b),
      count: Float64Array.of(3),
      workNs: Float64Array.of(3 * second),
      spanNs: Float64Array.of(3 * second),
      topCount: Float64Array.of(3),
      topWorkNs: Float64Array.of(3 * second),
      topSpanNs: Float64Array.of(3 * second),
      caller: Uint32Array.of(0),
      merges: Float64Array.of(1),
      merged: Float64Array.of(3),
      lost: Float64Array.of(2),
      slackNs: Float64Array.of(second),
      leastSlackNs: Float64Array.of(0.25 * second),
      line: Uint32Array.of(0),
    },
  };
}

test('predictions go by levels, between the bounds', (t) => {
  const raw = recorded();
  const span = workSpanOf(buildModel(raw));
  t.is(span?.parallelism, 2);
  const on = (P: number): readonly number[] => {
    const found = span?.prediction.find(({ processors }) => processors === P);
    return [found?.ns ?? 0, found?.lowNs ?? 0, found?.highNs ?? 0].map((ns) => ns / second);
  };
  t.deepEqual(on(1), [4, 4, 4]);
  t.deepEqual(on(2), [2.5, 2, 3], 'one second alone, three of work on two');
  t.deepEqual(on(4), [2, 2, 2.5], 'no level is shorter than its chain');
  t.deepEqual(on(1024), [2, 2, 4 / 1024 + (1 - 1 / 1024) * 2]);
});

test('what is on the span, and what was spawned', (t) => {
  const model = buildModel(recorded());
  const span = workSpanOf(model);
  const onSpan = (name: string): number =>
    span?.entities.find(({ entity }) => model.entities[entity]?.name === name)?.onSpanNs ?? 0;
  t.is(onSpan('a'), second);
  t.is(onSpan('main'), 2 * second);
  t.is(span?.sites[0]?.onSpanNs, second);
  t.is(span?.sites[0]?.parallelism, 1);
  t.is(span?.unseenNs, 0);
});

test('work and span that contradict each other break an invariant', (t) => {
  t.deepEqual(
    checkInvariants(buildModel(recorded())).filter((line) => line.startsWith('10.')),
    [],
  );
  const broken = (change: Partial<RawProfile['head']>): string =>
    checkInvariants(buildModel(recorded(change)))
      .filter((line) => line.startsWith('10.'))
      .join();
  t.regex(broken({ spanNs: 3 * second }), /what is on the span/);
  t.regex(broken({ workNs: 5 * second }), /levels/);
  t.regex(broken({ typicalSpanNs: 2.05 * second }), /typical/);
  t.regex(broken({ burdenedSpanNs: 1.9 * second }), /burdened/);
  t.regex(broken({ burdenedSpanNs: 3 * second }), /burdened span and elapsed time/, 'three spawns take 15 µs');
  t.regex(broken({ workNs: 1.9 * second }), /span and work, with all sleep/);
});

test('a chain contains no more than work and the exact sum of all sleep; older formats do not have that sum', (t) => {
  const broken = (asleepNs: number, version = 38): string => {
    const raw = recorded({ version, workNs: 1.5 * second });
    const all: RawProfile = {
      ...raw,
      levels: { ns: Float64Array.of(0.5 * second, 0.25 * second, 0.5 * second, 0.25 * second) },
      sites: { ...raw.sites, workNs: Float64Array.of(0.5 * second), topWorkNs: Float64Array.of(0.5 * second) },
      cpuLimits: { ...raw.cpuLimits, asleepNs: Float64Array.of(asleepNs) },
    };
    const lines = checkInvariants(buildModel({ ...all, head: { ...all.head, publisher: 'threadlib' } }));
    return lines.filter((line) => line.startsWith('10.')).join('; ');
  };
  t.is(broken(2.5 * second), '');
  t.regex(broken(2.4 * second), /^10. spawn site 0: span of its top calls/);
  t.regex(broken(0.4 * second), /span and work, with all sleep.*level 3/);
  t.is(broken(0, 37), '');
});

/** `raw`, in which threads waited for a semaphore. */
const withSemaphore = (raw: RawProfile): RawProfile => ({
  ...raw,
  entities: [...raw.entities, { ...raw.entities[0]!, kind: 'semaphore', name: 's' }],
  objects: [{ ...noObject(raw.entities.length), acquisitions: 3 }],
});

/** With one row of the only site instead of another, in the given columns. */
function brokenSite(
  change: Partial<Record<'topSpanNs' | 'topWorkNs' | 'spanNs' | 'workNs', number>>,
  raw = recorded(),
): string {
  const columns = Object.entries(change).map(([name, ns]) => [name, Float64Array.of(ns * second)]);
  const sites = Object.fromEntries(columns) as Partial<RawProfile['sites']>;
  return checkInvariants(buildModel({ ...raw, sites: { ...raw.sites, ...sites } })).join();
}
test('threads of a place that are longer than the run break an invariant; not those that waited for others', (t) => {
  t.is(brokenSite({}), '');
  t.regex(brokenSite({ topSpanNs: 7, spanNs: 7 }), /mean span of top calls and span of the run/);
  t.is(brokenSite({ topWorkNs: 0.5 }, withSemaphore(recorded())), '');
  t.regex(brokenSite({ topWorkNs: 0.5 }), /spawn site 0: span of its top calls/, 'they wait for nothing but ends');
});

test('a level with less work than its chain, and a procedure that is less than its part, break invariants', (t) => {
  const raw = recorded();
  const check = (change: Partial<RawProfile>): string => checkInvariants(buildModel({ ...raw, ...change })).join();
  const thin = { ns: Float64Array.of(0.5 * second, 0.4 * second, 1.6 * second, 1.5 * second) };
  t.regex(check({ levels: thin }), /level 1: 400000000 of work, and 500000000 of the span/);
  const entity = raw.entities.findIndex(({ name }) => name === 'a');
  const free = (spanNs: number): RawProfile['whatIf'] => [
    {
      kind: whatIfKinds.procedure,
      name: 'a',
      entity,
      site: 0,
      factor: 0,
      sinceNs: 0,
      found: true,
      seen: true,
      missed: false,
      spanNs,
      workNs: 3 * second,
    },
  ];
  t.is(check({ whatIf: free(second) }), '', 'half of the span');
  t.regex(check({ whatIf: free(0.8 * second) }), /what if 0: span 800000000 of 2000000000, where 0.5 of it/);
  // Where stalls leave a twentieth of the snapshots independent, the part may be as much more.
  const stalled = { ...raw.head, weightSquaresUs2: 20 * raw.head.weightSquaresUs2 };
  t.is(check({ head: stalled, whatIf: free(0.8 * second) }), '');
  t.regex(check({ head: stalled, whatIf: free(0.4 * second) }), /what if 0: span 400000000/);
  const width = (head: RawProfile['head']): number => {
    const ci95 = workSpanOf(buildModel({ ...raw, head }))!.entities.find((one) => one.entity === entity)!.ci95;
    return ci95.highNs - ci95.lowNs;
  };
  t.true(width(stalled) > 4 * width(raw.head) && width(stalled) < 5 * width(raw.head));
  // Nor do snapshots count that were taken while the span's thread waited for a CPU, for most of the run.
  const kept = { ...raw.head, elapsedNs: 20 * raw.head.elapsedNs, weightSquaresUs2: 400 * raw.head.weightSquaresUs2 };
  t.true(width(kept) > 3 * width(raw.head), `${width(kept)} and ${width(raw.head)}`);
});

test('a pthread lock whose holders used more than the elapsed time breaks an invariant', (t) => {
  const head = { spanRecorded: true, publisher: 'pthread', workNs: second, spanNs: second, levelNs: second } as const;
  const raw = new ProfileBuilder({ processors: 2, head })
    .stretch(second, [run('main', ['main', 'mutex:lock'])])
    .build();
  const entity = raw.entities.findIndex(({ kind }) => kind === 'mutex');
  const broken = (holdNs: number): string =>
    checkInvariants(buildModel({ ...raw, objects: [{ ...noObject(entity), holdNs }] })).join();
  t.notRegex(broken(0.9 * second), /held time/);
  t.regex(broken(1.2 * second), /held time of object/);
});

test('a profile without work and span has none', (t) => {
  t.is(workSpanOf(buildModel(recorded({ spanRecorded: false }))), null);
});

test('a lock of a plain pthread program is held for as long as its holder had a CPU', (t) => {
  const head = { spanRecorded: true, workNs: 2 * second, spanNs: 2 * second, publisher: 'pthread' } as const;
  const held = ['main', 'mutex:lock', 'inside'];
  const raw = new ProfileBuilder({ processors: 1, head })
    .stretch(second, [run('main', held)])
    .stretch(3 * second, [ready('main', held), run('other', ['other'])])
    .build();
  const locks = workSpanOf(buildModel(raw))?.locks ?? [];
  t.is(locks.length, 1);
  t.true(Math.abs(locks[0]!.holdNs - second) < 0.01 * second, `${locks[0]!.holdNs}`);
});

test('a lock has no more work, and no more of the span, than its holders were measured to use', (t) => {
  const head = { spanRecorded: true, workNs: 2 * second, spanNs: 2 * second, publisher: 'pthread' } as const;
  const built = new ProfileBuilder({ processors: 1, head })
    .stretch(second, [run('main', ['main', 'mutex:lock', 'a'])])
    .stretch(second, [run('main', ['main', 'a'])])
    .build();
  const lock = built.entities.findIndex(({ kind }) => kind === 'mutex');
  const inLock = built.stacks.entity.length - 1 - built.stacks.entity.slice().reverse().indexOf(lock);
  const onSpan = {
    stack: Uint32Array.of(inLock),
    thread: Uint32Array.of(0),
    count: Float64Array.of(2000),
    ns: Float64Array.of(2 * second),
  };
  const rowOf = (holdNs: number): readonly number[] => {
    const raw = { ...built, onSpan, objects: [{ ...noObject(lock), acquisitions: 1000, holdNs }] };
    const row = workSpanOf(buildModel(raw))!.entities.find(({ entity }) => entity === lock)!;
    return [row.onSpanNs, row.ci95.highNs, row.workNs];
  };
  t.deepEqual(rowOf(second / 100), [second / 100, second / 100, second / 100]);
  t.deepEqual(rowOf(0), [2 * second, 2 * second, second], 'not measured');
});

test('a lock of the package is not held for the time that its holder waits for a processor', (t) => {
  const head = { spanRecorded: true, workNs: 2 * second, spanNs: 2 * second, publisher: 'threadlib' } as const;
  const held = ['main', 'mutex:lock', 'inside'];
  const raw = new ProfileBuilder({ processors: 1, head })
    .stretch(second, [run('main', held)])
    .stretch(3 * second, [ready('main', held), run('other', ['other'])])
    .build();
  const locks = workSpanOf(buildModel(raw))?.locks ?? [];
  t.is(locks.length, 1);
  t.true(Math.abs(locks[0]!.holdNs - second / 2) < 0.01 * second, `${locks[0]!.holdNs}: a quarter of the work`);
});

test('waits that are not seen make the span uncertain', (t) => {
  const of = (object: string, ns: number, style: NamingStyle = 'other'): ReturnType<typeof workSpanOf> => {
    const raw = new ProfileBuilder({
      processors: 2,
      head: { publisher: 'pthread', spanRecorded: true, workNs: 4 * second, spanNs: second },
    })
      .stretch(2 * second - ns, [run('main', ['main', 'a']), run('w', ['main', 'b'])])
      .stretch(ns, [run('main', ['main', 'a']), wait('w', ['main', 'b', object])])
      .build();
    const entities = raw.entities.map((one) => (one.name === 'w' ? { ...one, style } : one));
    return workSpanOf(buildModel({ ...raw, entities }));
  };
  const forms = (span: ReturnType<typeof workSpanOf>): string[] => span!.scaling.map(({ form }) => form);
  const much = of('futex:turn', second / 2)!;
  t.is(much.unseenOrder.waitNs, second / 2);
  t.false(much.unseenOrder.regions);
  t.false(forms(much).includes('more-processors-help'), 'that is not known');
  t.true(forms(of('futex:turn', second / 20)).includes('more-processors-help'));
  for (const [object, ns] of [
    ['mutex:m', 0],
    ['futex(region-end):GOMP_parallel at a.c:9', 0],
    ['futex(lock):GOMP_critical_start at a.c:9', second / 2],
    ['loop:loop at a.c:9', second / 2],
  ] as const)
    t.is(of(object, second / 2)!.unseenOrder.waitNs, ns, object);
  const llvm = of('futex(region-end):__kmpc_fork_call at a.c:9', second / 20, 'llvm-team')!;
  t.like(llvm.unseenOrder, { waitNs: second / 20, regions: true });
  t.false(forms(llvm).includes('more-processors-help'));
});
