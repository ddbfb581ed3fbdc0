/** Text of source files, as debug information names them. */
import { readFileSync, statSync } from 'node:fs';
import { systemReason } from '../../reader/system-error.js';

const mostBytes = 16 * 1024 * 1024;

/** The lines of a file, or one clause that says why there are none. */
export function sourceText(path: string): { lines: string[] } | { error: string } {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status?.isFile()) return { error: `${path} is not on this machine` };
  if (status.size > mostBytes) return { error: `${path} is too large to show` };
  try {
    return { lines: readFileSync(path, 'utf8').split('\n') };
  } catch (error) {
    return { error: `${path} cannot be read: ${systemReason(error)}` };
  }
}
