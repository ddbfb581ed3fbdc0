/** Starts a process that restores the terminal if the live screen is killed (bin/restore-terminal). */
import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { restoreTerminalPath } from '../files.js';

/**
 * Call this before the screen takes the terminal. Returns a function that informs that process whenever the screen
 * takes or releases the terminal.
 */
export async function guardTerminal(): Promise<(taken: boolean) => void> {
  // It runs in its own session, so that neither the terminal's keys nor a signal to the screen's process group ends it.
  const guard = spawn('/bin/sh', [restoreTerminalPath(), String(process.pid), String(process.ppid)], {
    stdio: ['inherit', 'inherit', 'ignore', 'pipe'],
    detached: true,
  });
  const pipe = guard.stdio[3] as unknown as Socket;
  await new Promise<void>((resolve) => {
    // Wait until the process has saved the terminal's modes. If it fails, the screen runs without it.
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
