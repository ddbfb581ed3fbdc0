/** Remedies that follow from what is taken: read-write locks, barriers, locks held during system calls, hash tables. */
import test from 'ava';
import { buildModel, noPaths, type Model } from '../../../../ts-frontend/src/model/index.js';
import { findingSentences } from '../../../../ts-frontend/src/render/findings/index.js';
import { factsOf } from '../../../support/facts.js';
import { inKernel, ProfileBuilder as Builder, run, wait } from '../../../support/profile-builder.js';

const second = 1e9;

test('system calls in a lock that is handed on all the time come before the lock, too', (t) => {
  const held = ['log', 'mutex:out'];
  const builder = new Builder({
    processors: 2,
    head: {
      paths: { ...noPaths, running: true, kernel: true },
      publisher: 'pthread',
      usageKnown: true,
      usageNs: second,
      residentBytes: 10_000 * 4096,
      minorFaults: 0,
      userNs: 0.4 * second,
      systemNs: 0.6 * second,
      callsKnown: true,
      writeCalls: 1e5,
      writtenBytes: 4e6,
    },
  });
  for (let k = 0; k < 100; k++) {
    const [a, b] = k % 2 === 0 ? ['a', 'b'] : ['b', 'a'];
    builder
      .stretch(0.004 * second, [inKernel('write', a, [...held, 'put', 'write']), wait(b, held)])
      .stretch(0.002 * second, [inKernel('futex', a, [...held, 'unlock']), wait(b, held)])
      .stretch(0.002 * second, [run(a, ['log', 'format']), run(b, ['log', 'format'])]);
  }
  const model = buildModel(builder.object('mutex:out', { acquisitions: 1e5, contended: 20_000 }).build());
  const forms = model.findings.map(({ facts }) => facts.form);
  t.true(forms.includes('hand-overs'), forms.join());
  t.true(forms.indexOf('kernel-work') >= 0 && forms.indexOf('kernel-work') < forms.indexOf('hand-overs'), forms.join());
  const lock = model.findings.find(({ facts }) => facts.form === 'hand-overs');
  t.is(factsOf(lock, 'hand-overs').shortenedBy, forms.indexOf('kernel-work'));
});

test('threads that meet at a barrier very often: more work between two barriers, not a longer queue', (t) => {
  const remedyAt = (object: string): string => {
    const builder = new Builder({ processors: 2, head: { publisher: 'pthread' } });
    for (let k = 0; k < 100; k++) {
      const [a, b] = k % 2 === 0 ? ['a', 'b'] : ['b', 'a'];
      builder
        .stretch(0.005 * second, [run(a, ['step', 'relax']), wait(b, ['step', object])])
        .stretch(0.005 * second, [inKernel('futex', a, ['step', object, 'wake']), wait(b, ['step', object])]);
    }
    const model = buildModel(builder.object(object, { acquisitions: 4e5, contended: 2e5 }).build());
    const wakeUps = model.findings.find(({ facts }) => facts.form === 'wake-ups');
    return findingSentences(model, wakeUps!, { ascii: true }).remedy;
  };
  t.regex(remedyAt('barrier:row'), /^Let threads meet less often, with more work between two barriers/);
  t.regex(remedyAt('condition:row'), /^Pass on more at a time/);
});

test('a read-write lock is taken for writing where one procedure waits while it holds it', (t) => {
  const writerOf = (by: string): string | undefined => {
    const builder = new Builder({ processors: 4 });
    for (let k = 0; k < 50; k++)
      builder.stretch(0.02 * second, [
        run(`w${k % 2}`, [by, 'rwlock:table', 'find']),
        wait(`w${(k + 1) % 2}`, ['look', 'rwlock:table']),
      ]);
    const { findings, entities } = buildModel(
      builder.object('rwlock:table', { acquisitions: 100, contended: 50 }).build(),
    );
    const lock = findings.find(({ facts }) => facts.form === 'lock');
    const { writer } = factsOf(lock, 'lock');
    return writer === null ? undefined : entities[writer]?.name;
  };
  t.is(writerOf('look'), 'look');
  t.is(writerOf('change'), undefined);
});

test('code that mostly follows the buckets of a hash table: its hash function, or memory', (t) => {
  const lookingUp = (called: string): Model => {
    const threads = ['a', 'b'].map((one) => run(one, ['count', called]));
    const profile = new Builder({ processors: 2 }).stretch(second, threads).build();
    for (const entity of profile.entities) if (entity.name === called) entity.origin = 'runtime';
    return buildModel(profile);
  };
  const model = lookingUp('std::_Hashtable<Cell, int>::_M_find_before_node');
  const [first] = model.findings;
  t.is(factsOf(first, 'optimize').chainsNs, second);
  t.regex(findingSentences(model, first!, { ascii: true }).remedy, /^Look at the hash table/);
  t.is(factsOf(lookingUp('memcmp').findings[0], 'optimize').chainsNs, null);
});
