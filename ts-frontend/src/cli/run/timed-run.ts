/** One run of an experiment: started, and timed by the kernel's count, in the same way with Quartz and without. */
import { closeSync } from 'node:fs';
import type { ProgramStart, RunTimes } from '../../model/index.js';
import { runSampler, statusOf } from './child.js';
import { samplerPath } from '../files.js';
import { profileIn } from './recording.js';
import { withInput } from './replayed-input.js';
import { textOf, unnamedFile } from '../unnamed-file.js';

export interface TimedRun {
  status: number;
  times: RunTimes | null; // null: it was not started, or nobody saw it end
  file: string | undefined; // its profile
  said: string; // on stderr, where nobody saw it
}
export interface RunOptions {
  record: readonly string[] | null; // the sampler's options; null: without Quartz
  shown: boolean; // its output is; else nobody sees it
}

function timesIn(said: string): RunTimes | null {
  const numbers = said.trim().split(' ').map(Number);
  const [elapsedNs, userNs, systemNs] = numbers;
  return elapsedNs === undefined || userNs === undefined || systemNs === undefined
    ? null
    : { elapsedNs, userNs, systemNs };
}

/** Runs a program once. Signals that ask this process to end reach it. */
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
