/**
 * Known work and span: the parallelism of programs whose work is counted. Waits for CPUs are in neither, so that a busy
 * machine gives the same results.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import {
  checkInvariants,
  item,
  timePathOf,
  workSpanOf,
  type Model,
  type WorkSpan,
} from '../../ts-frontend/src/model/index.js';
import { needing, openmpProgram } from '../support/capabilities.js';
import { record } from '../support/record.js';
import { quartz } from '../support/run-quartz.js';
import { root } from '../support/root.js';

const program = join(root, 'build/test/known-answers/path-programs/span_package');
const pthreads = join(root, 'build/test/known-answers/path-programs/span_pthread');

const lineOfSpawn =
  readFileSync(join(root, 'test/known-answers/path-programs/span.c'), 'utf8')
    .split('\n')
    .findIndex((line) => line.includes('qz_spawn(&scope, tree')) + 1;

interface Measured {
  model: Model;
  span: WorkSpan;
  file: string;
  stdout: string;
}
async function measure(t: ExecutionContext, args: string, processors: number, binary = program): Promise<Measured> {
  const { model, file, status, stdout, stderr } = await record(binary, { args: [args], processors, span: true });
  t.is(status, 0, stderr);
  const span = workSpanOf(model);
  if (span === null) throw new Error('no work and span were recorded');
  t.deepEqual(checkInvariants(model), []);
  return { model, span, file, stdout };
}

// Of 1,000 and 250 units, and so on: see the program. Other ways to pass on a chain: oracle/chains.test.ts.
const cases = [
  { name: 'a serial part, and 16 that are parallel', args: 'amdahl', parallelism: 1000 / 250 },
  { name: 'a tree of spawned calls', args: 'tree', parallelism: (63 * 20 + 31 * 10) / (6 * 20 + 5 * 10) },
  { name: 'a pipeline by channels', args: 'pipeline', parallelism: 5 / 3 },
  { name: 'a barrier at which one is always late', args: 'barrier', parallelism: 10 / 8 },
  { name: 'threads that take turns by a condition', args: 'turns', parallelism: 1 },
  { name: 'threads that yield, one of which goes on alone', args: 'yields', parallelism: 700 / 400 },
];
/**
 * The same unit takes more or less time from one moment to the next if threads share a core, and the longest chain is
 * the one that was disturbed most. The package's programs measure that, and print their work and span in processor
 * time; of others only large differences are checked.
 */
function due(stdout: string, counted: number): { parallelism: number; low: number; high: number } {
  const measured = linesOf(stdout)[1];
  if (measured) return { parallelism: measured[0] / measured[1], low: 0.85, high: 1.05 };
  return { parallelism: counted, low: 0.35, high: 1.5 };
}
type Line = readonly [number, number];
/** Work and span in units, the same in ns, and what else the case says. */
const linesOf = (stdout: string): Line[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number) as unknown as Line);

function checkCase(t: ExecutionContext, { span, file, stdout }: Measured, counted: number): void {
  const { parallelism, low, high } = due(stdout, counted);
  // Disturbances make the span longer, so that nothing can be less parallel than its typical span says.
  const typical = span.workNs / (span.typicalSpanNs ?? span.spanNs);
  const is = `${span.parallelism.toFixed(3)}, typically ${typical.toFixed(3)}`;
  const text = `${is}, not ${parallelism.toFixed(3)}; by units ${counted.toFixed(3)} (${file})`;
  t.true(span.parallelism <= parallelism * high, text);
  t.true(typical >= parallelism * low, text);
}
for (const { name, args, parallelism } of cases) {
  for (const processors of [1, 2])
    test.serial(`parallelism of ${name}, on ${processors}`, async (t) => {
      const measured = await measure(t, args, processors);
      t.regex(measured.stdout, /^(\d+ \d+\n){2,3}$/);
      checkCase(t, measured, parallelism);
    });
  if (['amdahl', 'barrier'].includes(args))
    test.serial(`plain pthreads: parallelism of ${name}`, async (t) => {
      checkCase(t, await measure(t, args, 0, pthreads), parallelism);
    });
}

// OpenMP, whose threads wait for regions in ways that the layer does not see: GCC's calls are intercepted, LLVM's
// library reports them.
for (const compiler of ['', '-clang'] as const) {
  const openmp = join(root, `build/test/known-answers/path-programs/span_openmp${compiler}`);
  const there = needing(openmpProgram(join(root, 'build/test/known-answers/path-programs/span_openmp'), compiler));
  for (const { name, args, parallelism } of [
    { name: 'a loop', args: 'loop', parallelism: 1000 / 400 },
    { name: 'many short regions', args: 'often', parallelism: 25 / 15 },
    { name: 'barriers in a region', args: 'barrier', parallelism: 10 / 8 },
    { name: 'sections', args: 'sections', parallelism: 500 / 400 },
    { name: 'regions in a region', args: 'nested', parallelism: 400 / 200 },
  ])
    there(`OpenMP${compiler}: parallelism of ${name}`, async (t) => {
      const measured = await measure(t, args, 0, openmp);
      checkCase(t, measured, parallelism);
      t.false(measured.span.unseenOrder.regions);
      // Nothing is inferred if each thread's events are known.
      const path = timePathOf(measured.model);
      if (args === 'sections')
        t.true((path?.inferredNs ?? NaN) < 0.3 * (path?.lengthNs ?? 0), `${path?.inferredNs} of ${path?.lengthNs} ns`);
    });

  there(`OpenMP${compiler}: tasks that are executed at a barrier are work`, async (t) => {
    const { model, span } = await measure(t, 'tasks', 0, openmp);
    t.true(span.unendedNs < 0.1 * model.cpuWait.runNs, `${span.unendedNs} of ${model.cpuWait.runNs} ns`);
    t.true(span.parallelism > 0.7 * (440 / 130) && span.parallelism < 1.1 * (440 / 130), `${span.parallelism}`);
    t.true(span.prediction.length > 0);
  });
}

for (const processors of [1, 2])
  test.serial(
    `one lock that is held 95 % of the time is named, whether anybody waited or not, on ${processors}`,
    async (t) => {
      const { model, span, file } = await measure(t, 'convoy', processors);
      const [lock] = span.locks;
      t.is(lock && item(model.entities, lock.entity).name, 'lock');
      t.true((lock?.holdNs ?? 0) > 0.7 * span.workNs && (lock?.holdNs ?? 0) < 1.1 * span.workNs);
      t.true((span.prediction.at(-1)?.ns ?? 0) > 0.7 * span.workNs, 'no number of processors makes it much shorter');
      t.is(span.scaling[0]?.form, 'lock-limits');
      if (processors === 1)
        t.false(
          span.scaling.some(({ form }) => form === 'span-limits'),
          'nobody waited',
        );
      const { stdout } = await quartz(['path', '--span', '--width', '400', file]);
      t.regex(stdout, /One lock limits it: lock is held for .* in all/);
    },
  );

test.serial('a lock is not held for the time that its holder waits for a processor', async (t) => {
  const { span, file } = await measure(t, 'handed', 2);
  const is = (span.locks[0]?.holdNs ?? 0) / span.workNs;
  t.true(is > 0.6 * (10 / 40) && is < 1.4 * (10 / 40), `${is}, not ${10 / 40} (${file})`);
});

test.serial('plain pthreads: how long locks are held, by the work that is done there', async (t) => {
  const { model, span, file } = await measure(t, 'locks', 0, pthreads);
  const counted = { longer: 24 / 40, inner: 8 / 40, shorter: 4 / 40 };
  for (const [name, share] of Object.entries(counted)) {
    const lock = span.locks.find(({ entity }) => item(model.entities, entity).name === name);
    const is = (lock?.holdNs ?? 0) / span.workNs;
    // Some of the short holds are measured, and contain the cost of publishing.
    const [low, high] = name === 'shorter' ? [0.8, 1.4] : [0.9, 1.1];
    t.true(is > low * share && is < high * share, `${name}: ${is}, not ${share} (${file})`);
  }
});

for (const args of ['sleep', 'io'])
  test.serial(`${args}: time that passes is on the span, and no work`, async (t) => {
    const { span } = await measure(t, args, 2);
    t.true(span.spanNs >= 198e6, `${span.spanNs / 1e6} ms`);
    t.true(span.workNs < 0.5 * span.spanNs, `${span.workNs / 1e6} ms`);
  });

for (const args of ['late-sleep', 'late-wait', 'late-io'])
  test.serial(`${args}: who is ready waits for the only processor, which is not on the span`, async (t) => {
    const { span, stdout, file } = await measure(t, args, 1);
    const [, [work, length]] = linesOf(stdout) as [Line, Line];
    const is = `span ${span.spanNs / 1e6} ms, not ${length / 1e6}; work ${span.workNs / 1e6}, ${work / 1e6} (${file})`;
    t.true(span.spanNs > 0.95 * length && span.spanNs < 1.05 * length + 2e6, is);
    t.true(span.workNs > 0.95 * work && span.workNs < 1.05 * work + 2e6, is);
  });

test.serial('a blocking region that no snapshot saw is exact, and no invariant is broken', async (t) => {
  const { model, stderr } = await record(program, { args: ['late-io'], processors: 1, span: true, rateHz: 10 });
  const asleepNs = model.raw.cpuLimits.asleepNs[0] ?? 0;
  t.true(asleepNs > 29e6, `${asleepNs} ns; ${stderr}`);
});

test.serial('sites: what was spawned there, its work and span, and calls that are within no other', async (t) => {
  const { model, span, stdout } = await measure(t, 'tree', 1);
  const [site] = span.sites;
  t.is(span.sites.length, 1);
  t.is(site && item(model.entities, site.start).name, 'tree');
  t.is(site?.count, 31, 'one at each of 1 + 2 + ... + 16 inner nodes');
  t.is(site?.topCount, 5, 'those of main, and of what it called itself');
  // Below the root: a spawned tree of depth 4, and of 3, 2, 1, 0 on the way that is called.
  const [work, length] = linesOf(stdout)[2]!;
  const is = (site?.topWorkNs ?? 0) / Math.max(1, site?.topSpanNs ?? 0);
  t.true(is > (0.85 * work) / length && is < (1.05 * work) / length, `${is}, not ${work / length}`);
});

test.serial('predictions lie between what no schedule beats and what every greedy one does', async (t) => {
  const { span, stdout } = await measure(t, 'amdahl', 1);
  t.is(span.prediction[0]?.processors, 1);
  t.is(span.prediction.at(-1)?.processors, 1024);
  for (const { processors, ns, lowNs, highNs } of span.prediction) {
    t.true(lowNs <= ns && ns <= highNs, `${processors}: ${lowNs} ${ns} ${highNs}`);
    t.true(lowNs >= span.workNs / processors - 1);
  }
  // 200 alone, and 800 in 16 equal parts: 200 + 800 / P.
  const [, [work, length], [alone]] = linesOf(stdout) as [Line, Line, Line];
  for (const P of [2, 4, 8, 16]) {
    const is = (span.prediction.find(({ processors }) => processors === P)?.ns ?? 0) / span.workNs;
    const due = Math.max(length, alone + (work - alone) / P) / work;
    t.true(Math.abs(is - due) < 0.05, `${P}: ${is}, not ${due}`);
  }
});

test.serial('quartz path --span shows it as text, CSV and JSON; without --span it says how to record it', async (t) => {
  const { file } = await measure(t, 'tree', 2);
  const text = await quartz(['path', '--span', file]);
  t.is(text.status, 0, text.stderr);
  t.regex(text.stdout, /^Work .*, span .*: parallelism [0-9.]+; it took .* on 2 processors/);
  t.regex(text.stdout, /On other numbers of processors/);
  t.regex(text.stdout, /What is on the span/);
  t.regex(text.stdout, /What was spawned or created[\s\S]* tree /);
  const csv = (await quartz(['path', '--span', '--csv', file])).stdout.split('\r\n');
  t.is(csv[0], 'processors,ns,low_ns,high_ns');
  const heads = {
    entities: 'kind,name,file,line,on_span_ns,low_ns,high_ns,on_span_self_ns,work_ns',
    sites: 'start,caller,line,count,work_ns,span_ns,top_count,top_work_ns,top_span_ns,on_span_ns,on_span_self_ns',
    locks: 'name,hold_ns',
    slack: 'caller,line,merges,threads,lost,slack_ns,mean_slack_ns,least_slack_ns',
  };
  for (const [name, head] of Object.entries(heads)) {
    const { stdout } = await quartz(['path', '--span', '--csv', '--table', name, file]);
    t.is(stdout.split('\r\n')[0], head, name);
  }
  const wrong = await quartz(['path', '--span', '--csv', '--table', 'site', file]);
  t.regex(wrong.stderr, /there is no table "site"; did you mean "?sites/);
  const json = JSON.parse((await quartz(['path', '--json', file])).stdout) as {
    workNs: number;
    spanNs: number;
    parallelism: number;
    entities: { workNs: number }[];
    sites: { start: string; topCount: number; line: number }[];
    prediction: { processors: number }[];
  };
  t.is(json.parallelism, json.workNs / json.spanNs);
  t.true(json.entities.every(({ workNs }) => workNs <= json.workNs + 1));
  t.is(json.sites[0]?.start, 'tree');
  t.is(json.sites[0]?.line, lineOfSpawn, 'where it is spawned');
  t.is(json.prediction[0]?.processors, 1);

  const { file: plain } = await record(program, { args: ['join'], processors: 1 });
  const refused = await quartz(['path', '--span', plain]);
  t.not(refused.status, 0);
  t.regex(refused.stderr, /work and span were not recorded.*quartz record --span/s);
});
