/**
 * Writes results to stdout. If the reader closes its end (`| head`, a closed terminal), output ends without a failure;
 * a full disk is a failure, reported in one line, and so is stdout that was closed from the beginning.
 */
import { once } from 'node:events';
import { Failure, reportFailure } from '../failure.js';

/** What bin/quartz tells, in a variable that programs do not see: Node.js opens /dev/null where stdout is closed. */
const closed = process.env['QUARTZ_STDOUT_CLOSED'] === '1';
Reflect.deleteProperty(process.env, 'QUARTZ_STDOUT_CLOSED');

const failure = (why: string): Failure => new Failure(`can't write the output: ${why}`, 'write it somewhere else');

let gone = false;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (gone) return;
  gone = true;
  if (error.code === 'EPIPE' || error.code === 'EIO') return; // EIO: the terminal has been closed
  // process.exit rather than exitCode, which the command, unaware of the failure, would overwrite
  process.exit(reportFailure(failure(error.message.split(',')[0] ?? '')));
});

export async function print(parts: string | Iterable<string | Uint8Array>): Promise<void> {
  if (closed) throw failure('stdout is closed');
  for (const part of typeof parts === 'string' ? [parts] : parts) {
    if (gone) return;
    if (!process.stdout.write(part))
      await Promise.race([once(process.stdout, 'drain'), once(process.stdout, 'close')]).catch(() => undefined);
  }
}
