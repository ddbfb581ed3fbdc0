/** Runs a program in front: the terminal is its own, signals reach it, its status is passed on. */
import { spawn, type ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { Failure, exitCodes } from './failure.js';

const forwarded: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGINT'];

/** Descriptors that `quartz` was called with, besides the first three: bin/quartz says so in a variable that programs do not see. */
const inherited: readonly number[] = (process.env['QUARTZ_INHERITED'] ?? '').split(' ').map(Number).filter((each) => each > 2);
Reflect.deleteProperty(process.env, 'QUARTZ_INHERITED');

/** What a child gets beyond its first three descriptors: what was inherited, and a socket at the first free place, `tellFd`. */
export function moreStdio(): { more: (number | 'ignore' | 'pipe')[]; tellFd: number } {
  let tellFd = 3;
  while (inherited.includes(tellFd)) tellFd++;
  const more = Array.from({ length: Math.max(tellFd, ...inherited) - 2 }, (_, k) => {
    const fd = k + 3;
    return fd === tellFd ? 'pipe' as const : inherited.includes(fd) ? fd : 'ignore' as const; // ignored: not open in the child
  });
  return { more, tellFd };
}

/** The exit status of the program, or 128 + n when signal n ended it. */
export async function runChild(file: string, args: readonly string[], options: { cwd?: string } = {}): Promise<number> {
  return await endOf(file, spawn(file, args, { stdio: 'inherit', ...options }));
}

/** The same for the sampler, which writes the profile's name to the descriptor that `argsOf` is called with; `told` gets that. */
export async function runSampler(file: string, argsOf: (tellFd: number) => readonly string[], told: (text: string) => void): Promise<number> {
  const { more, tellFd } = moreStdio();
  const child = spawn(file, argsOf(tellFd), { stdio: ['inherit', 'inherit', 'inherit', ...more] });
  (child.stdio[tellFd] as Readable | null)?.setEncoding('utf8').on('data', told);
  return await endOf(file, child);
}

async function endOf(file: string, child: ChildProcess): Promise<number> {
  const forward = (signal: NodeJS.Signals): void => { child.kill(signal); };
  for (const signal of forwarded) process.on(signal, forward);
  try {
    return await new Promise((resolve, reject) => {
      child.on('error', (error: NodeJS.ErrnoException) => {
        reject(error.code === 'ENOENT'
          ? new Failure(`${file} was not found`, 'install it, or run: npm run build', exitCodes.notFound)
          : new Failure(`${file} cannot be run (${error.message})`, 'check its permissions', exitCodes.cannotExecute));
      });
      child.on('close', (code, signal) => { resolve(code ?? 128 + constants.signals[signal!]); });
    });
  } finally {
    for (const signal of forwarded) process.off(signal, forward);
  }
}
