/** One run of an experiment. Its times are the kernel's, measured in the same way with Quartz and without. */
import { closeSync } from 'node:fs';
import type { ProgramStart, RunTimes } from '../../model/index.js';
import { runSampler, statusOf } from './child.js';
import { samplerPath } from '../files.js';
import { profileIn } from './recording.js';
import { withInput } from './replayed-input.js';
import { textOf, unnamedFile } from '../unnamed-file.js';

export interface TimedRun {
  status: number;
  times: RunTimes | null; // null if it was not started or its end was not observed
  file: string | undefined; // the profile, if one was recorded
  said: string; // stderr of a run whose output was hidden
}
export interface RunOptions {
  record: readonly string[] | null; // the sampler's options; null: run without Quartz
  shown: boolean; // whether the run writes to the user's terminal; otherwise its output is discarded
}

function timesIn(said: string): RunTimes | null {
  const numbers = said.trim().split(' ').map(Number);
  const [elapsedNs, userNs, systemNs] = numbers;
  return elapsedNs === undefined || userNs === undefined || systemNs === undefined
    ? null
    : { elapsedNs, userNs, systemNs };
}

/** Runs a program once. Termination signals for this process are forwarded to it. */
export async function timedRun(start: ProgramStart, { record, shown }: RunOptions): Promise<TimedRun> {
  let name = '',
    account = '';
  const log = shown ? null : unnamedFile();
  try {
    const ended = await withInput((input) =>
      runSampler(
        samplerPath(),
        ([accountFd, nameFd]) => [
          ...['record', '--account', String(accountFd)],
          ...(record === null ? ['--plain'] : ['--tell', String(nameFd), ...record]),
          ...['--', ...start.words],
        ],
        [
          (text) => {
            account += text;
          },
          (text) => {
            name += text;
          },
        ],
        {
          streams: [input, log === null ? 'inherit' : 'ignore', log ?? 'inherit'],
          environment: start.environment,
        },
      ),
    );
    return {
      status: statusOf(ended),
      times: timesIn(account),
      file: profileIn(name),
      said: log === null ? '' : textOf(log),
    };
  } finally {
    if (log !== null) closeSync(log);
  }
}
