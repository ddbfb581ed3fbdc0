/**
 * Writes results to stdout. If the reader closes its end (`| head`, a closed terminal), output ends without a failure;
 * a full disk is a failure, reported in one line.
 */
import { once } from 'node:events';
import { Failure, reportFailure } from '../failure.js';

let gone = false;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (gone) return;
  gone = true;
  if (error.code === 'EPIPE' || error.code === 'EIO') return; // EIO: the terminal has been closed
  // process.exit rather than exitCode, which the command, unaware of the failure, would overwrite
  process.exit(
    reportFailure(
      new Failure(`can't write the output: ${error.message.split(',')[0] ?? ''}`, 'write it somewhere else'),
    ),
  );
});

export async function print(parts: string | Iterable<string | Uint8Array>): Promise<void> {
  for (const part of typeof parts === 'string' ? [parts] : parts) {
    if (gone) return;
    if (!process.stdout.write(part))
      await Promise.race([once(process.stdout, 'drain'), once(process.stdout, 'close')]).catch(() => undefined);
  }
}
