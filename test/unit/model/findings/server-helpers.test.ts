/** What a server waits for, beside threads of its own that sleep. */
import test from 'ava';
import { buildModel, type Model } from '../../../../ts-frontend/src/model/index.js';
import { second } from '../../../support/example-profiles.js';
import { factsOf, findingOf } from '../../../support/facts.js';
import { inKernel, io, ProfileBuilder, ready, run } from '../../../support/profile-builder.js';
import type { RawHead } from '../../../../ts-frontend/src/model/profile/raw-profile.js';

/** As the pthread layer records, with the calls of the C library among the frames. */
function recorded(builder: ProfileBuilder): Model {
  const profile = builder.build();
  for (const entity of profile.entities) if (/^(epoll_wait|usleep)$/.test(entity.name)) entity.origin = 'runtime';
  return buildModel({ ...profile, head: { ...profile.head, publisher: 'pthread' } });
}

test('a server waits for requests, whoever of its helpers sleeps; who sleeps to answer one makes it wait', (t) => {
  const serves = (at: number, head: Partial<RawHead> = { socketsSeen: true, listens: true }): [string, string] => {
    const builder = new ProfileBuilder({ processors: 2, head });
    for (let k = 0; k < 10; k++)
      builder
        .stretch(0.02 * second, [run(at === 0 ? 'worker' : 'helper', ['serve', 'format'])])
        .stretch(0.04 * second, [io('worker', ['serve', 'epoll_wait']), io('helper', ['tidy', 'usleep'])])
        .stretch(0.04 * second, [ready('worker', ['serve', 'epoll_wait']), io('helper', ['tidy', 'usleep'])]);
    const finding = findingOf(recorded(builder), 'io');
    return [finding!.name, factsOf(finding, 'io').waits];
  };
  t.deepEqual(serves(0), ['serve', 'others']);
  t.deepEqual(serves(1), ['tidy', 'sleep'], 'the sleeper does the work');
  t.deepEqual(serves(0, { socketsSeen: true }), ['tidy', 'sleep'], 'no server');
});

test('small requests: fewer, larger ones save the calls that read and answer them, and the waits between', (t) => {
  const serving = (voluntarySwitches: number, listens = true): Model => {
    const usage = { usageKnown: true, usageNs: second, switchesKnown: true, voluntarySwitches };
    const head = { socketsSeen: true, listens, ...usage };
    const builder = new ProfileBuilder({ processors: 2, head });
    for (let k = 0; k < 10; k++)
      builder
        .stretch(0.03 * second, [inKernel('call', 'worker', ['serve', 'answer'])])
        .stretch(0.01 * second, [run('worker', ['serve', 'find'])])
        .stretch(0.06 * second, [io('worker', ['serve', 'epoll_wait'])]);
    return recorded(builder);
  };
  const small = (...its: Parameters<typeof serving>): ReturnType<typeof factsOf<'io'>>['small'] =>
    factsOf(findingOf(serving(...its), 'io'), 'io').small;
  const its = small(10_000); // 40 us of work each
  // 0.9 of 300 ms in calls, and of 600 ms in which it waits
  t.deepEqual(
    [its!.share, Math.round(its!.savedNs / 1e6)].map((one) => Math.round(100 * one) / 100),
    [0.75, 810],
  );
  t.is(small(1000), null, '400 us of work for each');
  t.is(small(10_000, false), null, 'no server');
  const first = (switches: number): string => serving(switches).findings[0]!.facts.form;
  t.is(first(10_000), 'io', '270 ms of the calls go, whoever sets the pace');
  t.is(first(1000), 'serial', 'of 600 ms of waits a quarter counts');
});
