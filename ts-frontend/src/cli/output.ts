/** Results on stdout. A reader that goes away (`| head`) ends the output, and is no failure. */
import { once } from 'node:events';

let gone = false;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  gone = true;
});

export async function print(parts: string | Iterable<string>): Promise<void> {
  for (const part of typeof parts === 'string' ? [parts] : parts) {
    if (gone) return;
    if (!process.stdout.write(part)) await Promise.race([once(process.stdout, 'drain'), once(process.stdout, 'close')]).catch(() => undefined);
  }
}
