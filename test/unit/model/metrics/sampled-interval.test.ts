/** Confidence intervals of code that samples of running threads show (docs/reference/model.md). */
import test from 'ava';
import { sampledNptInterval, type Sampled } from '../../../../ts-frontend/src/model/metrics/confidence.js';

/** One thread runs at a time, for 1000 ns in all; `ns` of them are charged to the code. */
const of = (ns: number, unsampled: number, samples: number): Sampled => ({
  npt: ns,
  rawNpt: ns,
  byBusy: Float64Array.of(ns),
  wholeTime: 1000,
  wholeNpt: 1000,
  elapsed: 5000,
  snapshots: 5000,
  samples,
  unsampled,
  tolerance: 0,
});

test('what threads did before their first samples may have been the same as later', (t) => {
  const all = sampledNptInterval(of(300, 0, 100)),
    half = sampledNptInterval(of(300, 500, 100));
  t.is(half.lowNs, all.lowNs);
  t.true(all.highNs > 300 && all.highNs < 450, String(all.highNs));
  t.true(Math.abs(half.highNs - 2 * all.highNs) < 1e-6, String(half.highNs));
});

test('nothing takes more than the whole', (t) => {
  t.is(sampledNptInterval(of(300, 900, 100)).highNs, 1000);
  t.is(sampledNptInterval(of(300, 1000, 100)).highNs, 1000);
  t.is(sampledNptInterval(of(0, 1000, 100)).highNs, 1000);
});

test('code that no sample shows: the more samples, the less it may have run', (t) => {
  const few = sampledNptInterval(of(0, 0, 10)),
    many = sampledNptInterval(of(0, 0, 1000));
  t.deepEqual([few.lowNs, many.lowNs], [0, 0]);
  t.true(few.highNs > 100 && few.highNs < 400, String(few.highNs));
  t.true(many.highNs < 10, String(many.highNs));
});

/** Numbers in [0, 1), always the same ones. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; state = (state * 48271) % 2147483647) yield state / 2147483647;
}

test('threads with one or two samples each: 95 % of the intervals contain the truth', (t) => {
  const random = numbers(4711),
    next = (): number => random.next().value,
    threads = 10,
    each = 100,
    runs = 2000;
  for (const [samples, share] of [
    [15, 0.5],
    [15, 0.1],
    [30, 0.3],
  ] as const) {
    let covered = 0;
    for (let run = 0; run < runs; run++) {
      const at = Array.from({ length: samples }, () => next() * threads * each).sort((a, b) => a - b);
      let ns = 0;
      for (let thread = 0; thread < threads; thread++) {
        // From each sample to the thread's next one it is taken to be where it was.
        const its = at.filter((when) => Math.floor(when / each) === thread);
        for (const [k, when] of its.entries()) if (next() < share) ns += (its[k + 1] ?? (thread + 1) * each) - when;
      }
      const unsampled = threads * Math.min(each, (threads * each) / samples);
      const { lowNs, highNs } = sampledNptInterval(of(ns, unsampled, samples));
      if (lowNs <= share * threads * each && highNs >= share * threads * each) covered++;
    }
    t.true(covered >= 0.95 * runs, `${samples} samples, ${share} of the time: ${covered} of ${runs}`);
  }
});
