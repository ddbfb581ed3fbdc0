/** Shared cache lines: what is false sharing and what is not, and the finding, from profiles made by hand. */
import test from 'ava';
import { buildModel, type Model, type RawProfile } from '../../../../ts-frontend/src/model/index.js';
import { nameSharedLocks } from '../../../../ts-frontend/src/model/findings/sharing.js';
import { lockedAccess } from '../../../../ts-frontend/src/model/profile/abi.js';
import { findingSentences } from '../../../../ts-frontend/src/render/findings/index.js';
import { ProfileBuilder, run, wait } from '../../../support/profile-builder.js';

type Line = RawProfile['sharedLines'][number];
type User = Omit<Line['by'][number], 'thread' | 'procedure'>;

const threads = ['one', 'other', 'third'];
const words = (written: number, read = written, locked = 0): User => ({ samples: 400, written, read, locked });

/**
 * As many threads as processors, each for a second in `count`, with 1,000 samples in all; the first one continues for
 * `aloneNs`, and main waits for it.
 */
function counted(users: readonly User[], change: Partial<Line> = {}, aloneNs = 0): Model {
  const names = threads.slice(0, users.length);
  const builder = new ProfileBuilder({ processors: users.length, head: { runningSamples: 1000 } });
  const waiting = aloneNs > 0 ? [wait('main', ['main', 'join:end'])] : [];
  const running = names.map((name) => run(name, ['main', 'count']));
  builder.stretch(1e9, [...waiting, ...running]);
  if (aloneNs > 0) builder.stretch(aloneNs, [...waiting, ...running.slice(0, 1)]);
  const raw = builder.build();
  const idOf = (kind: string, name: string): number =>
    buildModel(raw).entities.find((one) => one.kind === kind && one.name === name)!.id;
  const by = users.map((user, k) => ({
    ...user,
    thread: idOf('thread', names[k]!),
    procedure: idOf('procedure', 'count'),
  }));
  const samples = users.reduce((sum, user) => sum + user.samples, 0);
  const line: Line = { address: 0x4040, variable: 'counts', samples, turns: samples / 2, by, ...change };
  return buildModel({ ...raw, sharedLines: [line] });
}
const found = (model: Model): Model['findings'][number] | undefined =>
  model.findings.find(({ kind }) => kind === 'sharing');
const howOf = (...users: User[]): string | undefined => {
  const facts = found(counted(users))?.facts;
  return facts?.form === 'sharing' ? facts.how : undefined;
};

test('false sharing is the first finding: the code, the variable, how much of it', (t) => {
  const model = counted([words(0b0011), words(0b1100)]);
  const [first] = model.findings;
  t.like(first, { kind: 'sharing', name: 'count', change: 'separate-data' });
  t.like(first!.facts, { how: 'words-apart', variable: 'counts', lines: 1, threads: 2 });
  t.is(Math.round(first!.costNs), 1e9);
  t.is(Math.round(first!.savingNs), 0.8e9); // 800 of the 1,000 samples
  t.is(first!.savingCi95.lowNs, 0);
  t.is(model.findings.length, 1); // the same code is not reported again as code to make faster
  const { text, remedy } = findingSentences(model, first!, { ascii: true });
  t.regex(text, /^2 threads in count write different words of the same cache line, in counts \(false sharing\)/);
  t.regex(
    remedy,
    /^Give each thread a cache line of its own .*: that saves up to 800 ms if only these accesses wait .*, and up to 1\.00 s/,
  );
});

test('code of which two findings are is not reported a third time', (t) => {
  const model = counted([words(0b0011), words(0b1100)], {}, 0.2e9);
  t.deepEqual(model.findings.map(({ kind, name }) => [kind, name]).sort(), [
    ['imbalance', 'count'],
    ['sharing', 'count'],
  ]);
});

test('nor is what calls it, with a procedure that is inlined', (t) => {
  const users = [words(0b0011), words(0b1100)];
  const raw = counted(users, {}, 0).raw;
  const builder = new ProfileBuilder({ processors: 2, head: { runningSamples: 1000 } });
  builder.stretch(1e9, [run('one', ['main', 'all', 'count']), run('other', ['main', 'all', 'count'])]);
  const deeper = builder.build();
  const idOf = (kind: string, name: string): number =>
    buildModel(deeper).entities.find((one) => one.kind === kind && one.name === name)!.id;
  const by = users.map((user, k) => ({
    ...user,
    thread: idOf('thread', threads[k]!),
    procedure: idOf('procedure', 'count'),
  }));
  const model = buildModel({ ...deeper, sharedLines: [{ ...raw.sharedLines[0]!, by }] });
  t.deepEqual(
    model.findings.map(({ kind, name }) => [kind, name]),
    [['sharing', 'count']],
  );
});

test('what threads have in common in the line', (t) => {
  t.is(howOf(words(0b01), words(0b10, 0b10)), 'words-apart');
  t.is(howOf(words(0b01), words(0, 0b10)), 'words-apart'); // it reads the adjacent words
  t.is(howOf(words(0b01), words(0, 0b01)), undefined); // it reads what the other one writes
  t.is(howOf(words(0b01), words(0b01)), undefined); // a lock protects it, or nothing does
  t.is(howOf(words(0b11), words(0b10)), undefined);
  t.is(howOf(words(0, 0b01), words(0, 0b10)), undefined); // no thread writes
  const added = words(1, 1, lockedAccess.change);
  t.is(howOf(added, added), 'changed');
  t.is(howOf(added, words(1)), undefined);
  t.is(howOf(words(1, 1, lockedAccess.compare), words(1, 1, lockedAccess.compare)), 'exchanged');
  t.is(howOf(words(0b001), words(0b010), words(0b100)), 'words-apart');
  t.is(howOf(words(0b001), words(0b010), words(0b011)), undefined);
});

test('too little is no finding', (t) => {
  const two = [words(0b01), words(0b10)];
  t.is(found(counted(two, { turns: 20 })), undefined); // the line moves only now and then
  t.is(found(counted([words(0b01), { ...words(0b10), samples: 7 }])), undefined); // its words are not known
  t.is(found(counted(two.map((user) => ({ ...user, samples: 40 })))), undefined); // 8 % of the code
  t.truthy(found(counted(two.map((user) => ({ ...user, samples: 60 })))));
});

test('atomic operations that threads were seldom seen to do in turn are part of the finding about the code', (t) => {
  const changed = words(0b01, 0b01, lockedAccess.change);
  const atomicsOf = (users: readonly User[], change: Partial<Line>): unknown => {
    const [first] = counted(users, change).findings;
    return first?.facts.form === 'optimize' ? first.facts.atomics : first?.kind;
  };
  const seldom = { turns: 10 };
  const expected = { ns: 0.8e9, how: 'changed', variable: 'counts', threads: 2 };
  t.deepEqual(atomicsOf([changed, changed], seldom), expected);
  t.is(atomicsOf([changed, changed], {}), 'sharing'); // they take turns
  t.is(atomicsOf([words(0b01), words(0b01)], seldom), null); // not by atomic operations
  t.is(atomicsOf([words(0b01), words(0b10)], seldom), null); // different words
  const few = { ...changed, samples: 100 };
  t.is(atomicsOf([few, few], seldom), null); // a fifth of the samples
  const model = counted([changed, changed], seldom);
  const { remedy } = findingSentences(model, model.findings[0]!, { ascii: true });
  t.regex(
    remedy,
    /^800 ms of it is at atomic operations on words that several threads change \(most of it: counts\)\. Let each /,
  );
  t.regex(remedy, /if it hands out work .*, take several pieces at a time\. /);
});

test('a word that threads exchange in code that takes a lock may be that of the lock', (t) => {
  const [count, other, mutex] = [1, 2, 3];
  const named = (how: 'changed' | 'words-apart', inCount: number): unknown => {
    const waiters = [
      { path: [0, count], ns: inCount },
      { path: [0, other], ns: 100 - inCount },
    ];
    const entities = [{}, {}, {}, { object: { waiters } }];
    const facts = { form: 'sharing', how, mostNs: 500, lock: null };
    nameSharedLocks({ entities, elapsedNs: 1000 } as unknown as Model, [
      { entity: count, facts } as unknown as Model['findings'][number],
      { entity: mutex, savingNs: 200, facts: { form: 'lock' } } as Model['findings'][number],
    ]);
    return facts.lock;
  };
  t.deepEqual(named('changed', 60), { finding: 1, bothNs: 700 });
  t.is(named('changed', 40), null, 'mostly taken elsewhere');
  t.is(named('words-apart', 60), null, 'a lock is one word');
});

test('the remedy names that lock, and what both findings save', (t) => {
  const model = counted([words(0b0011), words(0b1100)]);
  const finding = found(model)!;
  const { facts } = finding;
  if (facts.form !== 'sharing') return t.fail();
  const { remedy } = findingSentences(
    model,
    { ...finding, facts: { ...facts, lock: { finding: 0, bothNs: 7e8 } } },
    { ascii: true },
  );
  t.regex(remedy, /\(finding 1\), which this code takes: .*, which saves both, up to 700 ms\.$/);
});
