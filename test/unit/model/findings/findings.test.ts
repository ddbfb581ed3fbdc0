/**
 * What limits a program: which findings are reported, in which order and with which certainty; and programs without
 * problems.
 */
import test from 'ava';
import { buildModel, type Model, type Origin } from '../../../../ts-frontend/src/model/index.js';
import { ProfileBuilder as Builder, run, spin, wait } from '../../../support/profile-builder.js';
import * as examples from '../../../support/example-profiles.js';
import { second } from '../../../support/example-profiles.js';
import { factsOf, ms, nameOf, namesOf, noticesOf, waitingIn } from '../../../support/facts.js';
import { close, first, kinds } from '../expected.js';

test('serial code before parallel code', (t) => {
  const finding = first(t, examples.serialThenParallel(), {
    kind: 'serial',
    entity: 'a',
    change: 'create-parallelism',
    cost: 1,
    saving: 0.75,
  });
  t.deepEqual(finding.processorUse, { busy: 1, spinning: 0, idle: 3 });
});

test('what a run-time library does belongs to its caller; what another library does is named', (t) => {
  const recorded = (origin: Origin): Model => {
    const profile = new Builder({ processors: 4 })
      .stretch(second, [run('main', ['main', 'report', 'fprintf', 'vfprintf'])])
      .stretch(
        second,
        ['w1', 'w2', 'w3', 'w4'].map((thread) => run(thread, ['main', 'sum', 'fprintf'])),
      )
      .build();
    for (const entity of profile.entities) if (/printf/.test(entity.name)) entity.origin = origin;
    return buildModel(profile);
  };
  const model = recorded('runtime');
  const { findings } = model;
  t.deepEqual(
    findings.map(({ kind, name }) => `${kind} ${name}`),
    ['serial report', 'optimize sum'],
  );
  const { callers, parts } = factsOf(findings[0], 'serial');
  t.deepEqual([namesOf(model, callers), namesOf(model, parts)], [['main'], ['fprintf']]);
  const { within } = factsOf(findings[1], 'optimize');
  t.deepEqual([nameOf(model, within!.entity), ms(within!.ns), ms(findings[1]!.costNs)], ['fprintf', 1000, 1000]);
  for (const origin of ['installed', 'own'] as const) t.is(recorded(origin).findings[0]!.name, 'vfprintf');
});

test('a lock that is held is on the path, but calls nothing', (t) => {
  const builder = new Builder({ processors: 2 })
    .stretch(0.5 * second, [run('w1', ['main', 'flow', 'mutex:file', 'mix'])])
    .stretch(0.5 * second, [run('w1', ['main', 'flow', 'mix']), run('w2', ['main', 'flow', 'mix'])]);
  const model = buildModel(builder.build());
  const serial = model.findings.find(({ kind, name }) => kind === 'serial' && name === 'mix');
  t.deepEqual(namesOf(model, factsOf(serial, 'serial').callers), ['main', 'flow']);
});

test('OpenMP: small pieces, and locks taken very often, show in what the library takes; larger pieces do not', (t) => {
  /**
   * For ten parts of the time the library has some in `call`; for the rest one thread works and the other waits at the
   * end of the region.
   */
  const recorded = (call: string, parts: number, ...lock: string[]): Model => {
    const tree = ['main', 'sum', ...lock];
    const profile = new Builder({ processors: 2 })
      .stretch((parts / 10) * second, [
        run('main', [...tree, call, 'malloc']),
        spin('w', ['main', 'start', 'futex:GOMP_taskwait at sum.c:3']),
      ])
      .stretch((1 - parts / 10) * second, [
        run('main', tree),
        wait('w', ['main', 'start', 'futex(region-end):GOMP_parallel at sum.c:9']),
      ])
      .build();
    for (const entity of profile.entities) if (/GOMP|start|malloc/.test(entity.name)) entity.origin = 'openmp';
    return buildModel(profile);
  };
  const tasks = recorded('GOMP_task', 8);
  const [small] = tasks.findings;
  t.deepEqual([small!.kind, small!.name, small!.change], ['overhead', 'sum', 'coarsen']);
  close(t, 'cost', small!.costNs, 0.8);
  const { calls, use, savesNs, mostNs } = factsOf(small, 'openmp');
  close(t, 'saving at least', savesNs, 0.72);
  close(t, 'saving at most', mostNs, 0.8); // the program's own work takes 0.2 s
  t.deepEqual([namesOf(tasks, calls), use], [['GOMP_task'], 'pieces']);
  t.false(
    tasks.findings.some(({ advice }) => advice.pieces === 'smaller'),
    'no advice to the contrary',
  );
  t.is(recorded('GOMP_task', 8, 'mutex:file').findings[0]!.name, 'sum', 'a lock that is held meanwhile owns no work');
  t.is(factsOf(recorded('GOMP_critical_start', 8).findings[0], 'openmp').use, 'exclusion');
  t.false(
    recorded('GOMP_critical_start', 8, 'mutex:omp critical').findings.some(({ facts }) => facts.form === 'openmp'),
    'where the layer records the lock, findings about locks report it',
  );
  const [ordered] = recorded('GOMP_ordered_start', 8).findings;
  t.deepEqual([factsOf(ordered, 'openmp').use, ordered!.advice.pieces], ['order', null]);
  close(t, 'all that waits for a turn goes', ordered!.savingNs, 0.8);
  t.false(recorded('GOMP_task', 0.5).findings.some(({ kind }) => kind === 'overhead'));
});

test("what the library's own threads do is not the work of main, which made them", (t) => {
  const profile = new Builder({ processors: 4 })
    .stretch(0.5 * second, [
      run('main', ['main', 'sum', 'GOMP_parallel']),
      ...['w1', 'w2', 'w3'].map((one) => run(one, ['main', 'start'])),
    ])
    .stretch(
      0.5 * second,
      ['main', 'w1', 'w2', 'w3'].map((one) => run(one, ['main', 'sum'])),
    )
    .build();
  for (const entity of profile.entities) if (/GOMP|start/.test(entity.name)) entity.origin = 'openmp';
  const [first] = buildModel(profile).findings;
  t.deepEqual([first!.facts.form, first!.name], ['openmp', 'sum']);
});

test(
  'threads that wait in a loop for others that do something else are a pipeline; those that do the same, a ' +
    'barrier of their own',
  (t) => {
    const recorded = (other: string, code: string): Model => {
      const builder = new Builder({ processors: 2 });
      for (let k = 0; k < 10; k++)
        builder
          .stretch(0.04 * second, [run('maker', ['main', 'decode']), run(other, ['main', code])])
          .stretch(0.06 * second, [
            run('maker', ['main', 'decode']),
            spin(other, ['main', code, 'loop:loop at ring.cc:9']),
          ]);
      return buildModel(builder.build());
    };
    for (const other of ['user', 'maker#2']) {
      // whatever they are called
      const [stage] = recorded(other, 'apply').findings;
      t.deepEqual([stage!.kind, stage!.name], ['pipeline', 'decode']);
      t.is(recorded(other, 'decode').findings[0]!.kind, 'imbalance');
    }
  },
);

test('threads that are made anew for each phase are as many as there are at the same time', (t) => {
  const builder = new Builder({ processors: 2 });
  for (let k = 0; k < 10; k++) {
    const a = `a${k}`,
      b = `b${k}`,
      join = wait('main', ['main', 'join:ends']);
    builder
      .stretch(0.06 * second, [join, run(a, ['main', 'part']), run(b, ['main', 'part'])])
      .stretch(0.04 * second, [join, run(k % 2 ? a : b, ['main', 'part'])]);
  }
  const {
    findings: [finding],
  } = buildModel(builder.build());
  t.deepEqual([finding!.kind, finding!.change], ['imbalance', 'balance']);
  const { atOnce, among } = factsOf(finding, 'uneven-division');
  t.deepEqual([atOnce, among], [2, 2]);
});

test('a program that hangs: what its threads wait for', (t) => {
  const model = buildModel(
    new Builder({ processors: 2 })
      .stretch(second, [run('w1', ['main', 'a']), run('w2', ['main', 'a'])])
      .stretch(9 * second, [
        wait('w1', ['main', 'condition:full']),
        wait('w2', ['main', 'condition:empty']),
        wait('w3', ['main', 'condition:empty']),
      ])
      .build(),
  );
  const [rest] = noticesOf(model, 'nothing-ran');
  t.deepEqual(
    [rest!.ns, rest!.asleep, waitingIn(model, rest!.waiting)],
    [9 * second, false, ['2 at empty', '1 at full']],
  );
});

test('idleness that other programs may have caused is reported with a caution', (t) => {
  const recorded = (cpuRunNs: number, cpuWaitNs: number, cpus = 4): Model => {
    const profile = examples.serialThenParallel().build();
    return buildModel({ ...profile, head: { ...profile.head, cpus, cpuRunNs, cpuWaitNs } });
  };
  const about = (model: Model): unknown[] =>
    noticesOf(model, 'cpu-wait').map(({ who, cause, share, ownNs, othersNs, cpus }) => [
      who,
      cause,
      share,
      cause === 'own' ? ownNs : othersNs,
      cpus,
    ]);

  const calm = recorded(5 * second, 0.05 * second);
  t.deepEqual(about(calm), []);
  t.is(calm.findings[0]!.othersMayCause, false);

  const disturbed = recorded(3 * second, 2 * second);
  const { limitNs, othersNs, ownNs, share } = disturbed.cpuWait;
  t.deepEqual([disturbed.cpuWait.runNs, disturbed.cpuWait.waitNs], [3 * second, 2 * second]);
  t.deepEqual({ ownNs, limitNs, othersNs, share }, { ownNs: 0, limitNs: 0, othersNs: 2 * second, share: 0.4 });
  t.deepEqual(about(disturbed), [['processors', 'others', 0.4, 2 * second, 4]]);
  t.is(disturbed.findings[0]!.kind, 'serial');
  t.true(disturbed.findings[0]!.othersMayCause);

  // Waiting that is short compared with the cost of the finding explains nothing important.
  const little = recorded(3 * second, 0.4 * second);
  t.is(about(little).length, 1);
  t.is(little.findings[0]!.othersMayCause, false);

  // b on 4 processors for 1 s, with 2 CPUs: the program itself makes two processors wait.
  const oversubscribed = recorded(3 * second, 2 * second, 2);
  t.deepEqual([oversubscribed.cpuWait.ownNs, oversubscribed.cpuWait.othersNs], [2 * second, 0]);
  t.deepEqual(about(oversubscribed), [['processors', 'own', 0.4, 2 * second, 2]]);
  t.is(oversubscribed.findings[0]!.othersMayCause, false);

  // Each of 100,000 turns began with some microseconds in which an idle CPU woke up.
  const profile = examples.serialThenParallel().build();
  const woken = buildModel({
    ...profile,
    head: { ...profile.head, cpus: 4, cpuRunNs: 3 * second, cpuWaitNs: 0.9 * second, cpuDispatches: 100_000 },
  });
  t.is(woken.cpuWait.othersNs, 0);
  t.deepEqual(about(woken), []);

  // The same, but b is in system calls: its processors hardly use the CPUs, so others must have had them.
  const asleep = recorded(0.1 * second, 2 * second, 2);
  t.deepEqual([asleep.cpuWait.ownNs, asleep.cpuWait.othersNs], [0.1 * second, 1.9 * second]);
});

test('a program that is parallel enough: the code to make faster', (t) => {
  first(t, examples.eightOnFour(), { kind: 'optimize', entity: 'b', change: 'optimize', cost: 2, saving: 2 });
});

test('sleeping is no contention', (t) => {
  const model = buildModel(
    new Builder({ processors: 2 })
      .stretch(9 * second, [wait('main', ['main', 'sleep:pause'])])
      .stretch(second, [run('a', ['main', 'f']), run('b', ['main', 'f'])])
      .build(),
  );
  t.deepEqual(
    kinds(model).filter((kind) => kind !== 'optimize'),
    [],
  );
  t.true(noticesOf(model, 'nothing-ran')[0]?.asleep);
});

test('nothing to report, and too little to report from, is reported', (t) => {
  const none = buildModel(new Builder({ processors: 2 }).build());
  t.is(none.findings.length, 0);
  t.deepEqual(none.notices[0], { form: 'no-snapshot' });
  const few = buildModel(new Builder({ processors: 2, snapshotNs: 1e8 }).stretch(second, [run('a', ['f'])]).build());
  t.is(noticesOf(few, 'few-snapshots')[0]?.snapshots, 10);
  const flat = new Builder({ processors: 2 });
  for (let k = 0; k < 30; k++) flat.stretch(second / 30, [run('a', [`f${k}`]), run('b', [`g${k}`])]);
  const nothing = buildModel(flat.build());
  t.is(nothing.findings.length, 0);
  t.is(noticesOf(nothing, 'nothing-stands-out').length, 1);
});

test('code is matched with what was waited for at that time, not with what was at the same level of activity', (t) => {
  const builder = new Builder({ processors: 2 })
    .stretch(second / 5, [wait('main', ['main', 'join:readers']), run('reader', ['main', 'read'])])
    .stretch(second, [run('worker#1', ['main', 'prove']), run('worker#2', ['main', 'prove'])])
    .stretch(second / 2, [run('main', ['main', 'destroy'])]);
  const model = buildModel(builder.build());
  const destroy = model.findings.find((finding) => finding.name === 'destroy');
  t.is(destroy?.kind, 'serial');
  t.is(factsOf(destroy, 'serial').waiting, null);
  const read = model.findings.find((finding) => finding.name === 'read');
  t.deepEqual(waitingIn(model, [factsOf(read, 'serial').waiting]), ['1 at readers']);
});

test('a procedure that serves a serial phase and an uneven one is two findings, the serial one by its caller', (t) => {
  for (const [one, other, serial] of [
    ['mix', 'mix', ['load', 'main']],
    ['mix#1', 'mix#2', ['mix', 'main', 'load']],
  ] as const) {
    // called, or inlined into both
    const builder = new Builder({ processors: 2 })
      .stretch(second, [run('main', ['main', 'load', one])])
      .stretch(second, [
        wait('main', ['main', 'join:end']),
        run('w1', ['main', 'part1', 'match', other]),
        run('w2', ['main', 'part2', 'match', other]),
      ])
      .stretch(0.8 * second, [wait('main', ['main', 'join:end']), run('w2', ['main', 'part2', 'match', other])]);
    const model = buildModel(builder.build());
    const { findings } = model;
    t.deepEqual(
      findings.slice(0, 2).map(({ kind, costNs }) => [kind, Math.round(costNs / 1e8)]),
      [
        ['serial', 10],
        ['imbalance', 8],
      ],
    );
    t.deepEqual([findings[0]!.name, ...namesOf(model, factsOf(findings[0], 'serial').callers)], [...serial]);
    t.is(nameOf(model, factsOf(findings[1], 'uneven-division').code), 'mix');
  }
});

test('one uneven end is one finding, named after the procedure that both parts were called from', (t) => {
  const builder = new Builder({ processors: 2 }).stretch(second, [
    wait('main', ['main', 'join:workers']),
    run('worker 0', ['main', 'prove', 'left']),
    run('worker 1', ['main', 'prove', 'right']),
  ]);
  for (const part of ['left', 'right'])
    builder.stretch(second / 5, [wait('main', ['main', 'join:workers']), run('worker 1', ['main', 'prove', part])]);
  const model = buildModel(builder.build());
  const uneven = model.findings.filter((finding) => finding.kind === 'imbalance');
  t.deepEqual(
    uneven.map((finding) => finding.name),
    ['prove'],
  );
  close(t, 'cost', uneven[0]!.costNs, 0.4);
  t.deepEqual(namesOf(model, factsOf(uneven[0], 'uneven-division').parts).sort(), ['left', 'right']);
});

test('serial code that costs little is reported with the serial code that costs most', (t) => {
  const builder = new Builder({ processors: 4 })
    .stretch(second, [run('main', ['main', 'read'])])
    .stretch(second / 100, [run('main', ['main', 'log'])])
    .stretch(
      2 * second,
      [1, 2, 3, 4].map((k) => run(`w#${k}`, ['main', 'hot'])),
    );
  const model = buildModel(builder.build());
  t.deepEqual(kinds(model), ['serial', 'optimize']);
  const { smaller } = factsOf(model.findings[0], 'serial');
  t.deepEqual(
    smaller.map(({ entity, costNs }) => [nameOf(model, entity), ms(costNs)]),
    [['log', 10]],
  );
});

test('few snapshots: what is found says how sure it is', (t) => {
  const builder = new Builder({ processors: 4 }).stretch(second / 40, [run('main', ['main', 'set_up'])]).stretch(
    second / 40,
    [1, 2, 3, 4].map((k) => run(`w#${k}`, ['main', 'hot'])),
  );
  const { costNs, costCi95 } = buildModel(builder.build()).findings[0]!;
  t.true(costCi95.lowNs > 10e6 && costCi95.lowNs < costNs && costNs < costCi95.highNs && costCi95.highNs < 40e6);
});

test('what no thread can be said to hold has no holders, and names who ran at that time', (t) => {
  const builder = new Builder({ processors: 2 }).stretch(second, [
    run('late', ['main', 'row']),
    wait('early', ['main', 'barrier:step']),
  ]);
  const model = buildModel(builder.build());
  const barrier = model.entities.find((entity) => entity.rawKind === 'barrier')!;
  t.deepEqual(barrier.object!.holders, []);
  t.deepEqual(
    barrier.object!.waitOverlap.map(({ path, ns }) => [path.map((id) => model.entities[id]!.name).join(' '), ns]),
    [['main row', second]],
  );
});

test('code to make faster: a bound, what it takes to gain as much as another one, and who runs it together', (t) => {
  const model = (alone: number): Model =>
    buildModel(
      new Builder({ processors: 2 })
        .stretch(alone * second, [run('main', ['main', 'load'])])
        .stretch((1 - alone) * second, [run('a', ['work', 'hash']), run('b', ['work', 'hash'])])
        .build(),
    );
  const { findings } = model(0.1);
  const code = findings.find(({ kind }) => kind === 'optimize')!;
  const { mostNs, even, together } = factsOf(code, 'optimize');
  t.deepEqual([code.savingNs, code.savingCi95.lowNs, mostNs], [0.9 * second, 0, 0.9 * second]);
  t.is(findings[even!.finding]!.kind, 'serial');
  t.is(Math.round(100 * even!.part), 11); // of 0.9 s what the 0.1 s of serial code are
  t.is(together, 2);
  t.is(factsOf(model(0).findings[0], 'optimize').even, null);
});

test('code to make faster also takes time while fewer processors are busy', (t) => {
  const model = buildModel(
    new Builder({ processors: 2 })
      .stretch(0.6 * second, [run('a', ['work', 'hash']), run('b', ['work', 'hash'])])
      .stretch(0.3 * second, [run('a', ['work', 'hash', 'mix'])])
      .stretch(0.1 * second, [run('a', ['work'])])
      .build(),
  );
  const { mostNs, calledNs, restNs } = factsOf(
    model.findings.find(({ kind }) => kind === 'optimize'),
    'optimize',
  );
  t.deepEqual([mostNs, calledNs, restNs].map(Math.round), [0.6e9, 0, 0.3e9]);
});
