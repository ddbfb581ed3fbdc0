/** quartz top: the live screen, over a program that it starts, one that runs already, or a profile. */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Arguments, Command } from '../cli/command.js';
import { wholeNumber } from '../cli/command.js';
import { Failure, usage } from '../cli/failure.js';
import { samplerPath } from '../cli/files.js';
import { childrenOption, recordingOptions, samplerOptions } from '../cli/recording.js';
import { display } from '../cli/terminal.js';
import { buildModel, difference, type RawProfile } from '../model/index.js';
import { remedyOf } from '../cli/profile.js';
import { isProfileError, openProfile, saveProfile } from '../profile.js';
import { show } from '../../../tui/src/terminal.js';
import { Watch, type Host } from '../../../tui/src/session.js';

/** A recording that runs beside the screen. */
interface Recording {
  file: string;
  log: string;                  // what program and sampler print
  child: ChildProcess;
  status: number | null;        // of the sampler, which passes the program's on; null: runs
}

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};


function hostOf(file: string, recording: Recording | null, raw: boolean): Host {
  let ended: string | null = null;
  let last: RawProfile | null = null;
  return {
    finished: recording === null && statSync(file).isFile() && openProfile(file, { symbolize: false }).head.status !== 'recording',
    read: () => {
      try {
        const profile = openProfile(file, { after: last });
        last = profile;
        if (profile.head.status !== 'recording') ended = endOf(profile.head.endReason, profile.head.exitStatus, profile.head.status);
        return profile;
      } catch (error) {
        if (isProfileError(error)) throw new Error(`${file}: ${error.why}`);
        throw error;
      }
    },
    build: (profile) => buildModel(profile, { compensate: !raw }),
    difference,
    source: (path) => {
      const status = statSync(path, { throwIfNoEntry: false });
      if (!status?.isFile()) return { file: path, error: `${path} is not on this machine` };
      if (status.size > 16 * 1024 * 1024) return { file: path, error: `${path} is too large to show` };
      return { file: path, lines: textOf(path).split('\n') };
    },
    write: () => {
      const target = `${basename(file).replace(/\.quartz$/, '')}-${new Date().toISOString().replace(/[-:]/g, '').slice(0, 15)}.quartz`;
      saveProfile(file, target);
      return target;
    },
    ended: () => {
      if (ended === null && recording !== null && recording.status !== null) ended = recording.status === 0 ? 'the program has ended' : `ended with status ${recording.status}`;
      return ended;
    },
  };
}

function endOf(reason: string, status: number, profile: string): string {
  if (profile === 'abandoned') return 'the sampler was killed';
  switch (reason) {
    case 'exit': return `exited with status ${status}`;
    case 'signal': return `killed by ${Object.entries(constants.signals).find(([, number]) => number === status)?.[0] ?? `signal ${status}`}`;
    case 'disk-full': return 'recording ended: the disk is full';
    case 'exec': return 'replaced by another program (exec)';
    default: return 'recording ended';
  }
}

/** Starts the sampler in a process group of its own: the terminal's keys are the screen's. */
function start(file: string, log: string, args: readonly string[]): Recording {
  const out = openSync(log, 'w', 0o600);
  const child = spawn(samplerPath(), args, { stdio: ['ignore', out, out], detached: true });
  closeSync(out);
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

async function live(args: Arguments, file: string, sampler: readonly string[], owned: boolean): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'quartz-'));
  const log = join(folder, 'output');
  const since = Date.now() - 1000;
  const recording = start(file, log, sampler);
  const interrupt = (): void => { void stop(recording, owned); };
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => { fail = reject; });
  failed.catch(() => undefined);
  process.on('SIGINT', interrupt);
  process.on('uncaughtException', fail);
  try {
    if (!await Promise.race([firstSnapshot(recording, since), failed])) {
      process.stderr.write(textOf(log));
      return recording.status ?? 125;
    }
    process.off('SIGINT', interrupt);
    await screen(args, new Watch(hostOf(file, recording, args.has('raw'))), owned);
    if (recording.status === null) await stop(recording, owned);
    const output = textOf(log);
    if (output !== '') process.stderr.write(output);
    process.stderr.write(`quartz: the profile is ${file}; see it with: quartz report ${file}\n`);
    return recording.status ?? 0;
  } catch (error) { // the screen has failed: nobody is left to end what was started for it
    await stop(recording, owned);
    throw error;
  } finally {
    process.off('SIGINT', interrupt);
    process.off('uncaughtException', fail);
    rmSync(folder, { recursive: true, force: true });
  }
}

const refreshOf = (args: Arguments): number => wholeNumber(args, 'refresh', 100, 60_000) ?? 1000;

async function screen(args: Arguments, watch: Watch, owned: boolean): Promise<void> {
  const { ascii, colour } = display(args);
  await show(watch, { ascii, colour, refreshMs: refreshOf(args), owned, onQuit: () => undefined });
}

export const command: Command = {
  name: 'top',
  usage: '[options] -- PROGRAM ARGUMENTS | -p PID | [FILE]',
  about: 'Shows where the parallelism goes, while the program runs. What the program prints is shown when the screen ends.\n'
    + 'Keys: ? for help, q to quit.',
  examples: [
    ['quartz top -- ./prog input.txt', 'start a program and watch it'],
    ['quartz top -p 4711', 'watch a program that runs already'],
    ['quartz top prog.quartz', 'look at a profile, also while it is recorded'],
  ],
  options: [
    ...recordingOptions, childrenOption,
    { name: 'pid', short: 'p', value: 'PID', help: 'watch that process' },
    { name: 'refresh', value: 'MS', help: 'time between refreshes (1000; longer where a refresh is dear)' },
    { name: 'raw', help: 'numbers as measured: the cost of the hooks is not taken out' },
    { name: 'ascii', help: 'no characters beyond ASCII (the default where the locale is not UTF-8)' },
  ],
  program: true,
  run: async (args) => {
    if (!process.stdin.isTTY || !process.stdout.isTTY) throw usage('the live screen needs a terminal', 'use: quartz run -- PROGRAM, or quartz report FILE');
    if ((process.env['TERM'] ?? 'dumb') === 'dumb') throw usage('the live screen needs a terminal that can move its cursor (TERM is dumb or not set)', 'use: quartz run -- PROGRAM, or quartz report FILE');
    refreshOf(args); // a wrong one is told before anything starts
    const pid = args.value('pid');
    const [word] = args.words;
    if (pid !== undefined) {
      if (!/^[1-9]\d*$/.test(pid)) throw usage(`"${pid}" is not a process id`, 'write: quartz top -p PID');
      const file = args.value('output') ?? `${pid}.quartz`;
      return live(args, file, ['attach', ...samplerOptions(args), '-o', file, pid], false);
    }
    if (word === undefined) throw usage('there is nothing to watch', 'write: quartz top -- PROGRAM ARGUMENTS, quartz top -p PID, or quartz top FILE');
    if (!args.dashes && args.words.length === 1 && word.endsWith('.quartz')) {
      const status = statSync(word, { throwIfNoEntry: false });
      if (!status) throw new Failure(`${word} does not exist`, 'name a profile, or start a program with: quartz top -- PROGRAM');
      try {
        await screen(args, new Watch(hostOf(word, null, args.has('raw'))), false);
        return 0;
      } catch (error) {
        if (isProfileError(error)) throw new Failure(`${word}: ${error.why}`, remedyOf(error.why));
        throw error;
      }
    }
    const file = args.value('output') ?? `${basename(word)}.quartz`;
    return live(args, file, ['record', ...samplerOptions(args), '-o', file, '--', ...args.words], true);
  },
};
