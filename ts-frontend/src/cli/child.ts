/** Runs a program in front: the terminal is its own, signals reach it, its status is passed on. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { Failure, exitCodes } from './failure.js';

const forwarded: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGINT'];

/** The exit status of the program, or 128 + n when signal n ended it. */
export async function runChild(file: string, args: readonly string[], options: { cwd?: string } = {}): Promise<number> {
  const child = spawn(file, args, { stdio: 'inherit', ...options });
  const forward = (signal: NodeJS.Signals): void => { child.kill(signal); };
  for (const signal of forwarded) process.on(signal, forward);
  try {
    return await new Promise((resolve, reject) => {
      child.on('error', (error: NodeJS.ErrnoException) => {
        reject(error.code === 'ENOENT'
          ? new Failure(`${file} was not found`, 'install it, or run: npm run build', exitCodes.notFound)
          : new Failure(`${file} cannot be run (${error.message})`, 'check its permissions', exitCodes.cannotExecute));
      });
      child.on('exit', (code, signal) => { resolve(code ?? 128 + constants.signals[signal!]); });
    });
  } finally {
    for (const signal of forwarded) process.off(signal, forward);
  }
}
