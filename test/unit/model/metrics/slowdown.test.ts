/** The slowdown of a run by its recording, computed from counted operations. */
import test from 'ava';
import { buildModel } from '../../../../ts-frontend/src/model/index.js';
import { ProfileBuilder, run, spin } from '../../../support/profile-builder.js';
import { second } from '../../../support/example-profiles.js';

const head = {
  hookLeastPs: 1000,
  hookMostPs: 5000,
  lockLeastPs: 500,
  lockMostPs: 4000,
  waitPs: 100_000,
  spawnPs: 1_000_000,
  spawns: 1000,
  cpus: 2,
  samplerCpuNs: 0.1 * second,
  runningSamples: 1500,
  runningSampleNs: 20_000,
  timerDispatches: 9000,
  timerNs: 2000,
  startUs: 2500,
};
const near = (ns: number, seconds: number): boolean => Math.abs(ns / second - seconds) < 1e-6;

/** What the 2,000 snapshots of the stretches below take beyond the sampler's own time, s. */
const interruptions = 2000 * 10e-6;

function recorded(change: object = {}): ReturnType<typeof buildModel>['slowdown'] {
  const a = ['main', 'a'];
  return buildModel(
    new ProfileBuilder({ processors: 2, head: { ...head, ...change } })
      .stretch(second, [run('w1', a), run('w2', a)])
      .stretch(second, [run('w1', a)])
      .call('main', 'a', 30_000_000)
      .call('a', 'mutex:m', 15_000_000)
      .call('a', 'semaphore:s', 3_000_000)
      .call('a', 'barrier:b', 7)
      .object('mutex:m', { acquisitions: 15_000_000, contended: 300_000 })
      .build(),
  ).slowdown;
}

test('what was counted, times what each costs, spread over the threads that ran', (t) => {
  const { hooksNs, locksNs, waitsNs, spawnsNs, samplesNs, timerNs, samplingNs, startNs, elapsedNs, share, ...least } =
    recorded();
  const each = 2 / 3; // 2 s of elapsed time for 3 s of processor time
  t.true(near(hooksNs, 0.15 * each), String(hooksNs));
  t.true(near(locksNs, 0.072 * each), String(locksNs));
  t.true(near(waitsNs, 0.03 * each), String(waitsNs));
  t.true(near(spawnsNs, 0.001 * each), String(spawnsNs));
  t.true(near(samplesNs, 0.03 * each), String(samplesNs));
  t.true(near(timerNs, 0.018 * each), String(timerNs));
  // half of the time both CPUs were used by others
  t.true(near(samplingNs, (0.1 + interruptions) * 0.5), String(samplingNs));
  t.true(near(least.samplingLeastNs, (0.1 * 0.5) / 2)); // if the other thread did what this one could not
  t.is(elapsedNs, hooksNs + locksNs + waitsNs + spawnsNs + samplesNs + timerNs + samplingNs + startNs);
  t.is(startNs, 2_500_000);
  // The start is not part of the 2 s that the report covers.
  t.is(share, elapsedNs / (2 * second + startNs - elapsedNs));
  t.true(near(least.hooksLeastNs, 0.03 * each), String(least.hooksLeastNs));
  t.true(near(least.locksLeastNs, 0.009 * each), String(least.locksLeastNs));
  t.true(
    near(
      least.elapsedLeastNs,
      (elapsedNs - hooksNs - locksNs - samplingNs + least.hooksLeastNs + least.locksLeastNs + least.samplingLeastNs) /
        second,
    ),
  );
  t.is(least.shareLeast, least.elapsedLeastNs / (2 * second + startNs - least.elapsedLeastNs));
});

test('snapshots that took the CPU from a thread although another one was idle', (t) => {
  const switches = (involuntarySwitches: number): object => ({ switchesKnown: true, involuntarySwitches });
  const atMost = (count: number): number => recorded(switches(count)).samplingNs;
  t.true(near(atMost(0), (0.1 + interruptions) * 0.5)); // half of the time no CPU was idle
  t.true(near(atMost(1000), (0.1 + interruptions) * 0.5)); // of 2,000 snapshots
  t.true(near(atMost(1500), (0.1 + interruptions) * 0.75));
  t.true(near(atMost(90_000), 0.1 + interruptions));
  t.is(recorded(switches(90_000)).samplingLeastNs, recorded().samplingLeastNs);
});

test('parallel regions: what they took of the threads that began them, alone or beside others', (t) => {
  const raw = new ProfileBuilder({ processors: 2, head: { publisher: 'pthread' } as object })
    .stretch(second, [run('w1', ['main', 'a']), run('w2', ['main', 'a'])])
    .build();
  const { regionsNs, regionsLeastNs, tasksNs, tasksLeastNs, elapsedNs, elapsedLeastNs } = buildModel({
    ...raw,
    cpuLimits: {
      ...raw.cpuLimits,
      roundsNs: Float64Array.of(0.1 * second),
      tasksNs: Float64Array.of(0.2 * second),
    },
  }).slowdown;
  t.true(near(regionsNs, 0.1) && near(regionsLeastNs, 0.05));
  t.true(near(tasksNs, 0.2) && near(tasksLeastNs, 0.1));
  t.true(elapsedNs > 0.3 * second && elapsedLeastNs >= 0.15 * second);
  const none = buildModel(raw).slowdown;
  t.is(none.regionsNs, 0);
});

test('where others have the CPUs none is free for the sampler, and what each snapshot delays is not known', (t) => {
  const shared = (waitS: number): ReturnType<typeof recorded> =>
    recorded({ cpuRunNs: 3 * second, cpuWaitNs: waitS * second, cpuDispatches: 0 });
  const [quiet, some, most] = [shared(0), shared(0.3), shared(3)];
  t.deepEqual(
    [quiet, some, most].map(({ othersMayChange }) => othersMayChange),
    [false, false, true],
  );
  t.true(near(quiet.samplingNs, (0.1 + interruptions) / 2) && near(quiet.samplingLeastNs, 0.025));
  for (const one of [some, most]) {
    t.true(near(one.samplingNs, 0.1 + interruptions)); // all that the sampler took
    t.true(near(one.samplingLeastNs, 0.025));
  }
});

test('what happened, and could not be measured, is reported as such, not as nothing', (t) => {
  t.deepEqual(recorded().unmeasured, []);
  const none = recorded({ hookLeastPs: 0, hookMostPs: 0, lockLeastPs: 0, lockMostPs: 0, spawnPs: 0 });
  t.deepEqual(none.unmeasured, ['hooks', 'locks', 'threads made']);
  t.deepEqual(
    recorded({ hookLeastPs: 0, lockLeastPs: 0, spawnPs: 0, spawns: 0 }).unmeasured,
    [],
    'next to nothing, at least',
  );
});

test('kernel threads that wait for each other all the time: what delays one may delay all, and more', (t) => {
  const [apart, often] = [recorded(), recorded({ publisher: 'pthread' })]; // a wait each 10 us of processor time
  t.false(apart.waitsMayChange);
  t.true(often.waitsMayChange);
  t.true(near(often.waitsNs, 0.03) && near(often.waitsLeastNs, 0.02) && near(often.locksNs, 0.072));
  t.is(often.elapsedLeastNs, apart.elapsedLeastNs);
  const seldom = { publisher: 'pthread', waitPs: 100_000 };
  t.false(
    buildModel(
      new ProfileBuilder({ processors: 2, head: { ...head, ...seldom } as object })
        .stretch(second, [run('w1', ['main', 'a'])])
        .object('mutex:m', { acquisitions: 4000, contended: 4000 })
        .build(),
    ).slowdown.waitsMayChange,
  );
});

test('threads that spin for each other: what delays one of them delays all', (t) => {
  const team = (part: number): boolean =>
    buildModel(
      new ProfileBuilder({ processors: 2, head: { ...head, publisher: 'pthread', waitPs: 0 } as object })
        .stretch(part * second, [run('w1', ['main', 'a']), spin('w2', ['main', 'loop:end'])])
        .stretch((1 - part) * second, [run('w1', ['main', 'a']), run('w2', ['main', 'a'])])
        .build(),
    ).slowdown.waitsMayChange;
  t.true(team(0.4));
  t.false(team(0.05));
});

/** Two threads for a second, for `part` of it in the kernel's or the layer's code of that kind. */
function working(
  change: object,
  kernel: 'futex' | 'lock',
  part: number,
  acquisitions = 0,
): ReturnType<typeof recorded> {
  const at = (kind: typeof kernel | undefined): ReturnType<typeof run>[] =>
    ['w1', 'w2'].map((thread) => ({ ...run(thread, ['main', 'a']), ...(kind ? { kernel: kind } : {}) }));
  const { slowdown } = buildModel(
    new ProfileBuilder({ processors: 2, head: { ...head, publisher: 'pthread', ...change } as object })
      .stretch(part * second, at(kernel))
      .stretch((1 - part) * second, at(undefined))
      .call('a', 'rwlock:l', acquisitions)
      .object('rwlock:l', { acquisitions, contended: 0 })
      .build(),
  );
  return slowdown;
}

test('waits that only the kernel knows of are its switches, where threads are in futex calls', (t) => {
  const often = { switchesKnown: true, voluntarySwitches: 20_000 };
  t.true(working(often, 'futex', 0.1).waitsMayChange);
  t.false(working(often, 'futex', 0.02).waitsMayChange, 'they sleep for something else');
  t.false(working({ ...often, voluntarySwitches: 2000 }, 'futex', 0.1).waitsMayChange);
  t.false(working({ ...often, switchesKnown: false }, 'futex', 0.1).waitsMayChange);
});

test('locks that take longer than free ones: their cache lines move, and recording changes how often', (t) => {
  const free = { freeLockPs: 12_000, lockMostPs: 8000 }; // 32 ns for one that is twice as long, recorded
  const moving = working(free, 'lock', 0.5, 10_000_000); // 100 ns each, 5 times as long
  t.true(moving.linesMayMove);
  t.is(Math.round(moving.locksNs / 1e6), 5 * 40, 'each of 8 ns may delay by 5 times that, on 2 processors');
  const still = working(free, 'lock', 0.5, 40_000_000);
  t.false(still.linesMayMove, 'each takes as long as it does alone');
  t.is(Math.round(still.locksNs / 1e6), 160);
  t.false(working(free, 'lock', 0.05, 1_000_000).linesMayMove, 'hardly any time in locks');
  t.false(working({ ...free, freeLockPs: 0 }, 'lock', 0.5, 10_000_000).linesMayMove, 'not measured');
});

test('a sampler with a CPU of its own takes none from the program', (t) => {
  t.is(recorded({ samplerSpins: true }).samplingNs, 0);
});
