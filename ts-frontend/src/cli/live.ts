/** A recording beside the live screen: starts the sampler, shows what it writes, and ends what was started. */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, fstatSync, mkdtempSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Arguments } from './command.js';
import { samplerPath } from './files.js';
import { invocation, shellWord } from './invocation.js';
import { openProfile } from '../profile.js';

/** A recording that runs beside the screen. */
interface Recording {
  file: string;
  log: number;                  // what program and sampler print: a file without a name, which needs no tidying
  child: ChildProcess;
  status: number | null;        // of the sampler, which passes the program's on; null: runs
}

function unnamedFile(): number {
  const folder = mkdtempSync(join(tmpdir(), 'quartz-'));
  try {
    return openSync(join(folder, 'output'), 'w+', 0o600);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function textOf(file: number): string {
  const bytes = Buffer.alloc(fstatSync(file).size);
  return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, 0)); // the position is the writers'
}

const frontFd = 3; // closed with this process, however it ends: then the sampler ends, too

/** Starts the sampler in a process group of its own: the terminal's keys are the screen's. */
function start(file: string, [command, ...args]: readonly string[]): Recording {
  const log = unnamedFile();
  const child = spawn(samplerPath(), [command!, '--front', String(frontFd), ...args], { stdio: ['ignore', log, log, 'pipe'], detached: true });
  (child.stdio[frontFd] as Socket | null)?.unref();
  const recording: Recording = { file, log, child, status: null };
  child.on('error', () => { recording.status = 125; });
  child.on('exit', (code, signal) => { recording.status = code ?? 128 + constants.signals[signal!]; });
  return recording;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => { setTimeout(resolve, ms); });

/** Ends the recording, and with `all` the program that was started for it; harder when that does not help. */
async function stop(recording: Recording, all: boolean): Promise<void> {
  const { pid } = recording.child;
  if (pid === undefined) return;
  const signals: readonly NodeJS.Signals[] = all ? ['SIGINT', 'SIGTERM', 'SIGKILL'] : ['SIGINT'];
  for (const signal of signals) {
    if (recording.status !== null && !all) return;
    try {
      process.kill(all ? -pid : pid, signal);
    } catch {
      return; // nobody is left
    }
    for (let waited = 0; waited < 3000; waited += 50) {
      await pause(50);
      if (recording.status === null) continue;
      try {
        if (!all) return;
        process.kill(-pid, 0);
      } catch {
        return;
      }
    }
  }
}

/** A profile to look at is there as soon as the file can be opened; until then, or the sampler's end, wait. */
async function firstSnapshot(recording: Recording, since: number): Promise<boolean> {
  for (;;) {
    const status = statSync(recording.file, { throwIfNoEntry: false });
    if (status && status.mtimeMs >= since) {
      try {
        if (openProfile(recording.file, { symbolize: false }).head.snapshots > 0) return true;
      } catch {
        // it is being made
      }
    }
    if (recording.status !== null) return false;
    await pause(20);
  }
}

/** What ends the recording before there is a screen, which has its own ways then. */
const early = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Starts the sampler with these arguments and shows the profile that it writes; answers the exit status. */
export async function live(args: Arguments, file: string, sampler: readonly string[], refreshMs: number, owned: boolean): Promise<number> {
  const since = Date.now() - 1000;
  const recording = start(file, sampler);
  const interrupt = (): void => { void stop(recording, owned); };
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => { fail = reject; });
  failed.catch(() => undefined);
  for (const signal of early) process.on(signal, interrupt);
  process.on('uncaughtException', fail);
  try {
    // Model and screen are loaded while the program starts.
    const [there, { watch }] = await Promise.race([Promise.all([firstSnapshot(recording, since), import('./watch.js')]), failed]);
    if (!there) {
      process.stderr.write(textOf(recording.log));
      return recording.status ?? 125;
    }
    for (const signal of early) process.off(signal, interrupt);
    await watch(args, file, recording, refreshMs, owned);
    if (recording.status === null) await stop(recording, owned);
    const output = textOf(recording.log);
    if (output !== '') process.stderr.write(output);
    if (existsSync(file)) process.stderr.write(`quartz: the profile is ${file}; see it with: ${invocation()} report ${shellWord(file)}\n`);
    return recording.status ?? 0;
  } catch (error) { // the screen has failed: nobody is left to end what was started for it
    await stop(recording, owned);
    throw error;
  } finally {
    for (const signal of early) process.off(signal, interrupt);
    process.off('uncaughtException', fail);
    closeSync(recording.log);
  }
}
