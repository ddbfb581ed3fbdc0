/** What the tests of work and span of libraries' tasks have in common: the truth is what the program prints. */
import type { ExecutionContext } from 'ava';
import { checkInvariants, workSpanOf, type Model, type WorkSpan } from '../../ts-frontend/src/model/index.js';
import { record } from '../support/record.js';

/**
 * Records a program that prints the work and span of its graph of tasks, in ns of processor time, on its second line,
 * and compares. seen: the least part of the span that must be seen.
 */
export async function recordedGraph(
  t: ExecutionContext,
  program: string,
  args: string,
  seen = 0.99,
): Promise<{ model: Model; span: WorkSpan; stdout: string }> {
  const { model, file, status, stdout, stderr } = await record(program, { args: [args], span: true });
  t.is(status, 0, stderr);
  t.deepEqual(checkInvariants(model), []);
  const span = workSpanOf(model);
  if (span === null) throw new Error('no work and span were recorded');
  const [work, length] = stdout.split('\n')[1]!.split(' ').map(Number) as [number, number];
  // What is outside of tasks: creating them, and a few milliseconds at the start.
  const more = 0.05 * work + 8e6;
  const is = `${span.workNs / 1e6} ms work, ${span.spanNs / 1e6} ms span`;
  const text = `${is}; not ${work / 1e6}, ${length / 1e6} (${file})`;
  t.true(span.workNs > 0.99 * work && span.workNs < work + more, text);
  t.true(span.spanNs > seen * length && span.spanNs < length + more, text);
  // Until the program ends, a thread of the library looks for work with its processor.
  t.true(span.unendedNs < 0.1 * work + 20e6, `${span.unendedNs} ns are in no strand`);
  return { model, span, stdout };
}
