/** Names on the command line: which entity they refer to. */
import test from 'ava';
import { find } from '../../../ts-frontend/src/cli/show/find.js';
import { buildModel, item } from '../../../ts-frontend/src/model/index.js';
import { serialThenParallel } from '../../support/example-profiles.js';

const model = buildModel(
  serialThenParallel().describe('a', { name: 'reader', file: '/one.c' }).describe('b', { name: 'reader' }).build(),
  { compensate: false },
);
const other = buildModel(
  serialThenParallel().describe('a', { name: 'reader' }).describe('b', { name: 'readers' }).build(),
  {
    compensate: false,
  },
);

test('a part of one name only, also where several procedures have that name', (t) => {
  t.is(item(model.entities, find(model, 'eade')).name, 'reader');
  t.is(find(model, 'eade'), find(model, 'reader'));
});

test('a part of several names: each of them is given once; the whole of one is that one', (t) => {
  t.throws(() => find(other, 'eade'), { message: /^"eade" is part of 2 names/ });
  t.is(item(other.entities, find(other, 'reader')).name, 'reader');
  t.throws(() => find(other, 'writer'), { message: /nothing in this profile is called "writer"/ });
});
