/** Writes a result into a file that an option names: all of it, or nothing. On a failure the file keeps what it had. */
import { lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { systemReason } from '../reader/system-error.js';
import { Failure } from './failure.js';

const isDenied = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EACCES';

/** Devices, pipes and links are written as they are: a file that is renamed would take their place. */
function write(file: string, content: string | Uint8Array): void {
  const before = lstatSync(file, { throwIfNoEntry: false });
  if (before && (!before.isFile() || before.nlink > 1)) {
    writeFileSync(file, content);
    return;
  }
  const beside = `${file}.${process.pid}.part`;
  try {
    writeFileSync(beside, content, { mode: before ? before.mode & 0o777 : 0o666 });
    renameSync(beside, file);
  } catch (error) {
    rmSync(beside, { force: true });
    if (!before || !isDenied(error)) throw error;
    writeFileSync(file, content); // no new file may be made there, but this one may be written
  }
}

export function writeResult(file: string, content: string | Uint8Array, remedy = 'name another file with -o'): void {
  try {
    write(file, content);
  } catch (error) {
    throw new Failure(`${file} cannot be written: ${systemReason(error)}`, remedy);
  }
}
