/** Numbers indexed by pairs: the same as a Map with both as the key, whatever collides. */
import test from 'ava';
import { PairIndex } from '../../../../ts-frontend/src/model/profile/pair-index.js';

test('each pair has what was given for it first', (t) => {
  const most = 5000;
  const pairs = new PairIndex(most);
  const known = new Map<string, number>();
  for (let k = 0; known.size < most; k++) {
    const [first, second] = [(k * 7919) % 131, (k * 104729) % 65_521];
    const key = `${first} ${second}`;
    if (!known.has(key)) known.set(key, known.size + 1);
    if (pairs.findOrAdd(first, second, known.get(key)!) !== known.get(key)) t.fail(key);
    if (pairs.findOrAdd(first, second, most + 1) !== known.get(key)) t.fail(`again: ${key}`);
  }
  t.pass();
});
