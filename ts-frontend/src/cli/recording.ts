/** What the commands that record have in common: the sampler's options, and running it. */
import { wholeNumber, type Arguments, type Option } from './command.js';
import { runChild } from './child.js';
import { usage } from './failure.js';
import { samplerPath } from './files.js';

export const recordingOptions: readonly Option[] = [
  { name: 'output', short: 'o', value: 'FILE', help: 'the profile to write' },
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
  if (output !== undefined) list.push('-o', output);
  for (const name of ['rate', 'cpu', 'threads', 'max-size', 'seconds']) {
    const value = args.value(name);
    if (value !== undefined) list.push(`--${name}`, value);
  }
  for (const name of ['children', 'quiet']) if (args.has(name)) list.push(`--${name}`);
  return list;
}

export function recordProgram(args: Arguments): Promise<number> {
  if (args.words.length === 0) throw usage('there is no program to record', 'write: quartz record -- PROGRAM ARGUMENTS');
  return runChild(samplerPath(), ['record', ...samplerOptions(args), '--', ...args.words]);
}

export function attachTo(pid: string, args: Arguments): Promise<number> {
  return runChild(samplerPath(), ['attach', ...samplerOptions(args), pid]);
}
