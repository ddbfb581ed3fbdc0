/** What a server waits for, beside threads of its own that sleep. */
import test from 'ava';
import { buildModel, type Model } from '../../../ts-frontend/src/model/index.js';
import { second } from '../../support/example-profiles.js';
import { factsOf, findingOf } from '../../support/facts.js';
import { io, ProfileBuilder, ready, run } from '../../support/profile-builder.js';
import type { RawHead } from '../../../ts-frontend/src/model/profile/raw-profile.js';

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
