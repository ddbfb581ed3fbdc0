/**
 * Records while the live screen is shown: starts the sampler, shows the profile that it writes, and ends what was
 * started.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import type { Arguments } from '../command.js';
import { moreStdio } from './child.js';
import { Failure } from '../failure.js';
import { samplerPath } from '../files.js';
import { invocation, shellWord } from '../invocation.js';
import { nameIn } from './recording.js';
import { textOf, unnamedFile } from '../unnamed-file.js';
import { isPassing, isProfileError, openProfile } from '../../reader/profile.js';
import { defined, item } from '../../model/index.js';

/** A recording that runs while the screen is shown. */
interface Recording {
  reported: string; // the profile names that the sampler has written to its socket, one per line
  log: number; // an unnamed file with the output of program and sampler, which would disturb the screen
  child: ChildProcess;
  status: number | null; // the sampler's exit status, which is the program's; null while it runs
}

/**
 * Starts the sampler in its own process group, because the terminal's signals (^C, ^Z) are for the screen. The sampler
 * ends when its socket is closed, which the kernel does however this process ends.
 */
function start([command, ...args]: readonly string[]): Recording {
  const log = unnamedFile();
  const { more, own } = moreStdio(1);
  const messageFd = item(own, 0);
  const child = spawn(
    samplerPath(),
    [defined(command), '--front', String(messageFd), '--tell', String(messageFd), ...args],
    {
      stdio: ['ignore', log, log, ...more],
      detached: true,
    },
  );
  const recording: Recording = { reported: '', log, child, status: null };
  const socket = child.stdio[messageFd] as Socket | null;
  socket?.setEncoding('utf8').on('data', (text: string) => {
    recording.reported += text;
  });
  socket?.unref();
  child.on('error', () => {
    recording.status = 125;
  });
  child.on('exit', (code, signal) => {
    recording.status = code ?? 128 + constants.signals[defined(signal)];
  });
  return recording;
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/**
 * Ends the recording, and the program that was started for it if `all` is set: first by SIGINT, then by stronger
 * signals.
 */
async function stop(recording: Recording, all: boolean): Promise<void> {
  const { pid } = recording.child;
  if (pid === undefined) return;
  const signals: readonly NodeJS.Signals[] = all ? ['SIGINT', 'SIGTERM', 'SIGKILL'] : ['SIGINT'];
  for (const signal of signals) {
    if (recording.status !== null && !all) return;
    try {
      process.kill(all ? -pid : pid, signal);
    } catch {
      return; // the process group is empty
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

/** Why nothing that this sampler writes can be shown. */
const otherVersion = (error: unknown): unknown =>
  isProfileError(error)
    ? new Failure(
        `what ${samplerPath()} records cannot be shown: ${error.why}`,
        'build Quartz again (npm run build), or install all of it in one version',
      )
    : error;

/**
 * Waits until the profile has a snapshot or the sampler has ended. Returns the name of the profile, undefined if there
 * is none.
 */
async function firstSnapshot(recording: Recording): Promise<string | undefined> {
  for (;;) {
    const ended = recording.status !== null;
    const file = nameIn(recording.reported);
    try {
      if (file !== undefined && openProfile(file, { symbolize: false }).head.snapshots > 0) return file;
    } catch (error) {
      // What passes: the program has executed another one, whose profile does not exist yet.
      if (!isPassing(error)) throw otherVersion(error);
    }
    if (ended) return undefined;
    await pause(20);
  }
}

/** Signals that end the recording before there is a screen; the screen has its own handlers. */
const early = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Starts the sampler with these arguments, shows the profile that it writes, and returns the exit status. */
export async function live(
  args: Arguments,
  sampler: readonly string[],
  refreshMs: number,
  owned: boolean,
): Promise<number> {
  const recording = start(sampler);
  const interrupt = (): void => {
    void stop(recording, owned);
  };
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined);
  for (const signal of early) process.on(signal, interrupt);
  process.on('uncaughtException', fail);
  try {
    // The modules of model and screen are loaded while the program starts.
    const [file, { watch }] = await Promise.race([
      Promise.all([firstSnapshot(recording), import('./watch.js')]),
      failed,
    ]);
    if (file === undefined) {
      process.stderr.write(textOf(recording.log));
      return recording.status ?? 125;
    }
    for (const signal of early) process.off(signal, interrupt);
    await watch(args, () => nameIn(recording.reported) ?? file, recording, refreshMs, owned);
    if (recording.status === null) await stop(recording, owned);
    const output = textOf(recording.log);
    if (output !== '') process.stderr.write(output);
    const last = nameIn(recording.reported) ?? file;
    if (existsSync(last))
      process.stderr.write(
        `quartz: the profile is ${last}; see it with:\n  ${invocation()} report ${shellWord(last)}\n`,
      );
    return recording.status ?? 0;
  } catch (error) {
    // if the screen throws, the sampler and the program would go on without anyone to end them
    await stop(recording, owned);
    throw error;
  } finally {
    for (const signal of early) process.off(signal, interrupt);
    process.off('uncaughtException', fail);
    closeSync(recording.log);
  }
}
