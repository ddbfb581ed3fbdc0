/** What all recording commands share: the sampler's options, and running the sampler. */
import { existsSync } from 'node:fs';
import type { Arguments } from '../command.js';
import { runChild, runSampler, statusOf, waitForProcess } from './child.js';
import { exitCodes, usage } from '../failure.js';
import { samplerPath } from '../files.js';
import { optionNames, options, type OptionName } from '../options.js';
import { defined } from '../../model/index.js';

/** The options to pass on to the sampler, except those in `but`. */
export const samplerOptions = (args: Arguments, but: readonly OptionName[] = []): string[] =>
  optionNames
    .filter((name) => options[name].sampler !== undefined && args.has(name) && !but.includes(name))
    .flatMap((name) => {
      const { kind, repeated } = options[name];
      if (kind === 'switch') return [`--${name}`];
      const values = repeated === true ? args.texts(name) : [defined(args.text(name))];
      return values.flatMap((value) => [`--${name}`, value]);
    });

export async function recordProgram(args: Arguments): Promise<number> {
  if (args.words.length === 0)
    throw usage('there is no program to record', 'write: quartz record -- PROGRAM ARGUMENTS');
  return (await recordNamed(args)).status;
}

/** The last name in the output of a sampler that was started with `--tell`. */
export const nameIn = (reported: string): string | undefined => reported.split('\n').at(-2);

/** The profile that exists by what the sampler has written; undefined if there is none. */
export function profileIn(reported: string): string | undefined {
  const file = nameIn(reported);
  return file !== undefined && existsSync(file) ? file : undefined;
}

/**
 * Like recordProgram, but also returns the profile's name; undefined if there is none, in which case the sampler has
 * printed the reason.
 */
export async function recordNamed(args: Arguments): Promise<{ status: number; file: string | undefined }> {
  let reported = '';
  const ended = await runSampler(
    samplerPath(),
    ([messageFd]) => ['record', '--tell', String(messageFd), ...samplerOptions(args), '--', ...args.words],
    [
      (text) => {
        reported += text;
      },
    ],
  );
  const made = profileIn(reported);
  return { status: ended.signal === null ? statusOf(ended) : await withoutSampler(ended.signal, made), file: made };
}

/** After the sampler was killed: waits for the program, whose process ID is in the profile. Returns the exit status. */
export async function withoutSampler(signal: string, file: string | undefined): Promise<number> {
  const say = (what: string): void => {
    process.stderr.write(`quartz: the sampler was ended by ${signal}; ${what}\n`);
  };
  if (file === undefined) {
    say('there is no profile yet that names the program: if it still runs, nobody waits for it');
    return exitCodes.failed;
  }
  const { openProfile } = await import('../../reader/profile.js');
  let goesOn = false;
  await waitForProcess(openProfile(file, { symbolize: false }).head.pid, () => {
    goesOn = true;
    say('the program runs on unsampled, and quartz waits for it; its exit status will not be known');
  });
  if (!goesOn) say('the program has ended, its exit status is not known');
  return exitCodes.failed;
}

export function attachTo(pid: string, args: Arguments): Promise<number> {
  return runChild(samplerPath(), ['attach', ...samplerOptions(args), pid]);
}
