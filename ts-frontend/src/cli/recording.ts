/** What the commands that record have in common: the sampler's options, and running it. */
import { existsSync } from 'node:fs';
import { wholeNumber, type Arguments, type Option } from './command.js';
import { runChild, runSampler, statusOf, waitForStranger } from './child.js';
import { exitCodes, usage } from './failure.js';
import { samplerPath } from './files.js';

export const recordingOptions: readonly Option[] = [
  {
    name: 'output',
    short: 'o',
    value: 'FILE',
    help: 'the profile to write; %r is the rank, %h host, %p process, %j job, %n program',
  },
  { name: 'rate', value: 'HZ', help: 'snapshots a second (10000 on a CPU of its own, else 1000)' },
  { name: 'cpu', value: 'N', help: 'CPU to sample on' },
  { name: 'threads', value: 'N', help: 'sampling threads' },
  { name: 'max-size', value: 'SIZE', help: 'largest size of a profile, with K, M or G (1G)' },
  { name: 'quiet', short: 'q', help: 'no line about rate and cost at the end' },
];
export const childrenOption: Option = { name: 'children', help: 'record processes that the program starts, too' };

/** The sampler's own options for what was asked. */
export function samplerOptions(args: Arguments): string[] {
  const rate = args.value('rate');
  if (rate !== undefined && !(Number(rate) > 0 && Number(rate) <= 1e6)) {
    throw usage(`--rate ${rate} is not a rate`, 'give snapshots a second, above 0 and at most 1000000');
  }
  wholeNumber(args, 'cpu', 0, 65_535);
  wholeNumber(args, 'threads', 1, 64);
  const list: string[] = [];
  const output = args.value('output');
  const [unknown] = /%.?/.exec((output ?? '').replace(/%[nrhpj%]/g, '')) ?? [];
  if (unknown !== undefined)
    throw usage(`-o: "${unknown}" is not known`, 'after % write one of n, r, h, p, j, or another %');
  if (output !== undefined) list.push('-o', output);
  for (const name of ['rate', 'cpu', 'threads', 'max-size', 'seconds']) {
    const value = args.value(name);
    if (value !== undefined) list.push(`--${name}`, value);
  }
  for (const name of ['children', 'quiet']) if (args.has(name)) list.push(`--${name}`);
  return list;
}

export async function recordProgram(args: Arguments): Promise<number> {
  if (args.words.length === 0)
    throw usage('there is no program to record', 'write: quartz record -- PROGRAM ARGUMENTS');
  return (await recordNamed(args)).status;
}

/** The last of the lines in which a sampler with `--tell` says how the profile is called. */
export const nameIn = (told: string): string | undefined => told.split('\n').at(-2);

/** The same as recordProgram, with the profile's name; undefined: there is none, and the sampler has said why. */
export async function recordNamed(args: Arguments): Promise<{ status: number; file: string | undefined }> {
  let told = '';
  const options = samplerOptions(args);
  const ended = await runSampler(
    samplerPath(),
    (tellFd) => ['record', '--tell', String(tellFd), ...options, '--', ...args.words],
    (text) => {
      told += text;
    },
  );
  const file = nameIn(told);
  const made = file !== undefined && existsSync(file) ? file : undefined;
  return { status: ended.signal === null ? statusOf(ended) : await withoutSampler(ended.signal, made), file: made };
}

/** The sampler was killed: waits for the program, which the profile names. The status for that. */
async function withoutSampler(signal: string, file: string | undefined): Promise<number> {
  const say = (what: string): void => {
    process.stderr.write(`quartz: the sampler was ended by ${signal}; ${what}\n`);
  };
  if (file === undefined) {
    say('there is no profile yet that names the program: if it still runs, nobody waits for it');
    return exitCodes.failed;
  }
  const { openProfile } = await import('../reader/profile.js');
  let goesOn = false;
  await waitForStranger(openProfile(file, { symbolize: false }).head.pid, () => {
    goesOn = true;
    say('the program runs on unsampled, and quartz waits for it; its exit status will not be known');
  });
  if (!goesOn) say('the program has ended, its exit status is not known');
  return exitCodes.failed;
}

export function attachTo(pid: string, args: Arguments): Promise<number> {
  return runChild(samplerPath(), ['attach', ...samplerOptions(args), pid]);
}
