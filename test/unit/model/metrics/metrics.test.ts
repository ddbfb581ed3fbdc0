/** Metrics of docs/reference/metrics.md, sections 1 to 5 and 7, on profiles whose numbers are known exactly. */
import test from 'ava';
import {
  checkInvariants,
  findEntities,
  focusOn,
  independentSnapshots,
  shareInterval,
  State,
} from '../../../../ts-frontend/src/model/index.js';
import type { Entity } from '../../../../ts-frontend/src/model/index.js';
import { buildModel, type Model } from '../../../../ts-frontend/src/model/index.js';
import { findingSentences } from '../../../../ts-frontend/src/render/findings/index.js';
import { ProfileBuilder, run, spin, wait } from '../../../support/profile-builder.js';
import {
  eightOnFour,
  lockRing,
  longBesideParallel,
  second,
  serialThenParallel,
  verify,
} from '../../../support/example-profiles.js';

const named = (model: Model, name: string): Entity => {
  const found = findEntities(model, name);
  const procedures = found.filter((id) => model.entities[id]!.kind === 'procedure');
  const ids = procedures.length > 0 ? procedures : found;
  if (ids.length !== 1) throw new Error(`${String(ids.length)} entities are called ${name}`);
  return model.entities[ids[0]!]!;
};
const s = (ns: number): number => Math.round(ns / 1e3) / 1e6; // seconds, to the microsecond
const T = (entity: Entity, i: number): number => s(entity.byBusyNs[i - 1]! * i);

test('section 7: a alone, then b on all processors', (t) => {
  const model = buildModel(serialThenParallel().build());
  const a = named(model, 'a'),
    b = named(model, 'b');
  t.is(T(a, 1), 1);
  t.is(T(b, 4), 4);
  t.deepEqual(
    [a, b, named(model, 'main'), model.root].map((e) => s(e.nptNs)),
    [1, 1, 2, 2],
  );
  t.deepEqual([a.parallelism, b.parallelism], [1, 4]);
  t.deepEqual([s(a.idlenessNs), s(b.idlenessNs)], [3, 0]);
  t.deepEqual([s(a.parallelizeNs), s(b.parallelizeNs)], [0.75, 0]);
  t.is(b.calls, 4);
  t.deepEqual(
    b.callers.map((one) => model.entities[one.entity]!.name),
    ['main'],
  );
  t.deepEqual(checkInvariants(model), []);
});

test('section 7: a beside b, then a alone', (t) => {
  const model = buildModel(longBesideParallel().build());
  const a = named(model, 'a'),
    b = named(model, 'b');
  t.deepEqual([T(a, 4), T(a, 1), T(b, 4)], [1, 1, 3]);
  t.deepEqual([s(a.nptNs), s(b.nptNs)], [1.25, 0.75]);
  t.deepEqual([a.parallelism, b.parallelism], [1.6, 4]);
  t.deepEqual([s(a.idlenessNs), s(b.idlenessNs)], [3, 0]);
  t.deepEqual([s(a.parallelizeNs), s(b.parallelizeNs)], [0.75, 0]);
  t.deepEqual(checkInvariants(model), []);
});

test('section 7: a lock passed round, waiters block', (t) => {
  const model = buildModel(lockRing(wait).build());
  const lock = named(model, 'ring');
  t.is(T(lock, 1), 1);
  t.deepEqual([lock.nptNs, lock.processorTimeNs, lock.idlenessNs, lock.spinBlameNs].map(s), [1, 1, 3, 0]);
  t.is(lock.object!.queueLengthMean, 3);
  t.deepEqual(lock.object!.queueLength, [{ from: 3, to: 3, ns: second }]);
  t.is(s(lock.object!.waitNs), 3);
  t.is(s(lock.object!.holdNs), 1);
  t.false(lock.object!.holdExact);
  t.is(s(lock.object!.waiters.reduce((sum, row) => sum + row.ns, 0)), 3);
  t.is(s(lock.object!.holders.reduce((sum, row) => sum + row.ns, 0)), 3);
  t.deepEqual(
    lock.object!.holders[0]!.path.map((id) => model.entities[id]!.name),
    ['main', 'pass', 'ring'],
  );
  t.deepEqual(checkInvariants(model), []);
});

test('section 7: a lock passed round, waiters spin', (t) => {
  const model = buildModel(lockRing(spin).build());
  const lock = named(model, 'ring');
  t.deepEqual([lock.nptNs, lock.idlenessNs, lock.spinBlameNs].map(s), [1, 0, 3]);
  t.is(s(model.balance.spinningNs), 3);
  t.is(s(lock.states.spinning.ns), 3);
  t.deepEqual(checkInvariants(model), []);
});

test('section 7: eight threads on four processors', (t) => {
  const model = buildModel(eightOnFour().build());
  const b = named(model, 'b');
  t.is(T(b, 4), 8);
  t.deepEqual([b.nptNs, b.idlenessNs].map(s), [2, 0]);
  t.is(b.parallelism, 4);
  t.is(s(b.states.ready.ns), 8);
  t.is(b.states.useful.meanRunnable, 8);
  t.deepEqual(b.states.useful.runnable, [{ from: 8, to: 8, ns: 8 * second }]);
  t.deepEqual(checkInvariants(model), []);
});

test('an entity that is twice on a stack is charged once, and is its own child', (t) => {
  const model = buildModel(
    new ProfileBuilder({ processors: 1 })
      .stretch(second, [run('main', ['f', 'g', 'f', 'h'])])
      .stretch(second, [run('main', ['f', 'g', 'f'])])
      .build(),
  );
  t.is(s(named(model, 'f').nptNs), 2);
  t.is(s(named(model, 'f').nptSelfNs), 1);
  const focus = focusOn(model, named(model, 'f').id);
  t.deepEqual(
    focus.rows.map((row) => [row.self ? 'self' : row.name, s(row.nptNs)]),
    [
      ['h', 1],
      ['self', 1],
    ],
  );
});

test('focus: the rows are the children with their calls, and sum to the entity', (t) => {
  const model = buildModel(verify().build());
  const focus = focusOn(model, named(model, 'main').id);
  t.deepEqual(
    focus.rows.map((row) => [row.self ? 'self' : row.name, s(row.nptNs), row.calls]),
    [
      ['work', 10.43, 18],
      ['create_cone', 3.6, 2],
      ['input', 1.93, 2],
      ['self', 0.31, 0],
      ['end', 0, 0],
    ],
  );
  t.is(s(focus.rows.reduce((sum, row) => sum + row.nptNs, 0)), s(focus.nptNs));
  for (let i = 0; i < 18; i++)
    t.is(s(focus.rows.reduce((sum, row) => sum + row.byBusyNs[i]!, 0)), s(focus.byBusyNs[i]!));
  t.is(focus.waits[0]!.blockedNs, 10.43 * second);
  const root = focusOn(model, 0);
  t.deepEqual(
    root.rows.filter((row) => !row.self).map((row) => row.name),
    ['main'],
  );
});

test('namesakes form a group that is charged once', (t) => {
  const model = buildModel(
    new ProfileBuilder({ processors: 2 })
      .stretch(second, [run('w#1', ['f', 'mutex:m#1', 'mutex:m#2']), wait('w#2', ['f', 'mutex:m#1'])])
      .object('mutex:m#1', { acquisitions: 5, contended: 2 })
      .object('mutex:m#2', { acquisitions: 7 })
      .build(),
  );
  const group = named(model, 'm');
  t.is(group.members.length, 2);
  t.is(s(group.nptNs), 1);
  t.is(group.object!.acquisitions, 12);
  t.is(group.instances, 2);
  t.true(group.members.every((id) => model.entities[id]!.group === group.id));
  t.false(model.ranking.some((id) => group.members.includes(id)));
  t.is(s(named(model, 'w').nptNs), 1);
  t.deepEqual(checkInvariants(model), []);
});

test('unnamed objects are called after their place, unnamed threads after their start routine', (t) => {
  const model = buildModel(
    new ProfileBuilder({ processors: 2 })
      .stretch(second, [run('t', ['work', 'mutex:x'])])
      .describe('mutex:x', { name: '', file: '/src/queue.c', line: 12 })
      .describe('work', { address: 0x5000 })
      .describe('thread:t', { name: '', address: 0x5000 })
      .build(),
  );
  t.deepEqual(
    model.entities.filter((e) => e.kind === 'lock').map((e) => e.name),
    ['mutex at queue.c:12'],
  );
  t.deepEqual(
    model.entities.filter((e) => e.kind === 'thread').map((e) => e.name),
    ['work'],
  );
});

test('compensation takes the cost of each hook from caller and callee, and keeps the raw numbers', (t) => {
  const build = (head: object): Model =>
    buildModel(
      new ProfileBuilder({ processors: 2, head })
        .stretch(1e6, [run('main', ['main'])])
        .stretch(1e6, [run('main', ['main', 'f'])])
        .call('main', 'f', 100_000)
        .build(),
    );
  const model = build({ hookLeastPs: 1000, hookMostPs: 5000, hookInsidePs: 1000 });
  t.is(Math.round(named(model, 'f').nptNs), 900_000);
  t.is(
    Math.round(model.entities.find((e) => e.id !== 0 && e.name === 'main' && e.kind === 'procedure')!.nptSelfNs),
    800_000,
  );
  t.is(Math.round(model.compensation.elapsedNs), 300_000);
  t.true(model.compensation.applied);
  t.is(model.compensation.calls, 100_000);
  t.deepEqual(checkInvariants(model), []);
  const raw = buildModel(model.raw, { compensate: false });
  t.is(named(raw, 'f').nptNs, 1e6);
  t.false(raw.compensation.applied);
  // A cost larger than the observed time reduces it to zero at most, and that is reported.
  const most = build({ hookLeastPs: 30_000, hookMostPs: 30_000, hookInsidePs: 1000 });
  t.is(most.root.nptNs, 900_000);
  t.is(Math.round(most.compensation.clampedNs), 1_900_000);
});

test('intervals: Wilson, wider with unequal weights, around the estimate', (t) => {
  const { low, high } = shareInterval(0.5, 100);
  t.true(Math.abs(low - 0.4038) < 1e-4 && Math.abs(high - 0.5962) < 1e-4);
  t.true(shareInterval(0, 100).low === 0 && shareInterval(0, 100).high > 0.03);
  t.deepEqual(shareInterval(0.3, 0), { low: 0, high: 1 });
  const model = buildModel(serialThenParallel().build());
  const a = named(model, 'a');
  t.true(a.ci95.lowNs < a.nptNs && a.nptNs < a.ci95.highNs);
  t.is(independentSnapshots(model.head), model.samples);
  t.is(independentSnapshots({ ...model.head, weightSquaresUs2: 2 * model.head.weightSquaresUs2 }), model.samples / 2);
});

test('intervals cover the truth at least as often as they promise', (t) => {
  // Programs of random phases, sampled at one random instant in each interval; a fixed generator.
  let seed = 42;
  const random = (): number => (seed = (seed * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
  let covered = 0,
    tried = 0;
  for (let run = 0; run < 400; run++) {
    const edges = Array.from({ length: 20 }, random).sort((a, b) => a - b);
    const on = (x: number): number => edges.filter((edge) => edge < x).length % 2;
    const truth = edges.reduce((sum, edge, k) => sum + (k % 2 === 0 ? -edge : edge), edges.length % 2 === 0 ? 0 : 1);
    const n = 50;
    let hits = 0;
    for (let k = 0; k < n; k++) hits += on((k + random()) / n);
    const { low, high } = shareInterval(hits / n, n);
    tried++;
    if (low <= truth && truth <= high) covered++;
  }
  t.true(covered / tried >= 0.95, `${covered} of ${tried}`);
});

test('invariants hold for whatever the processors do, and are broken by a wrong number', (t) => {
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
  for (let round = 0; round < 60; round++) {
    const P = 1 + random(20);
    const builder = new ProfileBuilder({ processors: P });
    const stackOf = (): string[] => [
      'main',
      ...Array.from({ length: random(6) }, () => ['f', 'g', 'h', 'mutex:a', 'mutex:b#1', 'mutex:b#2'][random(6)]!),
    ];
    for (let k = 0; k < 40; k++) {
      const free = { left: P };
      builder.stretch(
        1 + random(1e6),
        Array.from({ length: random(2 * P) }, (_, thread) => {
          const pick = random(6);
          const name = `t${thread % 3}#${thread}`;
          if (pick < 4 && free.left > 0) {
            free.left--;
            return pick === 3
              ? spin(name, [...stackOf(), 'mutex:a'])
              : {
                  thread: name,
                  stack: stackOf(),
                  waiting: false,
                  state: pick === 2 ? ('overhead' as const) : ('useful' as const),
                };
          }
          return pick === 5
            ? wait(name, [...stackOf(), 'mutex:b#1'])
            : {
                thread: name,
                stack: stackOf(),
                waiting: false,
                state: pick === 4 ? ('io' as const) : ('ready' as const),
              };
        }),
      );
    }
    const raw = builder.build();
    const model = buildModel(raw);
    t.deepEqual(checkInvariants(model), []);
    t.true(model.findings.length <= 3);
    for (const finding of model.findings) {
      t.true(
        finding.savingNs >= 0 && finding.savingNs <= finding.costNs + 1 && finding.costNs <= model.elapsedNs + 1,
        JSON.stringify(finding),
      );
      const { text, remedy } = findingSentences(model, finding, { ascii: false });
      t.regex(text, /\d/);
      t.notRegex(text + remedy, /NaN|undefined|Infinity/);
    }
    const busy = raw.tuples.state.findIndex((state) => state === State.useful);
    if (busy >= 0) {
      raw.tuples.ns[busy]! += 1000;
      t.not(checkInvariants(buildModel(raw)).length, 0);
    }
  }
});
