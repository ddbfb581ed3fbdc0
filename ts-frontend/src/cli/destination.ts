/**
 * Where results go: to stdout, to the file that --report names, or, where stdout is a file to which the recorded
 * program wrote (`quartz run -- pigz -c data > data.gz`), to stderr, so that the program's output stays what it is.
 */
import { accessSync, constants, existsSync, fstatSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemReason } from '../reader/system-error.js';
import { Failure } from './failure.js';

type Destination = { stream: NodeJS.WriteStream & { fd: 1 | 2 } } | { file: string };

const stdout: Destination = { stream: process.stdout };
const stderr: Destination = { stream: process.stderr };

let chosen: Destination = stdout;
let positionBefore: number | undefined;

/** The offset of stdout, which a program shares that inherits it; undefined where stdout is no file. */
function stdoutPosition(): number | undefined {
  try {
    if (!fstatSync(1).isFile()) return;
    const [, position] = /^pos:\s*(\d+)$/m.exec(readFileSync('/proc/self/fdinfo/1', 'utf8')) ?? [];
    return position === undefined ? undefined : Number(position);
  } catch {
    return; // stdout is closed, or there is no /proc
  }
}

function areOneFile(): boolean {
  const [one, other] = [fstatSync(1), fstatSync(2)];
  return one.dev === other.dev && one.ino === other.ino;
}

function checkWritable(file: string): void {
  try {
    accessSync(existsSync(file) ? file : dirname(file), constants.W_OK);
  } catch (error) {
    throw new Failure(`${file} cannot be written: ${systemReason(error)}`, 'name another file with --report');
  }
}

/** Before a program starts that inherits stdout. `file`: where its report shall go, if that was named. */
export function beforeProgram(file: string | undefined): void {
  if (file === undefined) {
    positionBefore = stdoutPosition();
    return;
  }
  checkWritable(file);
  chosen = { file };
}

export function destination(): Destination {
  if (positionBefore !== undefined && stdoutPosition() !== positionBefore && !areOneFile()) {
    process.stderr.write(
      'quartz: stdout is a file that the program wrote to, so the report follows here; --report FILE names another\n',
    );
    chosen = stderr;
  }
  positionBefore = undefined;
  return chosen;
}
