/** The end of the time path: windows that cover their time exactly, hand-overs, sums. */
import test from 'ava';
import { buildModel, noTimePath, recentPathOf, type Model } from '../../../../ts-frontend/src/model/index.js';
import { ProfileBuilder, run } from '../../../support/profile-builder.js';

const ms = 1e6;
/**
 * 12 s, of which the path has the last ten: two threads take turns of 0.5 s, then 1 s is unknown, then a wait for a
 * lock.
 */
function builder(): ProfileBuilder {
  const made = new ProfileBuilder({ processors: 2, undecidedNs: 30 * ms }).stretch(12_000 * ms, [
    run('a', ['main', 'left', 'mutex:m']),
    run('b', ['main', 'right']),
  ]);
  for (let k = 0; k < 16; k++)
    made.onPath(500 * ms, k % 2 === 0 ? 'a' : 'b', ['main', k % 2 === 0 ? 'left' : 'right'], {
      ...(k > 0 ? { came: 'woken' } : {}),
      inferred: k === 3,
    });
  return made
    .onPath(1000 * ms, 'b', ['main', 'right'])
    .onPath(1000 * ms, 'a', ['main', 'left'], { state: 'ready', waitedFor: 'mutex:m', came: 'woken', by: 'mutex:m' });
}
const sum = (parts: readonly { ns: number }[]): number => parts.reduce((ns, part) => ns + part.ns, 0);
const nameOf = (model: Model, id: number): string => model.entities[id]?.name ?? '';

test('segments, stretches, threads and places all fill the window', (t) => {
  const model = buildModel(builder().build());
  const path = recentPathOf(model)!;
  t.is(path.ns, 10_000 * ms);
  t.is(path.startNs, 2_000 * ms);
  for (const parts of [path.segments, path.legs, path.threads, path.places]) t.is(sum(parts), path.ns);
  t.is(
    Object.values(path.states).reduce((ns, one) => ns + one, 0),
    path.ns,
  );
  t.is(path.handOvers, 16);
  t.is(path.inferredNs, 500 * ms);
  t.is(path.undecidedNs, 30 * ms);
  t.deepEqual(
    path.places.map(({ entity, ns, waited }) => [nameOf(model, entity), ns / ms, waited]),
    [
      ['right', 5000, false],
      ['left', 4000, false],
      ['m', 1000, true],
    ],
  );
});

test('shorter windows cut the stretch that they begin in', (t) => {
  const path = recentPathOf(buildModel(builder().build()), 2_250 * ms)!;
  t.is(path.ns, 2_250 * ms);
  t.is(sum(path.segments), path.ns);
  t.deepEqual(
    path.legs.map(({ ns }) => ns / ms),
    [1250, 1000],
  );
  t.is(path.handOvers, 1);
});

test('a profile of an older Quartz: the end of the whole path', (t) => {
  const raw = builder().build();
  const { ns } = raw.recentSegments;
  const model = buildModel({
    ...raw,
    ...noTimePath(),
    head: { ...raw.head, pathNs: 10_000 * ms },
    segments: {
      ...raw.recentSegments,
      startNs: ns.map((_, k) => sum(Array.from(ns.subarray(0, k), (one) => ({ ns: one })))),
    },
  });
  const path = recentPathOf(model, 1_500 * ms)!;
  t.is(path.undecidedNs, 0);
  t.is(sum(path.segments), 1_500 * ms);
  t.is(path.startNs, 8_500 * ms);
});

test('there may be none', (t) => {
  const raw = new ProfileBuilder({ processors: 1 }).stretch(ms, [run('a', ['main'])]).build();
  t.is(recentPathOf(buildModel(raw)), null);
});
