/**
 * Plain pthread programs compared with the kernel's own count: threads that work in bursts print for how long, by their
 * CPU clocks. The profile's intervals for each procedure must contain that as often as they promise, and the processor
 * time of the whole must be the process's.
 */
import test from 'ava';
import { spawn } from 'node:child_process';
import { independentSnapshots, shareInterval, type Model } from '../../../ts-frontend/src/model/index.js';
import { root } from '../../support/root.js';
import { record } from '../../support/record.js';
import { binomialBound } from './binomial.js';

const program = `${root}/build/test/end-to-end/pthread-layer/bursts`;
const runs = 3; // of each

interface Bursts {
  threads: number;
  burstUs: number;
  napUs: number;
  rhythm?: true;
  seconds?: number;
  /** Not beside busy loops: others show there what the length of its bursts or the number of its threads could. */
  aloneOnly?: true;
}
const cases: Bursts[] = [
  { threads: 1, burstUs: 10, napUs: 100 },
  { threads: 1, burstUs: 5000, napUs: 5000, aloneOnly: true },
  { threads: 1, burstUs: 600, napUs: 1500, rhythm: true },
  { threads: 3, burstUs: 600, napUs: 1500, rhythm: true, aloneOnly: true },
  { threads: 2, burstUs: 20, napUs: 0 },
  { threads: 4, burstUs: 200, napUs: 1000, aloneOnly: true },
  { threads: 4, burstUs: 10_000, napUs: 10_000 },
  { threads: 8, burstUs: 50, napUs: 500 },
  { threads: 16, burstUs: 3000, napUs: 5000, aloneOnly: true },
  { threads: 32, burstUs: 20, napUs: 2000 },
  { threads: 32, burstUs: 1000, napUs: 10_000 },
  { threads: 16, burstUs: 3000, napUs: 5000, seconds: 0.2 },
  { threads: 32, burstUs: 20, napUs: 2000, seconds: 0.2, aloneOnly: true },
];

/** The program's output: ns by name. */
const truthOf = (stdout: string): Map<string, number> =>
  new Map(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' '))
      .map(([name, ns]) => [name!, Number(ns)]),
  );

interface Compared {
  looked: number;
  missed: number;
  squares: number; // of errors, in standard errors of their intervals
  lines: string[];
  missedOf: Map<string, number>;
} // of each case and procedure

function compare(model: Model, truth: Map<string, number>, one: string, run: number, all: Compared): void {
  const what = `${one}, run ${run}`;
  for (const name of ['inside', 'outside']) {
    const entity = model.entities.find((each) => each.kind === 'procedure' && each.name === name);
    const exact = truth.get(name)!,
      its = `${one}, ${name}`;
    // The interval is that of the NPT; multiplied by the parallelism it is that of the processor time. What no sample
    // shows has the interval of no time.
    const scale = entity && entity.nptNs > 0 ? entity.processorTimeNs / entity.nptNs : 1;
    const unseen = shareInterval(0, independentSnapshots(model.head)).high * model.elapsedNs;
    const ci95 = entity?.ci95 ?? { lowNs: 0, highNs: unseen };
    all.looked++;
    if (entity) {
      const half = ((entity.ci95.highNs - entity.ci95.lowNs) / 2) * scale;
      all.squares += ((1.96 * (entity.processorTimeNs - exact)) / half) ** 2;
    }
    if (exact >= ci95.lowNs * scale && exact <= ci95.highNs * scale) continue;
    all.missed++;
    all.missedOf.set(its, (all.missedOf.get(its) ?? 0) + 1);
    all.lines.push(
      `${what}: ${name} ${exact / 1e6} ms, reported ${(entity?.processorTimeNs ?? 0) / 1e6} ` +
        `[${(ci95.lowNs * scale) / 1e6}, ${(ci95.highNs * scale) / 1e6}]`,
    );
  }
}

/**
 * By how much the whole may be off (metrics.md, section 6): what one snapshot stands for, on each CPU; where other
 * programs had the CPUs, half a tick as well, and what ran after the last snapshot, whose interval may be incomplete.
 * What a hypervisor took is in the clocks of threads, but not in what the kernel says they used: the sampler was late
 * by as much, at instants that are not those of the program.
 */
function uncounted({ processors, elapsedNs, samples, cpuWait, head }: Model): number {
  const intervalNs = elapsedNs / samples,
    stolenNs = head.usageKnown ? Math.max(0, head.cpuRunNs - head.usageNs) : 0;
  return processors * (cpuWait.othersNs < 0.2 * cpuWait.runNs ? intervalNs : 2 * intervalNs + 2e6) + 0.15 * stolenNs;
}

for (const loaded of [false, true]) {
  test.serial(`bursts of 10 us to 10 ms, ${loaded ? 'beside four busy loops' : 'alone'}`, async (t) => {
    t.timeout(900_000);
    const all: Compared = { looked: 0, missed: 0, squares: 0, lines: [], missedOf: new Map() };
    const beside = loaded
      ? Array.from({ length: 4 }, () => spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' }))
      : [];
    try {
      for (const { threads, burstUs, napUs, rhythm, seconds = 0.5 } of cases.filter(
        (one) => !loaded || !one.aloneOnly,
      )) {
        for (let run = 1; run <= runs; run++) {
          const one = `${threads} threads, ${burstUs} us of work, ${napUs} us of sleep, ${seconds} s`,
            what = `${one}, run ${run}`;
          const { model, stdout, stderr } = await record(program, {
            args: [String(seconds), String(threads), String(burstUs), String(napUs), rhythm ? '0' : String(run)],
            rateHz: 0,
          });
          const truth = truthOf(stdout);
          const process = truth.get('process')!;
          const reported = model.root.processorTimeNs + model.root.states.spinning.ns;
          t.true(
            Math.abs(reported - process) <= Math.max(0.02 * process, uncounted(model)),
            `${what}: ${reported / 1e6} ms reported, ${process / 1e6} ms by the process's clock\n${stderr}`,
          );
          if (model.raw.head.paths.running) compare(model, truth, one, run, all);
        }
      }
    } finally {
      for (const one of beside) one.kill('SIGKILL');
    }
    for (const line of all.lines) t.log(line);
    const bound = binomialBound(all.looked, 0.05, 1 - 1e-5);
    t.log(`${all.missed} of ${all.looked} intervals missed the truth`);
    t.true(all.missed <= bound, `${all.missed} of ${all.looked} intervals missed the truth; at most ${bound} may`);
    // No wider than necessary: the errors are as large as the intervals say. Five standard errors of the two thirds to
    // one and a fifth that were measured: inside and outside of a run deviate together, so there are half as many
    // independent values. Beside load there are fewer samples, and most intervals have their least width.
    const deviation = Math.sqrt(all.squares / Math.max(1, all.looked));
    t.log(`errors are ${deviation.toFixed(2)} of what the intervals say`);
    if (all.looked > 0)
      t.true(deviation > (loaded ? 0.4 : 0.6) && deviation < 1.7, `errors are ${deviation} of what the intervals say`);
    for (const [which, missed] of all.missedOf)
      t.true(missed < runs, `${which}: missed in each of ${runs} runs, which is no chance`);
  });
}
