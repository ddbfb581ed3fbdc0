/** Directories for what tests make. They go when the file of tests has ended. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];

/** A process that is being ended may still write there: tried again for some 20 seconds. */
process.on('exit', () => {
  for (const path of made) rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

/** An empty directory. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'quartz-test-'));
  made.push(path);
  return path;
}
