/** Runs programs: with a time limit, without output, in a directory that is deleted afterwards. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readings } from './bench.js';

/** A run without a result; its message is one line. */
export class Failed extends Error {}
/** It exceeded its time limit. */
export class Late extends Failed {}

export interface Said {
  stdout: string;
  stderr: string;
  seconds: number;
}

export interface Execution {
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  seconds?: number;
  silent?: boolean;
}

const lastLine = (text: string): string => text.trim().split('\n').pop() ?? '';

/** Throws Failed if the program does not end with 0 in time. All processes that it started are ended with it. */
export async function execute(file: string, args: readonly string[], options: Execution = {}): Promise<Said> {
  const begin = process.hrtime.bigint();
  const child = spawn(file, args, {
    env: { ...process.env, LC_ALL: 'C.UTF-8', ...options.env },
    stdio: ['ignore', options.silent ? 'ignore' : 'pipe', 'pipe'],
    detached: true, // a group of its own, to end what it started as well
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  let late = false;
  child.stdout?.on('data', (bytes: Buffer) => out.push(bytes));
  child.stderr?.on('data', (bytes: Buffer) => err.push(bytes));
  const end = (): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      /* it has ended */
    }
  };
  const timer = setTimeout(
    () => {
      late = true;
      end();
    },
    (options.seconds ?? 20) * 1000,
  );
  process.prependOnceListener('exit', end); // before its directory is deleted
  try {
    const [status, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
    if (late) throw new Late(`took longer than ${options.seconds ?? 20} s`);
    const said = lastLine(Buffer.concat(err).toString());
    if (status === null) throw new Failed(`ended by ${signal}${said ? `: ${said}` : ''}`);
    if (status === 3 && said === '') throw new Failed('has no such operation');
    if (status !== 0) throw new Failed(`ended with status ${status}${said ? `: ${said}` : ''}`);
    return { stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString(), seconds };
  } catch (error) {
    if (error instanceof Failed) throw error;
    throw new Failed(error instanceof Error ? error.message.split('\n')[0]! : String(error));
  } finally {
    clearTimeout(timer);
    process.off('exit', end);
  }
}

/** "name value" lines. */
export function readings(text: string): Readings {
  const found: Record<string, number> = {};
  for (const line of text.split('\n')) {
    const match = /^(\S+) (-?[\d.]+(?:e[+-]?\d+)?)$/.exec(line.trim());
    if (match) found[match[1]!] = Number(match[2]);
  }
  if (Object.keys(found).length === 0) throw new Failed('printed no number');
  return found;
}

let scratch: string | undefined;
/** A directory for programs' output; it is deleted when the harness ends. */
export function scratchDirectory(): string {
  if (scratch === undefined) {
    const path = mkdtempSync(join(tmpdir(), 'quartz-bench-'));
    process.on('exit', () => {
      rmSync(path, { recursive: true, force: true });
    });
    scratch = path;
  }
  return scratch;
}
