/** Files without names, which need no tidying: what processes print that may be shown later. */
import { fstatSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A descriptor. */
export function unnamedFile(): number {
  const folder = mkdtempSync(join(tmpdir(), 'quartz-'));
  try {
    return openSync(join(folder, 'output'), 'w+', 0o600);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** All that is in it. */
export function textOf(file: number): string {
  const bytes = Buffer.alloc(fstatSync(file).size);
  return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, 0)); // the position is the writers'
}
