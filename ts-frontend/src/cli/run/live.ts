/** A recording beside the live screen: starts the sampler, shows what it writes, and ends what was started. */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import type { Arguments } from '../command.js';
import { moreStdio } from './child.js';
import { samplerPath } from '../files.js';
import { invocation, shellWord } from '../invocation.js';
import { nameIn } from './recording.js';
import { textOf, unnamedFile } from '../unnamed-file.js';
import { openProfile } from '../../reader/profile.js';
import { defined, item } from '../../model/index.js';

/** A recording that runs beside the screen. */
interface Recording {
  reported: string; // what the sampler has said of the profile's name
  log: number; // what program and sampler print: a file without a name, which needs no tidying
  child: ChildProcess;
  status: number | null; // of the sampler, which passes the program's on; null: runs
}

/**
 * Starts the sampler in a process group of its own: the terminal's keys are the screen's. The socket is closed with
 * this process, however it ends: then the sampler ends, too.
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

/** A profile to look at is there when it has a snapshot; until then, or the sampler's end, wait. Its name. */
async function firstSnapshot(recording: Recording): Promise<string | undefined> {
  for (;;) {
    const ended = recording.status !== null;
    const file = nameIn(recording.reported);
    try {
      if (file !== undefined && openProfile(file, { symbolize: false }).head.snapshots > 0) return file;
    } catch {
      // the program has become another one (exec), whose profile is being made
    }
    if (ended) return undefined;
    await pause(20);
  }
}

/** What ends the recording before there is a screen, which has its own ways then. */
const early = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Starts the sampler with these arguments and shows the profile that it writes; answers the exit status. */
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
    // Model and screen are loaded while the program starts.
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
    // the screen has failed: nobody is left to end what was started for it
    await stop(recording, owned);
    throw error;
  } finally {
    for (const signal of early) process.off(signal, interrupt);
    process.off('uncaughtException', fail);
    closeSync(recording.log);
  }
}
