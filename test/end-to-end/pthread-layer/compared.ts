/** Runs a program without Quartz and recorded, and compares the two. */
import { join } from 'node:path';
import { type ExecutionContext } from 'ava';
import { root } from '../../support/root.js';
import { openModel, sampler, start, temporaryFile } from '../../support/record.js';

export const program = (name: string): string => join(root, 'build/test/end-to-end/pthread-layer', name);
/** The program's messages, without Quartz's lines and without the process numbers in sanitizers' messages. */
export const own = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !line.startsWith('quartz: '))
    .map((line) => line.replace(/^==\d+==/, '==PID=='))
    .join('\n');
export const ours = (text: string): string[] => text.split('\n').filter((line) => line.startsWith('quartz: '));

interface Compared {
  lines: string[];
  file: string;
  stdout: string;
}
/** Runs it without Quartz and recorded, and compares the results. */
export async function compare(
  t: ExecutionContext,
  command: readonly string[],
  options: readonly string[] = [],
): Promise<Compared> {
  const [name, ...args] = command,
    file = temporaryFile('profile.quartz');
  const plain = await start(name!, args).ended;
  const recorded = await start(sampler, ['record', '-q', ...options, '-o', file, '--', ...command]).ended;
  t.is(recorded.stdout, plain.stdout);
  t.is(own(recorded.stderr), own(plain.stderr));
  t.is(
    recorded.status,
    plain.status ??
      128 + ({ SIGSEGV: 11, SIGABRT: 6, SIGKILL: 9, SIGTERM: 15 } as Record<string, number>)[plain.signal!]!,
    recorded.stderr,
  );
  return { lines: ours(recorded.stderr), file, stdout: plain.stdout };
}
/** The profile exists and is valid, and there were no messages. */
export function profiled(t: ExecutionContext, { file, lines }: Compared, reason: 'exit' | 'signal' = 'exit'): void {
  t.deepEqual(lines, []);
  t.is(openModel(file).head.endReason, reason);
}
