/** Standard input for experiments, in which every run has to read the same input from its beginning. */
import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { isatty } from 'node:tty';
import { usage } from '../failure.js';

/** The file offset of standard input, which the shell or another process may have moved. */
function position(): number {
  try {
    return Number(/^pos:\s*(\d+)/m.exec(readFileSync('/proc/self/fdinfo/0', 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

const remedy = 'give it a file (< FILE), or nothing (< /dev/null) where the program reads none';

/**
 * Throws a usage failure if standard input cannot be read repeatedly. A file is reopened for each run; of a terminal,
 * programs read nothing.
 */
export function checkInput(): void {
  const status = fstatSync(0);
  if (status.isFIFO() || status.isSocket())
    throw usage('standard input is a pipe, of which only one run could read what is there', remedy);
  if (status.isFile() && position() > 0)
    throw usage('standard input has been read in part, and only one run could read the rest', remedy);
}

/** Calls `body` with the standard input for one run. */
export async function withInput<T>(body: (input: number | 'ignore') => Promise<T>): Promise<T> {
  const status = fstatSync(0);
  const none = statSync('/dev/null', { throwIfNoEntry: false });
  if (isatty(0) || (status.isCharacterDevice() && status.rdev === none?.rdev)) return body('ignore');
  const input = openSync('/proc/self/fd/0', 'r');
  try {
    return await body(input);
  } finally {
    closeSync(input);
  }
}
