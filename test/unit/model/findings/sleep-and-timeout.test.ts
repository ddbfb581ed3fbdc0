/** Programs limited by threads that wait for a sleep, a time limit, or a lock whose holder does something else. */
import test from 'ava';
import { buildModel, type Model } from '../../../../ts-frontend/src/model/index.js';
import { factsOf, findingOf, ms, nameOf, namesOf, noticesOf, waitingIn } from '../../../support/facts.js';
import type { RawHead } from '../../../../ts-frontend/src/model/profile/raw-profile.js';
import type { ProfileBuilder } from '../../../support/profile-builder.js';
import { ProfileBuilder as Builder, io, run, spin, tries, wait, woken } from '../../../support/profile-builder.js';
import { second } from '../../../support/example-profiles.js';

/** As the pthread layer records, with procedures of the C library among the frames. */
function recorded(builder: ProfileBuilder, library: RegExp = /^(nanosleep|fdatasync|epoll_wait|poll|recv)$/): Model {
  const profile = builder.build();
  for (const entity of profile.entities) if (library.test(entity.name)) entity.origin = 'runtime';
  return buildModel({ ...profile, head: { ...profile.head, publisher: 'pthread' } });
}
const reported = (model: Model): string[] => model.findings.map(({ kind, name }) => `${kind} ${name}`);

const polls = (call: string): ProfileBuilder => {
  const builder = new Builder({ processors: 2 });
  for (let k = 0; k < 10; k++)
    builder
      .stretch(0.05 * second, [io('main', ['main', 'look', call]), run('w1', ['work']), run('w2', ['work'])])
      .stretch(0.05 * second, [
        io('main', ['main', 'look', call]),
        wait('w1', ['condition:go']),
        wait('w2', ['condition:go']),
      ]);
  return builder.object('condition:go', { contended: 20, acquisitions: 20 });
};

test('who sleeps while others wait: reported as sleep, not as input and output, with those that wait', (t) => {
  const model = recorded(polls('nanosleep'));
  const [finding] = model.findings;
  t.deepEqual([finding!.kind, finding!.name, ms(finding!.costNs)], ['io', 'look', 500]);
  const { waits, call, held, goesNs, several } = factsOf(finding, 'io');
  t.deepEqual([waits, call, waitingIn(model, held)], ['sleep', 'nanosleep', ['2 at go']]);
  t.deepEqual([ms(goesNs), several!.atATime, ms(several!.savesNs)], [500, 2, 250]);
});

test('threads that sleep until the other one is ready: being woken leaves only their work', (t) => {
  const asleep = (name: string) => io(name, ['main', 'look', 'nanosleep']);
  const builder = new Builder({ processors: 2 })
    .stretch(0.8 * second, [asleep('main'), asleep('w1')])
    .stretch(0.1 * second, [run('main', ['main', 'wash']), asleep('w1')])
    .stretch(0.1 * second, [asleep('main'), run('w1', ['main', 'dry'])]);
  t.is(ms(factsOf(findingOf(recorded(builder), 'io'), 'io').goesNs), 811); // beside work, a ninth of the sleep counts
});

test('waits for a device while others wait for it could be several at a time; waits for requests could not', (t) => {
  const few = (call: string): ProfileBuilder => {
    const builder = new Builder({ processors: 2 });
    for (let k = 0; k < 10; k++)
      builder
        .stretch(0.01 * second, [run('main', ['main', 'serve']), wait('w1', ['condition:go'])])
        .stretch(0.09 * second, [io('main', ['main', 'serve', call]), wait('w1', ['condition:go'])]);
    return builder.object('condition:go', { contended: 10, acquisitions: 10 });
  };
  const device = findingOf(recorded(few('fdatasync')), 'io')!;
  const { waits, call, overlapNs, rarerNs, several } = factsOf(device, 'io');
  t.is(ms(rarerNs!), 1000, 'with what serve does for it');
  t.is(factsOf(findingOf(recorded(few('epoll_wait')), 'io'), 'io').rarerNs, null);
  t.deepEqual([device.name, waits, call, ms(device.costNs)], ['serve', 'device', 'fdatasync', 900]);
  t.deepEqual([ms(overlapNs), several!.atATime, ms(several!.savesNs)], [100, 2, 450]);
  t.is(ms(device.savingNs), 450);
  t.is(ms(findingOf(recorded(few('epoll_wait')), 'io')!.savingNs), 100);
});

test('a wait for a reply, or a sleep, in which nothing runs comes before the little serial code beside it', (t) => {
  const asks = (call: string): ProfileBuilder => {
    const builder = new Builder({ processors: 2 });
    for (let k = 0; k < 10; k++)
      builder
        .stretch(0.016 * second, [run('main', ['main', 'format'])])
        .stretch(0.084 * second, [io('main', ['main', 'ask', call])]);
    return builder;
  };
  for (const [call, its] of [
    ['recv', 'replies'],
    ['nanosleep', 'sleep'],
  ] as const) {
    const [first, second] = recorded(asks(call)).findings;
    t.deepEqual([first!.kind, first!.name, second?.kind, second?.name], ['io', 'ask', 'serial', 'format'], call);
    const { waits, goesNs, overlapNs } = factsOf(first, 'io');
    t.deepEqual([waits, ms(goesNs), ms(overlapNs)], [its, 840, 160]);
  }
  const [served] = recorded(asks('epoll_wait')).findings;
  t.deepEqual([served!.kind, served!.name], ['serial', 'format'], 'a server at rest: its own work comes first');
});

test('a read is a wait for a reply if it is of a socket, and nobody waits for clients', (t) => {
  const reads = (head: Partial<RawHead>, beside: string[] = []): string => {
    const builder = new Builder({ processors: 2, head: { socketsSeen: true, ...head } });
    for (let k = 0; k < 10; k++)
      builder
        .stretch(0.016 * second, [run('main', ['main', 'format'])])
        .stretch(0.084 * second, [
          io('main', ['main', 'ask', 'read']),
          ...beside.map((call) => io(call, ['serve', call])),
        ]);
    const finding = recorded(builder, /^(read|accept)$/).findings.find(({ kind }) => kind === 'io');
    return finding === undefined ? 'none' : factsOf(finding, 'io').waits;
  };
  t.is(reads({ readsSockets: true }), 'replies');
  t.is(reads({ readsSockets: true, readsElsewhere: true }), 'device', 'which of them, nobody knows');
  t.is(reads({ readsElsewhere: true }), 'device');
  t.is(reads({}), 'device');
  t.is(reads({ readsSockets: true, listens: true }), 'replies', 'it asks itself');
  t.not(reads({ readsSockets: true, listens: true }, ['accept']), 'replies');
});

test('sockets distinguish a client, or a timer, from a server at rest', (t) => {
  const polled = (head: Partial<RawHead>): [string, string] => {
    const builder = new Builder({ processors: 2, head: { socketsSeen: true, ...head } });
    for (let k = 0; k < 10; k++)
      builder
        .stretch(0.016 * second, [run('main', ['main', 'format'])])
        .stretch(0.084 * second, [io('main', ['main', 'ask', 'poll'])]);
    const model = recorded(builder);
    return [model.findings[0]!.kind, factsOf(findingOf(model, 'io'), 'io').waits];
  };
  t.deepEqual(polled({ connected: true }), ['io', 'replies']);
  t.deepEqual(polled({ connected: true, listens: true }), ['serial', 'others']);
  t.deepEqual(polled({ connectedLocally: true }), ['serial', 'others'], 'which side asks is not known');
  t.deepEqual(polled({}), ['io', 'events']);
  t.deepEqual(polled({ socketsSeen: false }), ['serial', 'others']);
});

test('who waits with a time limit is named, not who reads what a thread of the program will write', (t) => {
  const builder = new Builder({ processors: 2, head: { socketsSeen: true } });
  for (let k = 0; k < 10; k++)
    builder
      .stretch(0.016 * second, [run('main', ['main', 'serve'])])
      .stretch(0.084 * second, [io('main', ['main', 'loop', 'poll']), io('client', ['start', 'ask', 'read'])]);
  const model = recorded(builder.describe('read', { origin: 'runtime' }));
  const finding = findingOf(model, 'io');
  const { waits, call, threads } = factsOf(finding, 'io');
  t.deepEqual([finding?.name, waits, call, threads], ['loop', 'events', 'poll', 2]);
});

test('waits for any of several events while a pool works may be for the pool: no input and output', (t) => {
  const beside = (call: string): Model =>
    recorded(
      new Builder({ processors: 2 })
        .stretch(0.4 * second, [run('main', ['loop', 'copy']), run('w1', ['compress'])])
        .stretch(0.6 * second, [io('main', ['loop', call]), run('w1', ['compress'])]),
    );
  t.is(findingOf(beside('epoll_wait'), 'io'), undefined);
  t.truthy(findingOf(beside('fdatasync'), 'io'), 'a device works beside the pool');
});

test('of locks taken one inside the other the innermost is the cause, and what its holder does is reported', (t) => {
  const builder = new Builder({ processors: 2 });
  const chain = ['order', 'mutex:book', 'post', 'mutex:account', 'append', 'mutex:journal'];
  builder
    .stretch(0.1 * second, [run('a', ['order']), run('b', ['order'])])
    .stretch(0.7 * second, [
      io('a', [...chain, 'nanosleep']),
      wait('b', ['order', 'mutex:book']),
      wait('c', ['post', 'mutex:account']),
      wait('d', ['order', 'mutex:book']),
    ])
    .stretch(0.2 * second, [
      io('a', [...chain, 'nanosleep']),
      wait('b', ['order', 'mutex:book']),
      wait('c', ['append', 'mutex:journal']),
    ]);
  for (const lock of ['book', 'account', 'journal'])
    builder.object(`mutex:${lock}`, { contended: 10, acquisitions: 100 });
  const model = recorded(builder);
  t.deepEqual(
    reported(model).filter((one) => !one.startsWith('optimize')),
    ['lock-contention journal'],
    'one cause, reported once: not as input and output too',
  );
  const [finding] = model.findings;
  t.is(ms(finding!.costNs), 900);
  const { waitedFor, others, holder, inIo, mostlyInIo } = factsOf(finding, 'lock');
  t.deepEqual(namesOf(model, [waitedFor, holder!, inIo!.call!]), ['book', 'append', 'nanosleep']);
  t.true(namesOf(model, others).includes('account'));
  t.deepEqual([inIo!.share, mostlyInIo], [1, true]);
});

test('a lock inside another one that nobody else waits for is not the cause', (t) => {
  const builder = new Builder({ processors: 2 }).stretch(second, [
    run('a', ['order', 'mutex:book', 'mutex:own', 'work']),
    wait('b', ['order', 'mutex:book']),
  ]);
  t.deepEqual(reported(recorded(builder.object('mutex:book', { contended: 10, acquisitions: 100 }))), [
    'lock-contention book',
  ]);
});

test('code to make faster: where main works all the time, what other threads run makes the run no longer', (t) => {
  const beside = (last: number): Model =>
    buildModel(
      new Builder({ processors: 2 })
        .stretch(0.4 * second, [run('main', ['main', 'plan']), run('w', ['main', 'compact'])])
        .stretch(0.5 * second, [run('main', ['main', 'cost']), run('w', ['main', 'compact'])])
        .stretch(
          0.1 * second,
          last === 0
            ? [run('main', ['main', 'rest']), run('w', ['main', 'compact'])]
            : [wait('main', ['main', 'join:w']), run('w', ['main', 'compact']), run('w2', ['main', 'compact'])],
        )
        .build(),
    );
  const optimize = (model: Model): string | undefined => model.findings.find(({ kind }) => kind === 'optimize')?.name;
  const model = beside(0);
  t.is(optimize(model), 'cost');
  const { beside: more } = factsOf(model.findings[0], 'optimize');
  t.deepEqual([...namesOf(model, [more!.entity, more!.main]), ms(more!.ns)], ['compact', 'main', 500]);
  t.is(optimize(beside(1)), 'compact');
});

test('waiters that are woken and find the lock taken again are not at work, though they have the processors', (t) => {
  const inside = ['serve', 'mutex:table'],
    builder = new Builder({ processors: 2 });
  for (let k = 0; k < 100; k++)
    builder.stretch(second / 100, [
      run(`w${k % 3}`, [...inside, 'find']),
      tries(`w${(k + 1) % 3}`, inside),
      woken(`w${(k + 2) % 3}`, inside),
    ]);
  const {
    findings: [finding],
  } = recorded(builder.object('mutex:table', { contended: 3000, acquisitions: 5000, waitNs: 2 * second }));
  t.deepEqual([finding!.kind, finding!.name], ['lock-contention', 'table']);
  t.deepEqual(
    [finding!.costNs, finding!.savingNs].map((ns) => Math.round(ns / 1e6)),
    [1000, 500],
  );
  const { waiters: many, woken: tried } = factsOf(finding, 'lock');
  t.deepEqual([many, tried!, finding!.processorUse.busy].map(Math.fround), [2, 2, 1]);
});

test('a processor that a woken waiter has is reported, few though these are: all processors add up', (t) => {
  const inside = ['serve', 'mutex:table'],
    waiters = ['a', 'b', 'c', 'd', 'e'].map((name) => wait(name, inside));
  const builder = new Builder({ processors: 2 }).stretch(second, [
    run('w1', [...inside, 'find']),
    tries('w2', inside),
    ...waiters,
  ]);
  const {
    findings: [finding],
  } = recorded(builder.object('mutex:table', { contended: 3000, acquisitions: 5000, waitNs: 6 * second }));
  const { waiters: many, woken: tried } = factsOf(finding, 'lock');
  t.deepEqual([many, tried!, finding!.processorUse.busy].map(Math.fround), [6, 1, 1]);
});

test('waiters at a spin lock of the program should block at a mutex, at another loop at a condition', (t) => {
  const isLock = (loop: string): boolean[] => {
    const doings = [run('w1', ['serve', 'find']), spin('w2', ['serve', loop])];
    const model = recorded(new Builder({ processors: 2 }).stretch(second, doings));
    return noticesOf(model, 'waiting-loop').map(({ lock }) => lock);
  };
  t.deepEqual(isLock('loop(lock):spin lock at a.c:5'), [true]);
  t.deepEqual(isLock('loop:loop at a.c:5'), [false]);
});

test('a woken waiter for which the others leave no processor costs nothing', (t) => {
  const builder = new Builder({ processors: 2 })
    .stretch(second, [run('a', ['work']), run('b', ['work']), woken('c', ['serve', 'mutex:table'])])
    .object('mutex:table', { contended: 10, acquisitions: 100 });
  t.false(reported(recorded(builder)).includes('lock-contention table'));
});

test('threads that wait in the same procedure before they sleep there wait to begin; others wait for work', (t) => {
  const limitOf = (waitsIn: string): [string | null, number, number] | null => {
    const builder = new Builder({ processors: 2 });
    for (let k = 0; k < 10; k++)
      builder
        .stretch(0.05 * second, [
          io('w1', ['serve', 'query', 'nanosleep']),
          wait('w2', ['serve', waitsIn, 'semaphore:free']),
          wait('w3', ['serve', waitsIn, 'semaphore:free']),
        ])
        .stretch(0.01 * second, [
          run('w1', ['serve', 'digest']),
          wait('w2', ['serve', waitsIn, 'semaphore:free']),
          wait('w3', ['serve', waitsIn, 'semaphore:free']),
        ]);
    builder.object('semaphore:free', { contended: 20, acquisitions: 20 });
    const model = recorded(builder);
    const { limit } = factsOf(
      model.findings.find(({ kind }) => kind === 'io'),
      'io',
    );
    return limit && [nameOf(model, limit.entity), limit.atATime, ms(limit.savesNs)];
  };
  t.deepEqual(limitOf('query'), ['free', 3, 333]);
  t.is(limitOf('next_task'), null);
});

test('the sleep of a thread that nobody waits for delays nothing while others work', (t) => {
  const periodic = (after: number): Model => {
    const asleep = io('s', ['tick', 'nanosleep']),
      joins = wait('main', ['main', 'join:end']);
    const builder = new Builder({ processors: 2 });
    for (let k = 0; k < 10; k++)
      builder
        .stretch(0.04 * second, [joins, asleep, run('a', ['client']), run('b', ['client'])])
        .stretch(0.03 * second, [joins, asleep, run('a', ['client'])])
        .stretch(0.03 * second, [
          joins,
          run('s', ['statistics']),
          run('a', ['client']),
          wait('b', ['client', 'mutex:table']),
        ]);
    if (after > 0) builder.stretch(after * second, [joins, asleep]);
    return recorded(builder);
  };
  const costOf = (model: Model): number => Math.round((findingOf(model, 'io')?.costNs ?? 0) / 1e6);
  t.is(costOf(periodic(0)), 0, 'statistics, as long as others work');
  t.is(costOf(periodic(0.2)), 300, 'it goes on, and its end is awaited: as much as it works, and the rest');
});

/** A loop of 60 rounds: work of varying length, then sleep. `sleeps`: length of the sleep after that work, in ms. */
function loop(sleeps: (workMs: number) => number): Model {
  const builder = new Builder({ processors: 2, snapshotNs: 1e6 });
  const sums = { sleeps: 0, intervalUs: 0, intervalUs2: 0, lengthUs: 0, lengthUs2: 0 };
  for (let k = 0; k < 60; k++) {
    const work = 4 + ((k * 7) % 9),
      sleep = sleeps(work);
    builder.stretch(work * 1e6, [run('main', ['main', 'draw'])]);
    builder.stretch(sleep * 1e6, [io('main', ['main', 'nanosleep'])]);
    const [interval, length] = [(work + sleep) * 1e3, sleep * 1e3];
    sums.sleeps++;
    sums.intervalUs += interval;
    sums.intervalUs2 += interval ** 2;
    sums.lengthUs += length;
    sums.lengthUs2 += length ** 2;
  }
  const profile = builder.build();
  for (const entity of profile.entities) if (entity.name === 'nanosleep') entity.origin = 'runtime';
  const threads = profile.threads.map((thread) => ({ ...thread, ...sums }));
  return buildModel({ ...profile, threads, head: { ...profile.head, publisher: 'pthread' } });
}

test('sleeps that end at equal intervals although they are not equally long keep a pace, which costs nothing', (t) => {
  const paced = loop((workMs) => 20 - workMs);
  t.deepEqual(reported(paced), [], 'the pace sets how long the run takes');
  const [notice] = noticesOf(paced, 'pace');
  t.deepEqual([notice?.count, Math.round(notice!.everyNs / 1e5), notice?.setsTime], [60, 200, true]);
  t.deepEqual([noticesOf(paced, 'unexplained').length, noticesOf(paced, 'nothing-ran').length], [0, 0]);
  // equally long: it may poll
  const polls = loop(() => 12);
  t.deepEqual(noticesOf(polls, 'pace'), []);
  t.true(polls.findings.some(({ kind }) => kind === 'io'));
});
