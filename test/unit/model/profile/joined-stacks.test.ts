/** Stacks of generated code that received its names at the end (ts-frontend/src/model/profile/joined-stacks.ts). */
import test from 'ava';
import { joinStacks } from '../../../../ts-frontend/src/model/profile/joined-stacks.js';
import type { RawProfile } from '../../../../ts-frontend/src/model/index.js';

const procedure = (name: string, address: number): object => ({
  kind: 'procedure',
  name,
  address,
  module: address > 0 ? 1 : 0,
  record: 0,
});
/** For each node its parent and entity; one tuple for each. */
const profile = (entities: object[], nodes: [number, number][]): RawProfile =>
  ({
    entities,
    stacks: { parent: Uint32Array.from(nodes, ([up]) => up), entity: Uint32Array.from(nodes, ([, its]) => its) },
    tuples: { stack: Uint32Array.from(nodes, (_, node) => node) },
    calls: { caller: Uint32Array.of(2) },
  }) as unknown as RawProfile;

test('equal paths become one, and direct recursion one entry', (t) => {
  const entities = [procedure('', 0), procedure('main', 16), procedure('Sum.of', 0)];
  const raw = profile(entities, [
    [0, 0],
    [0, 1], // 1: main
    [1, 2], // 2: main > Sum.of
    [1, 2], // 3: the same, at another place
    [3, 2], // 4: called by itself
    [4, 1], // 5: main > Sum.of > main
    [2, 1], // 6: the same
    [1, 1], // 7: main > main stays, since its places are in a file
  ]);
  const joined = joinStacks(raw);
  t.deepEqual([...joined.stacks.parent], [0, 0, 1, 2, 1]);
  t.deepEqual([...joined.stacks.entity], [0, 1, 2, 1, 1]);
  t.deepEqual([...joined.tuples.stack], [0, 1, 2, 2, 2, 3, 3, 4]);
  t.deepEqual([...joined.calls.caller], [2], 'which is no stack');
});

test('a profile without generated code is left as it is', (t) => {
  const raw = profile([procedure('', 0), procedure('main', 16)], [[0, 0], [0, 1], [0, 1]]); // prettier-ignore
  t.is(joinStacks(raw), raw);
});
