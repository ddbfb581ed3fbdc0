/**
 * What threads of one role wait for before something slow (a limit, not a lock), and two sides that wait for each other
 * in turn (not the stages of a pipeline).
 */
import test from 'ava';
import { buildModel, type Model } from '../../../../ts-frontend/src/model/index.js';
import { factsOf, findingOf, ms, nameOf, namesOf } from '../../../support/facts.js';
import type { Doing } from '../../../support/profile-builder.js';
import { io, ProfileBuilder as Builder, run, wait } from '../../../support/profile-builder.js';
import { second } from '../../../support/example-profiles.js';

/** As the pthread layer records, with the calls that sleep among the C library's procedures; with its path. */
function recorded(builder: Builder): Model {
  const profile = builder.build();
  for (const entity of profile.entities) if (/^(nanosleep|read)$/.test(entity.name)) entity.origin = 'runtime';
  const { recentSegments: segments } = profile;
  const pathNs = segments.ns.reduce((sum, ns) => sum + ns, 0);
  const head = { ...profile.head, publisher: 'pthread' as const, pathNs };
  return buildModel({ ...profile, head, segments });
}

/**
 * Four threads parse, wait for a permit, do something with it for 40 ms, and render; two have permits at a time.
 */
function limited(withPermit: (thread: string) => Doing): Model {
  const builder = new Builder({ processors: 2 }),
    at = ['serve', 'semaphore:connections'];
  for (let k = 0; k < 40; k++) {
    const [a, b, c, d] = [0, 1, 2, 3].map((n) => `w${(k + n) % 4}`) as [string, string, string, string];
    builder
      .stretch(0.04 * second, [withPermit(a), withPermit(b), wait(c, at), wait(d, at)])
      .stretch(0.01 * second, [run(a, ['serve']), run(b, ['serve', 'render']), wait(c, at), wait(d, at)])
      .onPath(0.05 * second, a, ['serve'], k === 0 ? {} : { came: 'woken', by: at[1]! });
  }
  builder.object('semaphore:connections', { contended: 80, acquisitions: 80, waitNs: 40 * 2 * 0.05 * second });
  return recorded(builder);
}

test('a semaphore that threads wait for before something slow is a limit, not a lock', (t) => {
  const model = limited((thread) => io(thread, ['serve', 'query', 'nanosleep']));
  t.is(findingOf(model, 'lock-contention'), undefined);
  const { limit, waits } = factsOf(model.findings[0], 'io');
  t.is(waits, 'sleep');
  // each of the four threads waits for half of the two seconds
  t.deepEqual(limit && [nameOf(model, limit.entity), limit.atATime, ms(limit.savesNs)], ['connections', 4, 1000]);
});

test('if they wait for requests there, or work with it, it is no limit', (t) => {
  const isLimit = (withPermit: Parameters<typeof limited>[0]): boolean =>
    limited(withPermit).findings.some(({ facts }) => facts.form === 'io' && facts.limit !== null);
  t.true(isLimit((thread) => io(thread, ['serve', 'query', 'read'])));
  t.false(isLimit((thread) => run(thread, ['serve', 'query'])));
});

test('who waits for what another thread reads has no permit to wait for', (t) => {
  const builder = new Builder({ processors: 2 }),
    at = 'condition:queue';
  for (let k = 0; k < 40; k++) {
    const [a, b] = k % 2 === 0 ? ['w0', 'w1'] : ['w1', 'w0'];
    builder
      .stretch(0.04 * second, [io('in', ['get', 'read']), wait(a, ['use', at]), wait(b, ['use', at])])
      .stretch(0.01 * second, [wait('in', ['get', at]), run(a, ['use']), wait(b, ['use', at])])
      .onPath(0.04 * second, 'in', ['get', 'read'], { state: 'io', came: 'woken', by: at })
      .onPath(0.01 * second, a, ['use'], { came: 'woken', by: at });
  }
  const model = recorded(builder.object(at, { contended: 80, acquisitions: 80, waitNs: 3 * second }));
  t.is(model.entities[builder.id(at)]?.admits, null);
});

/**
 * A client plans for 10 ms and a store looks up for 30 ms in each of 50 rounds; `beside`: part of the client's work
 * that is beside the store's, as with room for requests between them.
 */
function rounds(beside: number): Model {
  const builder = new Builder({ processors: 2 });
  const asked = ['store', 'condition:asked'],
    answered = ['main', 'condition:answered'];
  for (let k = 0; k < 50; k++) {
    const alone = (1 - beside) * 0.01 * second;
    builder
      .stretch(alone, [run('client', ['main', 'plan']), wait('store', asked)])
      .stretch(0.01 * second - alone, [run('client', ['main', 'plan']), run('store', ['store', 'look_up'])])
      .stretch(0.02 * second + alone, [wait('client', answered), run('store', ['store', 'look_up'])]);
    const woken = (by: string): { came: 'woken'; by: string } => ({ came: 'woken', by });
    if (alone > 0) builder.onPath(alone, 'client', ['main', 'plan'], k === 0 ? {} : woken('condition:answered'));
    builder.onPath(0.03 * second, 'store', ['store', 'look_up'], alone > 0 ? woken('condition:asked') : {});
  }
  for (const name of ['condition:asked', 'condition:answered']) builder.object(name, { contended: 50 });
  return recorded(builder);
}

test('two sides that wait for each other in turn: the next request before this answer', (t) => {
  const model = rounds(0);
  const [first] = model.findings;
  const { objects, sides, code, savesNs } = factsOf(first, 'mutual-wait');
  t.deepEqual([first!.kind, ms(first!.costNs)], ['dependency', 2000]);
  t.deepEqual(namesOf(model, objects).sort(), ['answered', 'asked']);
  t.deepEqual(
    sides.map(({ thread, worksNs }) => [nameOf(model, thread), ms(worksNs)]),
    [
      ['store', 1500],
      ['client', 500],
    ],
  );
  t.is(nameOf(model, code), 'look_up');
  t.is(ms(savesNs), 500);
});

test('stages with room between them are a pipeline, whose fast stage is not on the path', (t) => {
  const ofTrips = ({ findings }: Model): boolean =>
    findings.some(({ facts }) => facts.form === 'mutual-wait' && facts.sides.length > 0);
  t.true(ofTrips(rounds(0.25)));
  t.false(ofTrips(rounds(0.75)));
  t.false(ofTrips(rounds(1)));
});
