/** Costs that are spread over many procedures or threads, each with a small part, but have one remedy. */
import test from 'ava';
import { buildModel, noPaths, type Model, type RawHead } from '../../../../ts-frontend/src/model/index.js';
import { findingSentences } from '../../../../ts-frontend/src/render/findings/index.js';
import { factsOf, ms, namesOf } from '../../../support/facts.js';
import { inKernel, io, ProfileBuilder as Builder, run, wait } from '../../../support/profile-builder.js';

const second = 1e9;
const library = /^(malloc|free|munmap|nanosleep)$/;
function modelOf(builder: Builder): Model {
  const profile = builder.build();
  for (const entity of profile.entities) if (library.test(entity.name)) entity.origin = 'runtime';
  return buildModel(profile);
}
const both = (...stack: string[]): ReturnType<typeof run>[] => ['a', 'b'].map((one) => run(one, ['parse', ...stack]));

/** Two threads that parse; four procedures allocate, `part` of the time in all, and `each` compute. */
function parser(part: number): Builder {
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread' } });
  for (const [name, share] of [
    ['array', 0.4],
    ['object', 0.3],
    ['text', 0.2],
    ['destroy', 0.1],
  ] as const)
    builder
      .stretch(share * part * second, both(name, name === 'destroy' ? 'free' : 'malloc'))
      .stretch(((1 - part) / 4) * second, both(name));
  return builder;
}

test('the allocator takes more than any procedure by itself: one finding with the sum, and who causes it', (t) => {
  const model = modelOf(parser(0.4));
  const [first] = model.findings;
  t.deepEqual([first?.kind, first?.name, ms(first!.costNs)], ['optimize', 'array', 400]);
  const { callers, procedures, called, mostNs } = factsOf(first, 'allocation');
  t.deepEqual(
    namesOf(
      model,
      callers.map(({ entity }) => entity),
    ),
    ['array', 'object', 'text'],
  );
  t.deepEqual(
    callers.map(({ ns }) => ms(ns)),
    [160, 120, 80],
  );
  t.deepEqual([procedures, namesOf(model, called), ms(mostNs)], [4, ['malloc', 'free'], 400]);
  t.is(first!.savingCi95.lowNs, 0, 'an upper bound');
});

test('the allocator takes less than a procedure: that procedure', (t) => {
  const builder = parser(0.4).stretch(0.5 * second, both('check'));
  t.deepEqual(
    modelOf(builder)
      .findings.slice(0, 1)
      .map(({ name, facts }) => [name, facts.form]),
    [['check', 'optimize']],
  );
});

const returns: Partial<RawHead> = {
  paths: { ...noPaths, running: true, kernel: true },
  usageKnown: true,
  usageNs: second,
  userNs: 1.6 * second,
  systemNs: 0.4 * second,
  minorFaults: 100_000,
  residentBytes: 10_000 * 4096,
};

test('memory that the allocator gives back to the kernel: one finding, about the larger part', (t) => {
  const formsOf = (kernel: number): Model['findings'] => {
    const builder = new Builder({ processors: 2, head: { publisher: 'pthread', ...returns } });
    const work = 1 - kernel;
    for (const name of ['array', 'object'])
      builder
        .stretch((kernel / 2) * second, [
          inKernel('memory', 'a', ['parse', name, 'free', 'munmap']),
          inKernel('memory', 'b', ['parse', name, 'free', 'munmap']),
        ])
        .stretch(0.2 * work * second, both(name, 'malloc'))
        .stretch(0.15 * work * second, both(name));
    return modelOf(builder.stretch(0.3 * work * second, both('check'))).findings;
  };
  const few = formsOf(0.2);
  const { kernel, mostNs } = factsOf(few[0], 'allocation');
  t.deepEqual([ms(few[0]!.costNs), ms(kernel!.ns), ms(mostNs)], [520, 200, 500]);
  t.false(few.some(({ facts }) => facts.form === 'kernel-work'));
  const many = formsOf(0.6);
  t.is(many[0]?.facts.form, 'kernel-work');
  t.false(many.some(({ facts }) => facts.form === 'allocation'));
});

/** A thread for each request: the kernel counts 0.6 s of system time, of which samples show what `acceptor` needs. */
function server(userNs: number): Model {
  const head: Partial<RawHead> = {
    ...returns,
    publisher: 'pthread',
    spawns: 10_000,
    minorFaults: 0,
    userNs,
    systemNs: 2 * second - userNs,
  };
  return modelOf(
    new Builder({ processors: 2, head })
      .stretch(0.2 * second, [inKernel('thread', 'acceptor', ['main', 'accept_all']), run('request#1', ['serve'])])
      .stretch(0.4 * second, [run('acceptor', ['main', 'accept_all']), run('request#2', ['serve'])])
      .stretch(0.4 * second, [run('request#3', ['serve']), run('request#4', ['serve'])]),
  );
}

test("threads that live shortly: what the kernel does for them belongs to them, not to the code's work", (t) => {
  const model = server(0.5 * second); // of 1.8 s outside of the kernel, as samples show it
  const [first] = model.findings;
  const { kernelNs, spawns, savesNs, mostNs } = factsOf(first, 'short-threads');
  t.true(savesNs < 0.9 * 750e6 && mostNs >= 0.9 * 750e6, 'part of it may be their own system calls');
  t.deepEqual([first!.name, spawns, ms(kernelNs!)], ['request', 10_000, 750]); // 1.3 s / 2 and 0.2 s / 2
  const { text, remedy } = findingSentences(model, first!, { ascii: true });
  t.regex(text, /The kernel works for them for up to 750 ms/);
  t.regex(remedy, /a pool of threads|keep a few threads/);
  const codeOf = ({ findings }: Model): [string, number][] =>
    findings.filter(({ kind }) => kind === 'optimize').map(({ name, costNs }) => [name, ms(costNs)]);
  t.deepEqual(codeOf(model), [['accept_all', 200]], 'a thread that lives long is sampled in the kernel');
  const right = server(1.8 * second);
  t.deepEqual(codeOf(right), [['serve', 700]]);
  const short = right.findings.find(({ facts }) => facts.form === 'short-threads');
  t.is(ms(factsOf(short, 'short-threads').kernelNs!), 100, 'only what samples show');
});

/**
 * Four threads that fetch: 0.9 of their time asleep, all at the same time. `idle`: time for which they wait for work;
 * `apart`: at places of their own.
 */
function crawler(idle: number, apart = false): Model {
  const all = (stack: (k: number) => string[], make: typeof run): ReturnType<typeof run>[] =>
    [0, 1, 2, 3].map((k) => make(`fetcher#${k}`, stack(k)));
  const asleep = (k: number): string[] => ['fetch', apart ? `look ${k}` : 'download', 'nanosleep'];
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread' } });
  for (let k = 0; k < 4; k++)
    builder.stretch(0.025 * second, [
      wait('main', ['main', 'join:end']),
      run(`fetcher#${k}`, ['fetch', 'parse']),
      ...[0, 1, 2, 3].filter((one) => one !== k).map((one) => io(`fetcher#${one}`, asleep(one))),
    ]);
  builder.stretch(0.9 * second, [wait('main', ['main', 'join:end']), ...all(asleep, io)]);
  if (idle > 0)
    builder.stretch(idle * second, [
      wait('main', ['main', 'join:end']),
      ...all(() => ['fetch', 'condition:todo'], wait),
    ]);
  return modelOf(builder);
}

test('all threads of a pool sleep, and never wait for work: run more at a time', (t) => {
  const model = crawler(0);
  const [first] = model.findings;
  t.deepEqual([first?.kind, first?.name], ['io', 'download']);
  const { asleep, several } = factsOf(first, 'io');
  t.deepEqual([asleep, several!.atATime, ms(several!.savesNs)], [4, 8, 450]);
  t.regex(
    findingSentences(model, first!, { ascii: true }).remedy,
    /^If the sleep stands for a slow operation, run more of them at a time .*: 8 instead of 4 would save up to 450 ms\. If/,
  );
  const idle = crawler(0.5).findings.find(({ kind }) => kind === 'io');
  t.is(factsOf(idle, 'io').asleep, null, 'they wait for work');
  const different = crawler(0, true).findings.find(({ kind }) => kind === 'io');
  t.is(factsOf(different, 'io').asleep, null, 'they may wait for each other');
});

test('uneven shares of a parallel region of OpenMP: the schedule', (t) => {
  const profile = new Builder({ processors: 2, head: { publisher: 'pthread' } })
    .stretch(0.4 * second, [run('main', ['main', 'GOMP_parallel', 'rows']), run('w', ['gomp_start', 'rows'])])
    .stretch(0.4 * second, [
      run('main', ['main', 'GOMP_parallel', 'rows']),
      wait('w', ['gomp_start', 'futex(region-end):end']),
    ])
    .build();
  for (const entity of profile.entities) if (/^(GOMP|gomp)_|^end$/.test(entity.name)) entity.origin = 'openmp';
  const model = buildModel(profile);
  const [first] = model.findings;
  t.true(factsOf(first, 'uneven-division').openmp);
  t.regex(findingSentences(model, first!, { ascii: true }).remedy, /schedule\(dynamic\)/);
});

test('a flush for each line, under a lock: the writes first, and the lock refers to them', (t) => {
  const logs = (flush: number): Model => {
    const held = ['log', 'mutex:out'],
      head = {
        ...returns,
        publisher: 'pthread',
        minorFaults: 0,
        userNs: 1.2 * second,
        systemNs: 0.6 * second,
      } as const;
    const profile = new Builder({
      processors: 2,
      head: { ...head, callsKnown: true, writeCalls: 1e5, writtenBytes: 8e6 },
    })
      .stretch(flush * second, [inKernel('write', 'a', [...held, 'put', 'fflush']), wait('b', held)])
      .stretch((1 - flush) * second, [run('a', [...held, 'put']), wait('b', held)])
      .stretch(0.5 * second, [run('a', ['log', 'format']), run('b', ['log', 'format'])])
      .object('mutex:out', { acquisitions: 1e5, contended: 1000 })
      .build();
    for (const entity of profile.entities) if (entity.name === 'fflush') entity.origin = 'runtime';
    return buildModel(profile);
  };
  const formsOf = ({ findings }: Model): string[] =>
    findings.map(({ facts }) => facts.form).filter((form) => form === 'lock' || form === 'kernel-work');
  const model = logs(0.6);
  t.deepEqual(formsOf(model), ['kernel-work', 'lock']);
  const lock = model.findings.find(({ facts }) => facts.form === 'lock');
  t.is(model.findings[factsOf(lock, 'lock').shortenedBy!]?.facts.form, 'kernel-work');
  t.regex(
    findingSentences(model, lock!, { ascii: true }).remedy,
    /Finding 1 is about much of what is done while it is/,
  );
  const other = logs(0.2).findings.find(({ facts }) => facts.form === 'lock');
  t.is(factsOf(other, 'lock').shortenedBy, null);
});

test("a run-time's lock for threads that begin and end belongs to these threads; a lock of their own does not", (t) => {
  const requests = (caller: string): Model => {
    const locked = ['thread_start', caller, 'Threads::remove', 'mutex:list'];
    const profile = new Builder({ processors: 2, head: { publisher: 'pthread', spawns: 10_000 } })
      .stretch(0.6 * second, [run('request#1', locked), wait('request#2', locked), wait('request#3', locked)])
      .stretch(0.4 * second, [run('request#1', ['thread_start', 'serve']), run('request#2', ['thread_start', 'serve'])])
      .object('mutex:list', { acquisitions: 30_000, contended: 9_000 })
      .build();
    for (const entity of profile.entities)
      if (/^(Threads::|thread_start)/.test(entity.name)) entity.origin = 'installed';
    return buildModel(profile);
  };
  const formsOf = ({ findings }: Model): string[] => findings.map(({ facts }) => facts.form);
  const model = requests('thread_start');
  t.is(formsOf(model)[0], 'short-threads');
  t.false(formsOf(model).some((form) => form === 'lock' || form === 'serial'));
  const { locks } = factsOf(model.findings[0], 'short-threads');
  t.deepEqual(
    locks.map(({ entity, costNs }) => [model.entities[entity]!.name, ms(costNs)]),
    [['list', 600]],
  );
  t.true(formsOf(requests('serve')).includes('lock'));
});
