/** The window of a live screen: the difference of two reads is the profile of what happened in between. */
import test from 'ava';
import { buildModel, checkInvariants, difference, findEntities } from '../../../ts-frontend/src/model/index.js';
import { ProfileBuilder, run, wait } from '../../support/profile-builder.js';
import { second } from '../../support/example-profiles.js';

test('only what happened in between', (t) => {
  const builder = new ProfileBuilder({ processors: 2 })
    .stretch(second, [run('a', ['f']), wait('b', ['f', 'mutex:m'])])
    .object('mutex:m', { acquisitions: 3 });
  const earlier = builder.build();
  const later = builder
    .stretch(2 * second, [run('a', ['g']), run('b', ['f'])])
    .object('mutex:m', { acquisitions: 10 })
    .build();
  const raw = difference(later, earlier);
  const model = buildModel(raw);
  t.deepEqual(checkInvariants(model), []);
  const npt = (name: string): number => model.entities[findEntities(model, name)[0]!]!.nptNs;
  t.deepEqual([model.elapsedNs, npt('f'), npt('g')], [2 * second, second, second]);
  t.is(model.entities[findEntities(model, 'm')[0]!]!.object!.acquisitions, 7);
  t.is(model.entities[findEntities(model, 'm')[0]!]!.object!.waitNs, 0);
  t.throws(() => difference(earlier, later), { instanceOf: RangeError });
});
