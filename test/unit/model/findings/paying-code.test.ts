/** Where code that keeps the processors busy comes among findings about waiting, serial code and the kernel's work. */
import test from 'ava';
import { buildModel, type Model } from '../../../../ts-frontend/src/model/index.js';
import { mostOnPath } from '../../../../ts-frontend/src/model/evidence/code/path-bound.js';
import { tablesOf } from '../../../../ts-frontend/src/model/metrics/tables.js';
import { Purpose, State } from '../../../../ts-frontend/src/model/profile/abi.js';
import { findingSentences } from '../../../../ts-frontend/src/render/findings/index.js';
import { factsOf, ms } from '../../../support/facts.js';
import { inKernel, io, ProfileBuilder as Builder, run, type Doing, wait } from '../../../support/profile-builder.js';

const second = 1e9;

/** Shares of the elapsed time. */
interface Shares {
  largest: number; // both threads are at work, in one procedure
  others: number; // likewise, in many procedures below one that calls them
  serial?: number;
  asleep?: number;
  kernel?: number; // both in page faults
  handing?: number; // both in futex calls
}

function recorded({ largest, others, serial = 0, asleep = 0, kernel = 0, handing = 0 }: Shares): Model {
  const builder = new Builder({ processors: 2 }).describe('nanosleep', { origin: 'runtime', purposes: Purpose.sleep });
  const both = (share: number, by: (thread: string) => Doing): void => {
    if (share > 0) builder.stretch(share * second, ['a', 'b'].map(by));
  };
  both(largest, (thread) => run(thread, ['start', 'train', 'update', 'add']));
  for (let k = 0; k < 10; k++) both(others / 10, (thread) => run(thread, ['start', 'train', 'update', `part${k}`]));
  both(kernel, (thread) => inKernel('fault', thread, ['start', 'load']));
  both(handing, (thread) => inKernel('futex', thread, ['start', 'train', 'take']));
  if (serial > 0) builder.stretch(serial * second, [run('main', ['main', 'save'])]);
  if (asleep > 0) builder.stretch(asleep * second, [io('main', ['main', 'look', 'nanosleep'])]);
  return buildModel(builder.build());
}

/** The first finding: its kind, and the entity that it names. */
const cases: readonly (readonly [string, Shares, string])[] = [
  // nearly all processors are busy
  ['code alone', { largest: 0.3, others: 0.6, serial: 0.1 }, 'optimize add'],
  ['serial code as long as a quarter of all code', { largest: 0.2, others: 0.6, serial: 0.2 }, 'serial save'],
  // a third of the processor time is lost
  ['code in several procedures, beside short waits', { largest: 0.2, others: 0.5, asleep: 0.06 }, 'optimize add'],
  ['no procedure pays alone, but together', { largest: 0.11, others: 0.59, asleep: 0.14 }, 'optimize update'],
  ['serial code that grows', { largest: 0.2, others: 0.5, serial: 0.3 }, 'serial save'],
  ['waiting for more than a quarter of all code', { largest: 0.2, others: 0.4, asleep: 0.4 }, 'io look'],
  ['page faults that cost as much', { largest: 0.2, others: 0.3, kernel: 0.4, serial: 0.05 }, 'kernel load'],
  ['threads hand over all the time', { largest: 0.2, others: 0.4, asleep: 0.1, handing: 0.15 }, 'io look'],
];

for (const [what, shares, expected] of cases)
  test(`code that keeps the processors busy, and what else costs time: ${what}`, (t) => {
    const [first] = recorded(shares).findings;
    t.is(`${first?.kind} ${first?.name}`, expected);
  });

test('code that keeps the processors busy counts, though a small finding names the same procedure', (t) => {
  const hash = ['start', 'hash'];
  const found = (together: number): string[] =>
    buildModel(
      new Builder({ processors: 2 })
        .stretch(together * second, [run('a', hash), run('b', hash)])
        .stretch(0.1 * second, [run('a', hash)])
        .stretch(0.2 * second, [wait('main', ['main', 'join:end'])])
        .build(),
    ).findings.map(({ kind, name }) => `${kind} ${name}`);
  t.deepEqual(found(0.6).slice(0, 2), ['optimize hash', 'serial hash']);
  t.is(found(0.15)[0], 'serial hash', 'as much as half of it: that finding says what it costs');
});

test('what calls all of it names the procedure with most of it, if that has a tenth', (t) => {
  const model = recorded({ largest: 0.11, others: 0.59, asleep: 0.14 }),
    [first] = model.findings;
  const { spread, within } = factsOf(first, 'optimize');
  t.deepEqual([spread, model.entities[within!.entity]!.name, ms(within!.ns)], [true, 'add', 110]);
  const { text } = findingSentences(model, first!, { ascii: true });
  t.regex(text, /update with everything that it calls .*110 ms of that in add/);
  t.notRegex(text, /No procedure/);
});

test('unnamed procedures of a library count for the exported one that they run for', (t) => {
  const builder = new Builder({ processors: 2 });
  const inLibrary = { module: 1, origin: 'installed' } as const;
  builder.describe('evaluate', inLibrary);
  for (const name of ['0x10', '0x20']) builder.describe(name, { ...inLibrary, missing: 'stripped' });
  for (const name of ['0x10', '0x20'])
    builder.stretch(
      0.09 * second,
      ['a', 'b'].map((thread) => run(thread, ['start', 'evaluate', name])),
    );
  for (let k = 0; k < 10; k++)
    builder.stretch(
      0.08 * second,
      ['a', 'b'].map((thread) => run(thread, ['start', `part${k}`])),
    );
  const model = buildModel(builder.build()),
    [first] = model.findings;
  t.deepEqual([first?.name, ms(first!.costNs), factsOf(first, 'optimize').unnamed], ['evaluate', 180, true]);
  t.regex(findingSentences(model, first!, { ascii: true }).text, /evaluate with the unnamed procedures of its library/);
});

test('what of code is on the time path: itself; and sleep, waits for a CPU and unknown time', (t) => {
  const builder = new Builder({ processors: 2 }).describe('nanosleep', { purposes: Purpose.sleep });
  builder.stretch(second, [run('a', ['write']), run('b', ['inflate'])]);
  builder.stretch(second, [io('a', ['nanosleep'])]);
  const raw = builder.build();
  const idOf = (name: string): number => raw.entities.findIndex((one) => one.name === name);
  const nodeOf = (name: string): number => raw.stacks.entity.indexOf(idOf(name));
  const rows = [
    { stack: nodeOf('write'), state: State.useful, ns: 400 },
    { stack: nodeOf('inflate'), state: State.useful, ns: 50 },
    { stack: nodeOf('write'), state: State.ready, ns: 20 },
    { stack: nodeOf('nanosleep'), state: State.io, ns: 7 },
    { stack: 0, state: State.blocked, ns: 3 },
  ];
  const none = new Uint32Array(rows.length),
    no = new Uint8Array(rows.length);
  const onPath = {
    stack: Uint32Array.from(rows, ({ stack }) => stack),
    thread: Uint32Array.from(rows, ({ stack }) => (stack === 0 ? 0 : idOf('a'))),
    state: Uint8Array.from(rows, ({ state }) => state),
    ns: Float64Array.from(rows, ({ ns }) => ns),
    count: new Float64Array(rows.length),
    object: none,
    arrival: no,
    inferred: no,
  };
  const model = buildModel({ ...raw, onPath, head: { ...raw.head, pathNs: 480 } });
  const bound = (its: Model): number => mostOnPath({ model: its, tables: tablesOf(its) }, idOf('inflate'));
  t.is(bound(model), 50 + 20 + 7 + 3);
  t.is(bound(buildModel(raw)), Infinity);
});
