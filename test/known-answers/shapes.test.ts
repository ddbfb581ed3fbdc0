/**
 * Work and span of programs that count both themselves, in units of work, and print them (path-programs/shapes.c):
 * random graphs, and each way for a strand to begin or to end. Only ratios are checked.
 */
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { workSpanOf, type Model, type WorkSpan } from '../../ts-frontend/src/model/index.js';
import { record } from '../support/record.js';
import { root } from '../support/root.js';
import { skip } from '../support/capabilities.js';

const program = join(root, 'build/test/known-answers/path-programs/shapes_package');

interface Measured {
  span: WorkSpan;
  typical: number; // parallelism, as it typically is
  due: number;
  isQuiet: boolean;
  text: string;
}
/** Other programs, or the program's own threads that share a core, make the same unit take more or less time. */
const isQuiet = ({ cpuWait }: Model): boolean => cpuWait.waitNs < 0.1 * cpuWait.runNs;

async function measure(t: ExecutionContext, args: readonly string[], processors: number): Promise<Measured> {
  const { model, file, status, stdout, stderr } = await record(program, { args, processors, span: true });
  t.is(status, 0, stderr);
  const span = workSpanOf(model);
  if (span === null) throw new Error('no work and span were recorded');
  const [work, length] = stdout.split(' ').map(Number);
  const due = (work ?? NaN) / (length ?? NaN);
  const typical = span.workNs / (span.typicalSpanNs ?? span.spanNs);
  const text = `${span.parallelism.toFixed(2)}, typically ${typical.toFixed(2)}, due ${due.toFixed(2)} (${file})`;
  return { span, typical, due, isQuiet: isQuiet(model), text };
}

/**
 * A chain cannot be shorter than its work, so the parallelism is never above the true one; nor is it far below on a
 * quiet machine. The longest of many chains of nearly the same length is the one that was disturbed most.
 */
function judge(t: ExecutionContext, { span, typical, due, isQuiet, text }: Measured, least: number, slower = 1): void {
  t.true(span.parallelism < 1.07 * due * slower, text);
  t.true(typical > (isQuiet ? least : 0.35) * due, text);
}
/**
 * On one processor, and on two: where both are threads of one core, a unit takes longer while both work, which is
 * more of the work than of the span.
 */
async function onOneAndTwo(
  t: ExecutionContext,
  args: readonly string[],
  least: readonly [number, number],
): Promise<void> {
  const one = await measure(t, args, 1);
  judge(t, one, least[0]);
  const two = await measure(t, args, 2);
  judge(t, two, least[1], Math.max(1, two.span.workNs / one.span.workNs));
}

for (const seed of ['1', '4'])
  test.serial(`a random graph of spawned calls (${seed}), on 1 and on 2`, async (t) => {
    await onOneAndTwo(t, ['graph', seed], [0.75, 0.65]);
  });
for (const [args, what] of [
  ['ended', 'a thread that is joined long after its end'],
  ['stolen', 'spawned calls that outlast their parent'],
  ['left', 'spawned calls that end by qz_exit'],
  ['late', 'a barrier at which seven of eight wait'],
] as const)
  test.serial(`${what}, on 1 and on 2`, async (t) => {
    await onOneAndTwo(t, [args], [0.85, 0.85]);
  });

test.serial('a hiccup of one call in a thousand is on the span, and not on the typical one', async (t) => {
  // 400 rounds of 18 calls, each of 20 units, after 20 of the spawner; 7 calls take 1,000: 6,860 more of the span.
  const { typical, due, isQuiet, span, text } = await measure(t, ['hiccups'], 1);
  const withoutHiccups = (1 + 18) / 2;
  t.true(span.parallelism < 1.07 * due, text);
  t.true(typical < 1.07 * withoutHiccups, text);
  if (!isQuiet) {
    skip(t, 'other programs had the CPUs');
    return;
  }
  // Interrupts lengthen other calls; what is cut from those is not known.
  const hiccupsNs = ((7 * 980) / (400 * 19 * 20 + 7 * 980)) * span.workNs;
  t.true(span.spanNs - (span.typicalSpanNs ?? NaN) > 0.75 * hiccupsNs, text);
});

test.serial('work and typical span are the same on one processor and on two', async (t) => {
  const found: string[] = [];
  for (let k = 0; k < 3; k++) {
    const [one, two] = [await measure(t, ['graph', '4'], 1), await measure(t, ['graph', '4'], 2)];
    const work = two.span.workNs / one.span.workNs;
    const span = (two.span.typicalSpanNs ?? NaN) / (one.span.typicalSpanNs ?? NaN);
    found.push(`${work.toFixed(3)}, ${span.toFixed(3)}`);
    const most = one.isQuiet && two.isQuiet ? 1.1 : 1.3;
    if (Math.max(work, 1 / work) < most && Math.max(span, 1 / span) < most) {
      t.log(found.join('; '));
      t.pass();
      return;
    }
  }
  t.fail(`work and span on two, of those on one: ${found.join('; ')}`);
});
