/**
 * Temporary files that are unlinked at once, so that nothing is left behind: they hold the output of processes until it
 * is shown.
 */
import { fstatSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemReason } from '../reader/system-error.js';
import { Failure } from './failure.js';

/** Creates the file and returns its descriptor. */
export function unnamedFile(): number {
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), 'quartz-'));
    return openSync(join(folder, 'output'), 'w+', 0o600);
  } catch (error) {
    throw new Failure(
      `no temporary file can be made in ${tmpdir()}: ${systemReason(error)}`,
      'name another directory in TMPDIR',
    );
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** The whole contents of the file. */
export function textOf(file: number): string {
  const bytes = Buffer.alloc(fstatSync(file).size);
  return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, 0)); // at 0: the file offset is the writers'
}
