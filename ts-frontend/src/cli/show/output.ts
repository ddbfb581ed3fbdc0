/**
 * Writes results to stdout. If the reader closes its end (`| head`, a closed terminal), output ends without a failure;
 * a full disk is a failure, reported in one line, and so is stdout that was closed from the beginning.
 */
import { destination } from '../destination.js';
import { Failure, reportFailure } from '../failure.js';
import { writeResult } from '../result-file.js';

/** What bin/quartz found, in a variable that programs do not see: Node.js opens /dev/null where stdout is closed. */
const closed = process.env['QUARTZ_STDOUT_CLOSED'] === '1';
Reflect.deleteProperty(process.env, 'QUARTZ_STDOUT_CLOSED');

const failure = (why: string): Failure => new Failure(`can't write the output: ${why}`, 'write it somewhere else');

/** EIO: the terminal has been closed. */
const isReadersEnd = ({ code }: NodeJS.ErrnoException): boolean => code === 'EPIPE' || code === 'EIO';

let gone = false;
let printing = 0;
let failed: Failure | undefined;
function ended(error: NodeJS.ErrnoException): void {
  if (gone) return;
  gone = true;
  if (!isReadersEnd(error)) failed = failure(error.message.split(',')[0] ?? '');
}
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  ended(error);
  // process.exit rather than exitCode, which the command, unaware of the failure, would overwrite
  if (failed !== undefined && printing === 0) process.exit(reportFailure(failed));
});

const inFile: (string | Uint8Array)[] = [];

/** A file is complete after each part. */
function printToFile(file: string, parts: Iterable<string | Uint8Array>): void {
  inFile.push(...parts);
  writeResult(file, Buffer.concat(inFile.map((part) => Buffer.from(part))), 'name another file with --report');
}

/** Returns when all is written, so that the caller learns of a failure: it may have an exit status of its own. */
export async function print(parts: string | Iterable<string | Uint8Array>): Promise<void> {
  const to = destination();
  const all = typeof parts === 'string' ? [parts] : parts;
  if ('file' in to) {
    printToFile(to.file, all);
    return;
  }
  if (closed && to.stream.fd === 1) throw failure('stdout is closed');
  printing++;
  let last: Promise<void> | undefined;
  for (const part of all) {
    if (gone) break;
    let hasRoom = true;
    last = new Promise((done) => {
      hasRoom = to.stream.write(part, (error) => {
        if (error) ended(error);
        done();
      });
    });
    if (!hasRoom) await last;
  }
  await last;
  if (failed !== undefined) throw failed; // `printing` stays: it is the caller's failure now
  printing--;
}
