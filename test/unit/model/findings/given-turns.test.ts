/**
 * Threads that run one at a time without a lock: they meet at a barrier, or another thread gives them one piece of work
 * after the other.
 */
import test from 'ava';
import { buildModel } from '../../../../ts-frontend/src/model/build-model.js';
import type { Model } from '../../../../ts-frontend/src/model/index.js';
import { ProfileBuilder as Builder, run, wait } from '../../../support/profile-builder.js';

const second = 1e9;

/**
 * Four threads work one at a time, and wait at `at` in the middle of their work; main waits at `mains`. `ofFirst`: the
 * share of all work that the first thread has.
 */
function turns(at: string, mains: string, waits: { theirs: number; mains: number }, ofFirst = 1 / 4): Model {
  const builder = new Builder({ processors: 2 });
  for (let k = 0; k < 100; k++) {
    const others = [0, 1, 2, 3].filter((one) => one !== k % 4).map((one) => `w${one}`);
    const where = k === 0 ? 'begin' : 'evaluate';
    const doing = [wait('main', ['main', mains]), ...others.map((one) => wait(one, ['start', where, at]))];
    const ns = 0.2 * second * (k % 4 === 0 ? ofFirst : (1 - ofFirst) / 3);
    builder
      .stretch(0.4 * ns, [run(`w${k % 4}`, ['start', 'evaluate']), ...doing])
      .stretch(0.6 * ns, [run(`w${k % 4}`, ['start', 'evaluate', 'add']), ...doing]);
  }
  builder.object(at, { contended: waits.theirs }).object(mains, { contended: waits.mains });
  return buildModel(builder.build());
}
const excluded = ({ findings }: Model): boolean =>
  findings.some(({ facts }) => facts.form === 'lock' && facts.exclusion !== null);

test('another thread that waits as often, for their results, gives them turns: no lock', (t) => {
  t.true(excluded(turns('condition:turn', 'join:w0', { theirs: 100, mains: 1 })));
  t.true(excluded(turns('condition:turn', 'condition:done', { theirs: 100, mains: 10 })), 'it waits seldom');
  t.false(excluded(turns('condition:turn', 'condition:done', { theirs: 100, mains: 100 })));
});

test('threads that meet at a barrier do not exclude each other, whichever library has the barrier', (t) => {
  t.true(excluded(turns('futex:turn at a.cc:9', 'join:w0', { theirs: 100, mains: 1 })));
  t.false(
    excluded(turns('futex(barrier):std::barrier::arrive_and_wait at a.cc:9', 'join:w0', { theirs: 100, mains: 1 })),
  );
});

/**
 * Rounds of three threads: each sweeps a band, then one completes the round while the others wait at a barrier; for
 * `lag` of the time of that it is seen while another one still seems to sweep. `most`: the share of these rounds that
 * one thread completes.
 */
function rounds({ lag = 0.2, most = 1 / 3 } = {}): Model {
  const barrier = 'futex(barrier):std::barrier::arrive_and_wait at a.cc:9';
  const builder = new Builder({ processors: 2, head: { publisher: 'pthread' } });
  const sweeps = (name: string): ReturnType<typeof run> => run(name, ['start', 'round', 'sweep']);
  const waits = (name: string): ReturnType<typeof wait> => wait(name, ['start', 'round', barrier]);
  for (let k = 0; k < 90; k++) {
    const last = k < 90 * most ? 0 : most === 1 / 3 ? Math.floor(k / 30) : 1 + (k % 2);
    const [a, b, c] = [last, (last + 1) % 3, (last + 2) % 3].map((one) => `w${one}`) as [string, string, string];
    const completes = run(a, ['start', 'round', 'complete']);
    builder
      .stretch(0.01 * second, [sweeps(a), sweeps(b), waits(c)])
      .stretch(0.01 * second * lag, [completes, sweeps(b), waits(c)])
      .stretch(0.01 * second * (1 - lag), [completes, waits(b), waits(c)]);
  }
  return buildModel(builder.object(barrier, { contended: 180, acquisitions: 180 }).build());
}
const serials = ({ findings }: Model): string[] =>
  findings.filter(({ kind }) => kind === 'serial').map(({ name }) => name);

test('what the last thread to come to a barrier runs for all is serial code, whoever is last', (t) => {
  t.deepEqual(serials(rounds()), ['complete']);
  t.deepEqual(serials(rounds({ lag: 0 })), ['complete']);
  t.deepEqual(serials(rounds({ lag: 0.6 })), [], 'others work beside it');
  t.deepEqual(serials(rounds({ most: 0.8 })), [], 'one thread may have more to do');
});

test('threads in turn, one of which has most of the work: that remains if they no longer wait', (t) => {
  const saved = (ofFirst: number): number => {
    const model = turns('condition:turn', 'join:w0', { theirs: 100, mains: 1 }, ofFirst);
    t.true(excluded(model));
    return model.findings.find(({ facts }) => facts.form === 'lock')!.savingNs / model.elapsedNs;
  };
  t.true(Math.abs(saved(0.25) - 0.5) < 0.02, `${saved(0.25)}`);
  t.true(Math.abs(saved(0.7) - 0.3) < 0.02, `${saved(0.7)}`);
});
