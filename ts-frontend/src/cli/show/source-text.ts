/** Reads source files by the names in the debug information. */
import { readFileSync, statSync } from 'node:fs';
import { systemReason } from '../../reader/system-error.js';

const mostBytes = 16 * 1024 * 1024;

/** The lines of the file, or a clause that says why it cannot be read. */
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
