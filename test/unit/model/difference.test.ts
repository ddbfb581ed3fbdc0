/** The window of a live screen: the difference of two reads is the profile of what happened in between. */
import test from 'ava';
import {
  buildModel,
  checkInvariants,
  difference,
  findEntities,
  type RawSharedLine,
} from '../../../ts-frontend/src/model/index.js';
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

test('shared cache lines: samples of the window, and lines that are new', (t) => {
  const raw = new ProfileBuilder({ processors: 2 }).stretch(second, [run('a', ['f'])]).build();
  const line = (samples: number, ...each: number[]): RawSharedLine => ({
    address: 0x4040,
    variable: '',
    samples,
    turns: samples / 2,
    by: each.map((its, k) => ({ thread: k + 1, procedure: 1, samples: its, written: 1 << k, read: 0, locked: 0 })),
  });
  const { sharedLines } = difference(
    { ...raw, sharedLines: [line(100, 50, 40, 10), line(20, 10, 10)] },
    { ...raw, sharedLines: [line(60, 40, 20)] },
  );
  t.deepEqual(
    sharedLines.map(({ samples, turns, by }) => [samples, turns, ...by.map((user) => user.samples)]),
    [
      [40, 20, 10, 20, 10],
      [20, 10, 10, 10],
    ],
  );
});
