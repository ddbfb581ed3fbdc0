/**
 * Runs a child process in the foreground: it owns the terminal, receives this process's signals, and its exit status is
 * returned.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { Failure, exitCodes } from '../failure.js';
import { defined, item } from '../../model/index.js';

const forwarded: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGINT'];

/**
 * Descriptors above 2 that `quartz` itself inherited. bin/quartz lists them in an environment variable, which it
 * removes from the environment of programs.
 */
const inherited: readonly number[] = (process.env['QUARTZ_INHERITED'] ?? '')
  .split(' ')
  .map(Number)
  .filter((each) => each > 2);
Reflect.deleteProperty(process.env, 'QUARTZ_INHERITED');

/**
 * The stdio entries of a child after the first three: the inherited descriptors at their own numbers, and `sockets`
 * sockets at the first unused numbers, which `own` returns.
 */
export function moreStdio(sockets: number): { more: (number | 'ignore' | 'pipe')[]; own: readonly number[] } {
  const own: number[] = [];
  for (let fd = 3; own.length < sockets; fd++) if (!inherited.includes(fd)) own.push(fd);
  const more = Array.from({ length: Math.max(...own, ...inherited) - 2 }, (_, k) => {
    const fd = k + 3;
    // 'ignore' would open /dev/null there, but inheriting a closed descriptor leaves it closed in the child
    return own.includes(fd) ? ('pipe' as const) : inherited.includes(fd) ? fd : ('ignore' as const);
  });
  return { more, own };
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
}
export const statusOf = ({ code, signal }: Ended): number => code ?? 128 + constants.signals[defined(signal)];

/** The exit status of the program, or 128 + n if signal n ended it. */
export async function runChild(
  file: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<number> {
  return statusOf(await endOf(file, spawn(file, args, { stdio: 'inherit', ...options })));
}

/** How a child differs from this process. */
interface ChildOptions {
  streams?: readonly (number | 'inherit' | 'ignore')[]; // the first three descriptors; inherited by default
  environment?: Readonly<Record<string, string>>; // variables to add
}

/**
 * Like runChild, for the sampler. It writes messages to sockets, one for each function in `reported`, which receives
 * what arrives; `argsOf` is called with the sockets' descriptors and returns the sampler's arguments.
 */
export async function runSampler(
  file: string,
  argsOf: (fds: readonly number[]) => readonly string[],
  reported: readonly ((text: string) => void)[],
  { streams = ['inherit', 'inherit', 'inherit'], environment = {} }: ChildOptions = {},
): Promise<Ended> {
  const { more, own } = moreStdio(reported.length);
  const child = spawn(file, argsOf(own), { stdio: [...streams, ...more], env: { ...process.env, ...environment } });
  own.forEach((fd, k) => {
    (child.stdio[fd] as Readable | null)?.setEncoding('utf8').on('data', item(reported, k));
  });
  return await endOf(file, child);
}

function endOf(file: string, child: ChildProcess): Promise<Ended> {
  return passingSignals(
    (signal) => {
      child.kill(signal);
    },
    () =>
      new Promise((resolve, reject) => {
        child.on('error', (error: NodeJS.ErrnoException) => {
          reject(
            error.code === 'ENOENT'
              ? new Failure(`${file} was not found`, 'install it, or run: npm run build', exitCodes.notFound)
              : new Failure(
                  `${file} cannot be run (${error.message})`,
                  'check its permissions',
                  exitCodes.cannotExecute,
                ),
          );
        });
        child.on('close', (code, signal) => {
          resolve({ code, signal });
        });
      }),
  );
}

/** Forwards signals that ask this process to end (INT, TERM, HUP) while `run` is under way. */
async function passingSignals<T>(to: (signal: NodeJS.Signals) => void, run: () => Promise<T>): Promise<T> {
  for (const signal of forwarded) process.on(signal, to);
  try {
    return await run();
  } finally {
    for (const signal of forwarded) process.off(signal, to);
  }
}

/**
 * The start time of the process in kernel ticks, which distinguishes it from a later process with the same ID;
 * undefined if it has ended.
 */
function beginOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1'),
      fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return /[ZX]/.test(item(fields, 0)) ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

/**
 * Waits for the end of a process that is not a child of this one and forwards termination signals to it. Calls `begun`
 * first if the process is still running. Its start time distinguishes it from a later process with the same ID.
 */
export async function waitForProcess(pid: number, begun: () => void): Promise<void> {
  const began = beginOf(pid);
  if (began === undefined) return;
  begun();
  const pass = (signal: NodeJS.Signals): void => {
    try {
      process.kill(pid, signal);
    } catch {
      /* the process has ended in the meantime */
    }
  };
  await passingSignals(pass, async () => {
    while (beginOf(pid) === began)
      await new Promise((resolve) => {
        setTimeout(resolve, 50);
      });
  });
}
