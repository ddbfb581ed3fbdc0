/** What idleness and overhead, low or high, say about the division of the work. */
import test from 'ava';
import { guidanceOf } from '../../../../ts-frontend/src/model/index.js';

test('the four cases', (t) => {
  t.is(guidanceOf(0.05, 0.02), 'effective');
  t.is(guidanceOf(0.05, 0.3), 'coarser');
  t.is(guidanceOf(0.5, 0.02), 'finer');
  t.is(guidanceOf(0.5, 0.3), 'another');
});
