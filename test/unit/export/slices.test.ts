/** Exports of what each thread did at which time (--timeline). */
import test from 'ava';
import { timeLine } from '../../../ts-frontend/src/export/counters.js';
import { tracksOf } from '../../../ts-frontend/src/export/tracks.js';
import { buildModel, stateNames } from '../../../ts-frontend/src/model/index.js';
import { ProfileBuilder, run, wait, woken } from '../../support/profile-builder.js';
import { packetsOf, type Packet } from './perfetto-packets.js';

const ms = 1e6;
/** A profile whose threads have a slice for all that they did, from the beginning on. */
function withSlices(builder: ProfileBuilder): ReturnType<ProfileBuilder['build']> {
  const built = builder.build();
  const { thread, stack, state, waiting, ns } = built.tuples;
  const first = (column: Uint32Array | Uint8Array): number[] => [0, ...column];
  built.slices = {
    startNs: new Float64Array(ns.length + 1),
    ns: Float64Array.from([0, ...ns]),
    thread: Uint32Array.from(first(thread)),
    stack: Uint32Array.from(first(stack)),
    state: Uint8Array.from(first(state)),
    waiting: Uint8Array.from(first(waiting)),
  };
  return built;
}
const inCode = withSlices(
  new ProfileBuilder({ processors: 2 }).stretch(ms, [
    run('a', ['main', 'code-line:3', 'code-loop:4', 'rwlock:table']),
    run('b', ['main', 'code-line:3', 'rwlock:table', 'code-loop:5', 'code-line:6', 'work', 'code-line:7']),
    wait('c', ['main', 'code-line:4', 'rwlock:table']),
    woken('d', ['main', 'code-line:4', 'rwlock:table']),
  ]),
);

test('time lines: who held a lock when, readers at once each; what waits or may try again holds nothing', (t) => {
  const tracks = tracksOf(buildModel(inCode, { compensate: false }));
  const seen = tracks.map(({ name, slices }) => `${name}: ${slices.map((one) => `${one.name} ${one.ns / ms}`).join()}`);
  t.deepEqual(seen.sort(), [
    'a: rwlock table 1',
    'b: work 1',
    'c: waits for rwlock table 1',
    'd: waits for a CPU 1',
    'held: rwlock table (2): b 1',
    'held: rwlock table: a 1',
  ]);
  t.is(tracks.find(({ name }) => name === 'b')!.slices[0]!.stack, 'main > rwlock table > work');
});

test('time lines: the life of a thread is around all that it did', (t) => {
  const built = buildModel(inCode, { compensate: false });
  const { lives, tracks } = timeLine(built);
  for (const { thread, slices } of tracks) {
    const life = lives.find(({ id }) => id === thread);
    if (life !== undefined) t.true(life.fromNs === 0 && life.toNs >= slices[0]!.ns);
  }
  t.true(lives.length >= 4);
});

test('perfetto: each end is that of what began last on its track, and states add up', (t) => {
  const built = buildModel(inCode, { compensate: false });
  const [began, end] = [1, 2];
  const open = new Map<number, Packet[]>();
  const sums = new Map<string, number>();
  const events = packetsOf(built).filter(({ type }) => type === began || type === end);
  for (const packet of events.sort((a, b) => a.at! - b.at!)) {
    const stack = open.get(packet.uuid!) ?? [];
    open.set(packet.uuid!, stack);
    if (packet.type === began) stack.push(packet);
    else {
      const { category = 'life', at } = stack.pop()!;
      sums.set(category, (sums.get(category) ?? 0) + packet.at! - at!);
    }
  }
  t.true([...open.values()].every((stack) => stack.length === 0));
  for (const state of stateNames) t.is(sums.get(state) ?? 0, built.root.states[state].ns, state);
});
