/**
 * The sampler compared with the exact truth: a program of random phases is recorded many times, with the build of the
 * thread package that traces every change. Intervals must contain the truth as often as they promise, and errors must
 * not be biased.
 */
import test from 'ava';
import { existsSync } from 'node:fs';
import type { Entity } from '../../../ts-frontend/src/model/index.js';
import { root } from '../../support/root.js';
import { openModel, startRecording, temporaryFile } from '../../support/record.js';
import { binomialBound } from './binomial.js';
import { truthOf, truthOfQueue, truthOfRun } from './look-up.js';
import { npt, parallelize, total, type TrueEntity } from './truth.js';

const program = `${root}/build/test/known-answers/oracle/random_phases`;
const processors = 3;
const runs = 40;
const actors = 5; // threads of the program, in addition to main

/** Numbers without an interval of their own, as shares of elapsed time. */
const others: Record<string, [(e: Entity) => number, (e: TrueEntity) => number]> = {
  T: [(e) => e.processorTimeNs, (e) => total(e.byBusyNs)],
  'T self': [(e) => e.processorTimeSelfNs, (e) => total(e.byBusySelfNs)],
  'NPT self': [(e) => e.nptSelfNs, (e) => npt(e.byBusySelfNs)],
  T1: [(e) => e.byBusyNs[0] ?? NaN, (e) => e.byBusyNs[0]!],
  T2: [(e) => 2 * (e.byBusyNs[1] ?? NaN), (e) => e.byBusyNs[1]!],
  T3: [(e) => 3 * (e.byBusyNs[2] ?? NaN), (e) => e.byBusyNs[2]!],
  idleness: [(e) => e.idlenessNs, (e) => e.idlenessNs],
  spinblame: [(e) => e.spinBlameNs, (e) => e.spinBlameNs],
  parallelize: [(e) => e.parallelizeNs, (e) => parallelize(e.byBusyNs)],
  useful: [(e) => e.states.useful.ns, (e) => e.states.useful],
  overhead: [(e) => e.states.overhead.ns, (e) => e.states.overhead],
  spinning: [(e) => e.states.spinning.ns, (e) => e.states.spinning],
  ready: [(e) => e.states.ready.ns, (e) => e.states.ready],
  blocked: [(e) => e.states.blocked.ns, (e) => e.states.blocked],
  io: [(e) => e.states.io.ns, (e) => e.states.io],
  'runnable while useful': [(e) => e.states.useful.meanRunnable * e.states.useful.ns, (e) => e.usefulRunnableNs],
};

/** Errors, as shares of elapsed time, of one number over all runs. */
class Errors {
  private n = 0;
  private sum = 0;
  private squares = 0;
  add(error: number): void {
    this.n++;
    this.sum += error;
    this.squares += error * error;
  }
  /** The mean, and its distance from 0 in standard errors. */
  lean(): { n: number; mean: number; sigmas: number } {
    const mean = this.sum / this.n;
    const variance = Math.max(0, this.squares / this.n - mean * mean);
    return { n: this.n, mean, sigmas: Math.abs(mean) / Math.sqrt(variance / this.n || 1e-18) };
  }
}

test.serial('95 % intervals cover the truth, and errors do not lean', async (t) => {
  t.timeout(600_000); // of one recording: each assertion restarts it
  if (!existsSync(program)) {
    t.fail('build the native parts first');
    return;
  }
  const covered = new Map<string, { hits: number; misses: number }>();
  const errors = new Map<string, Errors>();
  const err = (what: string, error: number): void => {
    let one = errors.get(what);
    if (!one) errors.set(what, (one = new Errors()));
    one.add(error);
  };
  const missShares: number[] = []; // of each run, over all entities
  let skipped = 0;
  let samples = 0;
  for (let seed = 1; seed <= runs; seed++) {
    const stem = temporaryFile('trace');
    const recording = startRecording(program, { processors, args: [String(seed)], env: { QUARTZ_ORACLE: stem } });
    const ended = await recording.ended;
    t.is(ended.status, 0, ended.stderr);
    // The hooks' cost is not subtracted, because the trace contains it, too.
    const model = openModel(recording.file, false);
    const truth = truthOfRun(model, stem);
    const elapsed = model.elapsedNs;
    let looked = 0;
    let missed = 0;
    skipped += model.head.skippedTicks;
    samples += model.samples;
    for (const entity of model.entities) {
      if (entity.members.length > 0) continue; // a group: its members are in the list
      if (entity.kind.startsWith('code-')) continue; // traces contain no loops and lines
      const exact = truthOf(truth, model, entity);
      if (!exact) continue; // known only from its calls
      const name = `${entity.kind} ${entity.name}`;
      const exactNpt = npt(exact.byBusyNs);
      const hit = exactNpt >= entity.ci95.lowNs && exactNpt <= entity.ci95.highNs;
      const count = covered.get(name) ?? { hits: 0, misses: 0 };
      covered.set(name, { hits: count.hits + (hit ? 1 : 0), misses: count.misses + (hit ? 0 : 1) });
      looked++;
      missed += hit ? 0 : 1;
      err(`npt of ${name}`, (entity.nptNs - exactNpt) / elapsed);
      for (const [metric, [estimate, right]] of Object.entries(others)) {
        // for a thread: all of its time, not only the time outside of procedures
        if (entity.thread && metric.endsWith('self')) continue;
        err(`${metric} of ${name}`, (estimate(entity) - right(exact)) / elapsed);
      }
      const queueNs = truthOfQueue(truth, model, entity);
      if (queueNs !== undefined && entity.object) {
        err(
          `mean queue length of ${name}`,
          (entity.object.queueLengthMean * entity.object.queueObservedNs - queueNs) / elapsed,
        );
      }
    }
    for (let b = 0; b <= processors; b++) {
      err(`time with b = ${b}`, ((model.balance.byBusyNs[b] ?? 0) - truth.byBusyNs[b]!) / elapsed);
    }
    missShares.push(missed / looked);
    err('mean of r', model.balance.meanRunnable - truth.runnableNs / elapsed);
  }
  const wrong: string[] = [];
  // Each name by itself: 5 % of misses are promised; more than this many have a probability below one in 100,000.
  for (const [name, { hits, misses }] of covered) {
    const bound = binomialBound(hits + misses, 0.05, 1 - 1e-5);
    if (misses > bound)
      wrong.push(
        `the interval of the NPT of ${name} missed the truth ${misses} times of ${hits + misses}; at most ${bound}`,
      );
  }
  // All together: entities of one run miss together, runs do not. At most 5 %, within four standard errors over runs.
  const meanMiss = missShares.reduce((sum, one) => sum + one, 0) / runs;
  const spread = Math.sqrt(missShares.reduce((sum, one) => sum + (one - meanMiss) ** 2, 0) / (runs - 1) / runs);
  t.log(
    `intervals missed the truth in ${(100 * meanMiss).toFixed(2)} % of all cases, standard error ` +
      `${(100 * spread).toFixed(2)} %`,
  );
  if (meanMiss > 0.05 + 4 * spread)
    wrong.push(`intervals missed the truth in ${(100 * meanMiss).toFixed(1)} % of all cases`);
  t.true(covered.size >= 10);
  t.log(`${samples} snapshots, ${skipped} skipped; ${covered.size} entities, ${errors.size} numbers compared`);
  // Only what every run has seen: what is seen only by chance has been seen too often in these runs.
  // The mean error must be 0 within 5 standard errors, or below one part in 500 of the elapsed time. What happened
  // while the machine kept the sampler from running is unknown: when threads wait for a CPU, so does the sampler.
  for (const [what, one] of errors) {
    const { n, mean, sigmas } = one.lean();
    // A number that counts threads can deviate by all of them at each such instant; runnable threads while useful, by
    // as many for each processor.
    const most = what.startsWith('runnable while')
      ? actors * processors
      : /^(ready|blocked|io|mean)/.test(what)
        ? actors
        : 1;
    const unseen = (skipped / (skipped + samples)) * most;
    // Main begins with the recording, and what happens in its first interval counts for less
    // (docs/reference/metrics.md, section 6): up to half an interval is missing, multiplied by the number of other
    // processors for idleness.
    const begin = / main$/.test(what)
      ? (runs / (skipped + samples) / 2) * (what.startsWith('idleness') ? processors - 1 : 1)
      : 0;
    if (n < runs || sigmas <= 5 || Math.abs(mean) < 0.002 + unseen + begin) continue;
    wrong.push(
      `${what} leans: off by ${(100 * mean).toFixed(3)} % of elapsed time on average, ${sigmas.toFixed(1)} standard ` +
        'errors',
    );
  }
  for (const line of wrong) t.log(line);
  t.is(wrong.length, 0);
});
