/** The window of a live screen: the difference of two reads is the profile of what happened in between. */
import test from 'ava';
import {
  buildModel,
  checkInvariants,
  difference,
  findEntities,
  pathLength,
  type RawProfile,
  type RawSharedLine,
} from '../../../../ts-frontend/src/model/index.js';
import { ProfileBuilder, run, wait } from '../../../support/profile-builder.js';
import { second } from '../../../support/example-profiles.js';

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

/** A time path of these stretches, each with a stack of its own. */
function pathOf(lengths: readonly number[]): Pick<RawProfile, 'onPath' | 'segments'> {
  const n = lengths.length,
    none = { thread: new Uint32Array(n).fill(1), object: new Uint32Array(n), state: new Uint8Array(n).fill(1) };
  const its = { ...none, stack: Uint32Array.from(lengths, (_, k) => k + 1), ns: Float64Array.from(lengths) };
  const how = { arrival: new Uint8Array(n), inferred: new Uint8Array(n) };
  const startNs = Float64Array.from(lengths, (_, k) => lengths.slice(0, k).reduce((sum, ns) => sum + ns, 0));
  return {
    onPath: { ...its, ...how, count: new Float64Array(n).fill(1) },
    segments: { ...its, ...how, startNs, came: new Uint8Array(n), by: new Uint32Array(n), joined: new Uint32Array(n) },
  };
}

test('the time path of a window: by its sums while the program runs, by its segments at the end', (t) => {
  const builder = new ProfileBuilder({ processors: 2 }).stretch(2 * second, [run('a', ['f'])]);
  const before = builder.build();
  const after = builder.stretch(2 * second, [run('a', ['g'])]).build();
  const onPath = ({ onPath: { stack, ns } }: RawProfile): number[][] => [...ns].map((its, k) => [stack[k]!, its]);

  const ended = { ...after, ...pathOf([3 * second, second]), head: { ...after.head, pathNs: 4 * second } };
  const final = difference(ended, before);
  t.deepEqual(onPath(final), [
    [1, second],
    [2, second],
  ]);
  t.deepEqual([...final.segments.startNs], [0, second]);
  t.is(final.head.pathNs, 2 * second);
  t.deepEqual(checkInvariants(buildModel(final)), []);

  const { onPath: earlier } = pathOf([2 * second]),
    { onPath: later } = pathOf([3 * second, second]);
  const running = difference({ ...after, onPath: later }, { ...before, onPath: earlier });
  t.deepEqual(onPath(running), [
    [1, second],
    [2, second],
  ]);
  t.is(running.head.pathNs, 0);
  t.is(pathLength(buildModel(running)), 2 * second);
});
