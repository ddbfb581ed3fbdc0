/** Waits beside threads that have work but no CPU: by hand, from numbers of threads. */
import test from 'ava';
import { withoutCpu } from '../../../../ts-frontend/src/model/evidence/without-cpu.js';
import type { RawProfile } from '../../../../ts-frontend/src/model/index.js';
import type { Doing } from '../../../support/doing.js';
import { ProfileBuilder, ready, run, wait } from '../../../support/profile-builder.js';

const ms = 1e6;
const call = 'futex(message):MPI_Recv at halo.c:9';
/** A thread that spins in the call, and has lost its CPU. */
const spins = (thread: string): Doing => ({ ...ready(thread, ['main', call]), waiting: true });

function measure(build: (profile: ProfileBuilder) => void): { starvedMs: number; aloneMs: number; besideMs: number } {
  const profile = new ProfileBuilder({ processors: 1 });
  const id = profile.id(call);
  build(profile);
  const raw: RawProfile = profile.build();
  const { starvedNs, shareAt, aloneNs } = withoutCpu(raw, (entity) => entity === id);
  const { tuples, stacks } = raw;
  const besideNs = tuples.ns.reduce(
    (sum, ns, k) => sum + (stacks.entity[tuples.stack[k]!] === id && tuples.waiting[k] ? ns * shareAt(k) : 0),
    0,
  );
  return { starvedMs: starvedNs / ms, aloneMs: (aloneNs.get(id) ?? 0) / ms, besideMs: besideNs / ms };
}

test('a thread that waits for a rank while another one of its process has work, but no CPU', (t) => {
  const found = measure((profile) => {
    profile.stretch(30 * ms, [wait('main', ['main', call]), ready('worker', ['work'])]);
    profile.stretch(20 * ms, [wait('main', ['main', call])]);
  });
  t.deepEqual(found, { starvedMs: 30, aloneMs: 20, besideMs: 30 });
});

test('a thread that spins there and loses its CPU has no work', (t) => {
  const found = measure((profile) => {
    profile.stretch(40 * ms, [spins('main'), wait('worker', ['work', 'barrier:b'])]);
    profile.stretch(10 * ms, [spins('main'), ready('worker', ['work'])]);
  });
  t.deepEqual(found, { starvedMs: 10, aloneMs: 40, besideMs: 10 });
});

test('with one ready thread, whether it spins or has work, is known, though instants are counted together', (t) => {
  const found = measure((profile) => {
    profile.stretch(40 * ms, [spins('main'), wait('worker', ['work', 'barrier:b'])]);
    profile.stretch(60 * ms, [wait('main', ['main', 'region']), ready('worker', ['work'])]);
  });
  t.deepEqual(found, { starvedMs: 60, aloneMs: 40, besideMs: 0 });
});

test('what works is not starved', (t) => {
  const found = measure((profile) => {
    profile.stretch(40 * ms, [run('worker', ['work']), spins('main')]);
    profile.stretch(10 * ms, [wait('main', ['main', call]), run('worker', ['work']), ready('other', ['work'])]);
  });
  t.deepEqual(found, { starvedMs: 0, aloneMs: 0, besideMs: 10 });
});
