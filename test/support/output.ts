/** A process whose output is collected, and that is ended where it hangs. */
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

export interface Ended {
  status: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}
export interface Output {
  ended: Promise<Ended>;
  stdout: () => string;
  stderr: () => string;
}

export function outputOf(child: ChildProcessByStdio<null, Readable, Readable>, limitMs: number): Output {
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const timer = setTimeout(() => {
    child.kill('SIGKILL');
  }, limitMs);
  const ended = (async (): Promise<Ended> => {
    try {
      const [status, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
      return { status, signal, stdout, stderr };
    } finally {
      clearTimeout(timer);
    }
  })();
  return { ended, stdout: () => stdout, stderr: () => stderr };
}
