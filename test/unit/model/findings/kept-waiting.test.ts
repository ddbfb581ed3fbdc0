/** The main thread waits for a lock, while others use the processors for as long as it lives; profiles made by hand. */
import test from 'ava';
import { buildModel } from '../../../../ts-frontend/src/model/build-model.js';
import type { Model } from '../../../../ts-frontend/src/model/index.js';
import { findingSentences } from '../../../../ts-frontend/src/render/findings/index.js';
import { State } from '../../../../ts-frontend/src/model/profile/raw-profile.js';
import { factsOf, nameOf } from '../../../support/facts.js';
import { ProfileBuilder as Builder, ready, run, wait, type Doing } from '../../../support/profile-builder.js';

const second = 1e9;

/**
 * P = 2. Main waits for half of the time for a lock that one thread holds; another one works all the time. `onPath`:
 * how long the holder is on the time path; `mains`: what main does in the other half; `checks`: what the third thread
 * runs; `after`: what follows.
 */
function kept({
  kind = 'mutex',
  onPath = 0.4,
  mains = run('main', ['main', 'solve']),
  checks = ['check', 'digest'],
  after = [] as Doing[],
} = {}): Model {
  const held = ['compact', `${kind}:store`, 'merge'];
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread', pathNs: second } });
  for (let k = 0; k < 10; k++)
    builder
      .stretch(0.05 * second, [wait('main', ['main', 'insert', `${kind}:store`]), run('c', held), run('w', checks)])
      .stretch(0.05 * second, [mains, ready('c', ['compact']), run('w', checks)]);
  if (after.length > 0) builder.stretch(0.5 * second, after);
  const raw = builder.object(`${kind}:store`, { acquisitions: 100, contended: 10, waitNs: 0.5 * second }).build();
  const id = raw.entities.findIndex(({ name }) => name === 'merge');
  const none = new Uint32Array(1),
    no = new Uint8Array(1);
  const path = {
    stack: Uint32Array.of(raw.stacks.entity.indexOf(id)),
    thread: Uint32Array.of(raw.threads[1]!.entity),
    state: Uint8Array.of(State.useful),
    ns: Float64Array.of(onPath * second),
    count: Float64Array.of(1),
    object: none,
    arrival: no,
    inferred: no,
  };
  return buildModel({ ...raw, onPath: path });
}
const factsIn = (model: Model) => {
  const lock = model.findings.find(({ facts }) => facts.form === 'lock');
  return lock ? factsOf(lock, 'lock').keptWaiting : undefined;
};

test('all processors are busy, but main waits for a lock: that comes first, with what it saves at most', (t) => {
  const model = kept();
  const [first] = model.findings;
  t.is(first?.name, 'store');
  const { thread, procedure, waitNs, mostNs } = factsIn(model)!;
  t.deepEqual([nameOf(model, thread), nameOf(model, procedure)], ['main', 'insert']);
  t.deepEqual([Math.round(waitNs / 1e6), Math.round(mostNs / 1e6)], [500, 400]);
  t.deepEqual([first?.costNs, first?.savingNs], [waitNs, mostNs]);
  const { text, remedy } = findingSentences(model, first!, { ascii: false });
  t.regex(text, /^thread main waits for lock store, in insert, for 500 ms/);
  t.regex(remedy, /could take up to 400 ms less; if it ends when all work is done/);
});

test('of a read-write lock: that readers go first', (t) => {
  const model = kept({ kind: 'rwlock' });
  t.regex(findingSentences(model, model.findings[0]!, { ascii: false }).remedy, /PREFER_WRITER/);
});

test('not where the others have work of their own, or main does theirs, or the lock is hardly on the path', (t) => {
  t.is(factsIn(kept({ onPath: 0.05 })) ?? null, null);
  t.is(factsIn(kept({ checks: ['main', 'insert', 'digest'] })) ?? null, null, 'they insert, too');
  t.is(factsIn(kept({ mains: wait('main', ['main', 'join:c']) })) ?? null, null, 'main waits for results');
  t.is(factsIn(kept({ after: [run('main', ['main', 'solve'])] })) ?? null, null, 'the others end earlier');
});
