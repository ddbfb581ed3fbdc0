/**
 * Work and span of programs that add up both themselves, from the processor time of each strand and in counted units,
 * and print them (path-programs/shapes.c): random graphs, and each way for a strand to begin or to end. A unit may take
 * twice as long from one moment to the next, so Quartz is compared with the times of the same run, whatever else the
 * machine does.
 */
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { workSpanOf, type Model, type WorkSpan } from '../../ts-frontend/src/model/index.js';
import { record } from '../support/record.js';
import { root } from '../support/root.js';
import { skip } from '../support/capabilities.js';

const program = join(root, 'build/test/known-answers/path-programs/shapes_package');

interface Sums {
  work: number;
  span: number;
}
const parallelismOf = ({ work, span }: Sums): number => work / span;

interface Measured {
  model: Model;
  span: WorkSpan;
  typical: number; // parallelism, as it typically is
  units: Sums;
  ns: Sums;
  text: string;
}
async function measure(t: ExecutionContext, args: readonly string[], processors: number): Promise<Measured> {
  const { model, file, status, stdout, stderr } = await record(program, { args, processors, span: true });
  t.is(status, 0, stderr);
  const span = workSpanOf(model);
  if (span === null) throw new Error('no work and span were recorded');
  const [units, ns] = stdout.split('\n').map((line): Sums => {
    const [work = NaN, length = NaN] = line.split(' ').map(Number);
    return { work, span: length };
  }) as [Sums, Sums];
  const typical = span.workNs / (span.typicalSpanNs ?? span.spanNs);
  const found = `${span.parallelism.toFixed(2)}, typically ${typical.toFixed(2)}`;
  const due = `due ${parallelismOf(ns).toFixed(2)} by time, ${parallelismOf(units).toFixed(2)} by units`;
  const [work, length] = [span.workNs / ns.work, span.spanNs / ns.span];
  const ratios = `work ${work.toFixed(3)}, span ${length.toFixed(3)} of the true ones`;
  return { model, span, typical, units, ns, text: `${found}; ${due}; ${ratios} (${file})` };
}

/**
 * Beside what the program measures, strands contain the calls of the package between two parts, the page faults of new
 * stacks, and what the kernel takes to interrupt them (once or twice for each ms beside other programs).
 */
function judge(t: ExecutionContext, { span, typical, ns, text }: Measured): void {
  t.true(span.workNs > 0.98 * ns.work && span.workNs < 1.15 * ns.work, text);
  t.true(span.spanNs > 0.98 * ns.span && span.spanNs < 1.2 * ns.span, text);
  t.true(span.parallelism < 1.05 * parallelismOf(ns), text);
  t.true(typical >= span.parallelism, text);
}

for (const [args, what] of [
  [['graph', '1'], 'a random graph of spawned calls (1)'],
  [['graph', '4'], 'a random graph of spawned calls (4)'],
  [['ended'], 'a thread that is joined long after its end'],
  [['stolen'], 'spawned calls that outlast their parent'],
  [['left'], 'spawned calls that end by qz_exit'],
  [['late'], 'a barrier at which seven of eight wait'],
] as const)
  test.serial(`${what}, on 1 and on 2`, async (t) => {
    for (const processors of [1, 2]) judge(t, await measure(t, args, processors));
  });

test.serial('a hiccup of one call in a thousand is on the span, and not on the typical one', async (t) => {
  // 400 rounds of 18 calls, each of 20 units, after 20 of the spawner; 7 calls take 1,000: 6,860 more of the span.
  const { model, typical, span, units, ns, text } = await measure(t, ['hiccups'], 1);
  const withoutHiccups = (1 + 18) / 2;
  t.true(span.parallelism < 1.05 * parallelismOf(ns), text);
  t.true(typical < 1.07 * withoutHiccups, text);
  // Other calls that take long, because the CPUs are shared, are cut as well.
  const isQuiet = model.cpuWait.waitNs < 0.1 * model.cpuWait.runNs;
  if (!isQuiet || parallelismOf(ns) < 0.95 * parallelismOf(units)) {
    skip(t, 'other programs had the CPUs');
    return;
  }
  // Interrupts lengthen other calls; what is cut from those is not known.
  const hiccupsNs = ((7 * 980) / (400 * 19 * 20 + 7 * 980)) * span.workNs;
  t.true(span.spanNs - (span.typicalSpanNs ?? NaN) > 0.75 * hiccupsNs, text);
});
