/** A finding has the kind of the change that saves most, whatever the number of processors is. */
import test from 'ava';
import { buildModel, type Finding } from '../../../../ts-frontend/src/model/index.js';
import { ProfileBuilder as Builder, run, wait } from '../../../support/profile-builder.js';
import { second } from '../../../support/example-profiles.js';
import { factsOf, namesOf } from '../../../support/facts.js';
import { close, first } from '../expected.js';

// The kind is that of the change that saves most; one that saves at least half as much is reported, too. For any P.
const workers = (count: number, name = 'w'): string[] => Array.from({ length: count }, (_, k) => `${name}#${k}`);
for (const P of [2, 4, 18, 64]) {
  const main = wait('main', ['main', 'join:end']);
  const solo = (name: string, count: number): ReturnType<typeof run>[] =>
    workers(count, name).map((thread) => run(thread, ['main', 'part']));

  test(`P = ${P}: as many threads as processors, one with half as much work again, is imbalance`, (t) => {
    const builder = new Builder({ processors: P })
      .stretch(second, [main, ...solo('w', P)])
      .stretch(second / 2, [main, run('w#0', ['main', 'part'])]);
    const finding = first(t, builder, {
      kind: 'imbalance',
      entity: P === 2 ? 'part' : 'w',
      change: 'balance',
      cost: 0.5,
    }); // named after a thread with a quarter more than the mean
    close(t, 'saving', finding.savingNs, 0.5 * (1 - 1 / P));
    t.deepEqual(finding.alternatives, []);
  });

  if (P > 2)
    test(`P = ${P}: half as many threads as processors is starvation`, (t) => {
      const finding = first(t, new Builder({ processors: P }).stretch(second, [main, ...solo('w', P / 2)]), {
        kind: 'starvation',
        entity: 'part',
        change: 'create-parallelism',
        cost: 1,
        saving: 0.5,
      });
      t.deepEqual(finding.alternatives, []);
    });

  if (P > 2)
    test(`P = ${P}: too few threads, unevenly divided: both changes, the one that saves more first`, (t) => {
      const k = P / 2;
      // T = k + x; an even division among k saves x (1 - 1/k), then spreading it over P = 2k processors a further (1 +
      // x/k)/2: `ratio` is the quotient of the two.
      const atRatio = (ratio: number): Finding => uneven(ratio / 2 / (1 - (1 + ratio / 2) / k));
      const uneven = (x: number): Finding => {
        const model = buildModel(
          new Builder({ processors: P })
            .stretch(second, [main, ...solo('w', k)])
            .stretch(x * second, [main, run('w#0', ['main', 'part'])])
            .build(),
        );
        const finding = model.findings[0]!;
        const even = x * (1 - 1 / k),
          lost = 1 + x - (k + x) / P;
        t.is(finding.kind, even > lost - even ? 'imbalance' : 'starvation');
        close(t, 'saving', finding.savingNs, even > lost - even ? even : lost);
        return finding;
      };
      t.deepEqual(atRatio(0.3).alternatives, []);
      const some = atRatio(0.7);
      t.deepEqual(
        some.alternatives.map(({ kind }) => kind),
        ['imbalance'],
      );
      t.is(factsOf(some, 'too-few-threads').even!.threads, k);
      const much = atRatio(1.3);
      t.deepEqual([much.kind, much.alternatives.map(({ kind }) => kind)], ['imbalance', ['starvation']]);
      t.true(factsOf(much, 'uneven-division').spreadNs! > 0);
    });

  test(`P = ${P}: a recursive sort that divides its input serially is serial code`, (t) => {
    const builder = new Builder({ processors: P });
    for (let level = 1, unit = second / 4; level <= P; level *= 2, unit /= 2)
      builder.stretch(
        unit,
        workers(level).map((thread) => run(thread, ['main', 'sort', 'divide'])),
      );
    builder.stretch(
      second,
      workers(P).map((thread) => run(thread, ['main', 'sort', 'leaf'])),
    );
    const model = buildModel(builder.build());
    t.deepEqual([model.findings[0]!.kind, model.findings[0]!.name], ['serial', 'divide']);
  });

  test(`P = ${P}: the slowest stage of a pipeline is named though nobody works beside it most of the time`, (t) => {
    const builder = new Builder({ processors: P });
    for (let item = 0; item < 50; item++)
      builder
        .stretch(second / 1000, [
          run('producer', ['main', 'produce', 'make']),
          run('consumer', ['main', 'consume', 'use']),
        ])
        .stretch(second / 50, [
          wait('producer', ['main', 'produce', 'condition:room']),
          run('consumer', ['main', 'consume', 'use']),
        ]);
    builder.object('condition:room', { acquisitions: 50, contended: 50 });
    const finding = first(t, builder, { kind: 'pipeline', entity: 'use', change: 'balance' });
    const { code, stage } = factsOf(finding, 'slowest-stage');
    t.deepEqual(namesOf(finding.model, [code, stage.thread]), ['use', 'consumer']);
  });

  test(`P = ${P}: of two limits the one that saves more comes first, and an interval says how sure that is`, (t) => {
    const builder = new Builder({ processors: P })
      .stretch(0.3 * second, [run('main', ['main', 'read'])])
      .stretch(0.5 * second, [run('main', ['main', 'index'])])
      .stretch(
        second,
        workers(P).map((thread) => run(thread, ['main', 'query'])),
      );
    const model = buildModel(builder.build());
    t.deepEqual(
      model.findings.slice(0, 2).map(({ name }) => name),
      ['index', 'read'],
    );
    for (const { costNs, costCi95, savingNs, savingCi95 } of model.findings) {
      t.true(costCi95.lowNs < costNs && costNs < costCi95.highNs);
      t.true(savingCi95.lowNs < savingNs && savingNs < savingCi95.highNs);
    }
    t.true(model.findings[0]!.costCi95.lowNs > model.findings[1]!.costCi95.highNs);
    t.is(model.findings[0]!.savingCi95.lowNs, 0, 'spreading saves that at most');
  });
}
