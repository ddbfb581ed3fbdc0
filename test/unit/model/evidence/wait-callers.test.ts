/** Who calls a wrapper around waits. */
import test from 'ava';
import { buildModel } from '../../../../ts-frontend/src/model/index.js';
import { factsOf, findingOf, nameOf } from '../../../support/facts.js';
import { ProfileBuilder as Builder, io, run } from '../../../support/profile-builder.js';
import { second } from '../../../support/example-profiles.js';

test('a wrapper is called for different reasons: its callers with much of the waits, beyond those of all', (t) => {
  const waits = (...path: string[]) => io('main', ['main', ...path, 'latch', 'events', 'epoll_wait']);
  const callersOf = (...others: string[][]): string[] => {
    const builder = new Builder({ processors: 2 }).stretch(0.1 * second, [run('main', ['main', 'work'])]);
    builder.stretch(0.6 * second, [waits('lock_row')]);
    for (const path of others) builder.stretch((0.3 / others.length) * second, [waits(...path)]);
    const profile = builder.build();
    for (const entity of profile.entities) if (entity.name === 'epoll_wait') entity.origin = 'runtime';
    const model = buildModel({ ...profile, head: { ...profile.head, publisher: 'pthread' } });
    const finding = findingOf(model, 'io');
    t.is(finding?.name, 'events');
    return factsOf(finding, 'io').callers.map(({ entity, share }) => `${nameOf(model, entity)} ${share.toFixed(2)}`);
  };
  t.deepEqual(callersOf(['read_client']), ['lock_row 0.67', 'read_client 0.33']);
  t.deepEqual(callersOf(['lock_row']), [], 'always the same');
  t.deepEqual(callersOf(['a'], ['b'], ['c'], ['d']), ['lock_row 0.67'], 'small ones are left out');
});
