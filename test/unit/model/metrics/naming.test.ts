/** Names of objects that have none of their own: by the place that created them. */
import test from 'ava';
import { buildModel } from '../../../../ts-frontend/src/model/index.js';
import { ProfileBuilder, run } from '../../../support/profile-builder.js';

test('without a line an object is named after the procedure, and its address, which distinguishes several', (t) => {
  const builder = new ProfileBuilder({ processors: 1 });
  for (const [text, address] of [
    ['mutex:make_store', 0x1218],
    ['mutex:make_store#2', 0x1230],
  ] as const)
    builder.describe(text, { address, naming: 'inside' });
  builder.describe('condition:Store::Store()#3', { address: 0x1250, naming: 'inside' });
  const model = buildModel(builder.stretch(10e6, [run('main', ['main'])]).build());
  const names = model.entities.filter(({ object }) => object !== null).map((one) => [one.name, one.saysItsKind]);
  t.deepEqual(names, [
    ['mutex in make_store (0x1218)', true],
    ['mutex in make_store (0x1230)', true],
    ['condition in Store::Store() (0x1250)', true],
  ]);
});
