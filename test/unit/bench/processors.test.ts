/** Sizes that depend on the number of CPUs. */
import test from 'ava';
import { doublings } from '../../../bench/harness/processors.js';

test('processors are doubled up to all CPUs, these included', (t) => {
  t.deepEqual(doublings(1), [1]);
  t.deepEqual(doublings(2), [1, 2]);
  t.deepEqual(doublings(6), [1, 2, 4, 6]);
  t.deepEqual(doublings(16), [1, 2, 4, 8, 16]);
});
