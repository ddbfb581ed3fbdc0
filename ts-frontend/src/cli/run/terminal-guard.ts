/** A process beside the live screen that gives the terminal back where the screen is killed (bin/restore-terminal). */
import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { restoreTerminalPath } from '../files.js';

/**
 * Before the screen takes the terminal. Returns what informs that process, each time, whether the screen has the
 * terminal or has given it back.
 */
export async function guardTerminal(): Promise<(taken: boolean) => void> {
  // A session of its own: neither the terminal's keys nor a signal to the screen's process group ends it.
  const guard = spawn('/bin/sh', [restoreTerminalPath(), String(process.pid), String(process.ppid)], {
    stdio: ['inherit', 'inherit', 'ignore', 'pipe'],
    detached: true,
  });
  const pipe = guard.stdio[3] as unknown as Socket;
  await new Promise<void>((resolve) => {
    // It has read the modes of before; or there is none, and the screen does without.
    for (const event of ['data', 'error', 'close'] as const)
      pipe.once(event, () => {
        resolve();
      });
    guard.once('error', () => {
      resolve();
    });
  });
  pipe.on('error', () => undefined);
  guard.unref();
  pipe.unref();
  return (taken) => {
    pipe.write(taken ? 'on\n' : 'off\n');
  };
}
