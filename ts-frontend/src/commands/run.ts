/** quartz run: record, then report. */
import { statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Arguments, Command } from '../cli/command.js';
import { tell, usage } from '../cli/failure.js';
import { childrenOption, recordProgram, recordingOptions } from '../cli/recording.js';
import { formatOf, formatOptions } from '../cli/format-options.js';

const stamp = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** The arguments with the file named, so that the report reads what was written. */
const into = (args: Arguments, file: string): Arguments => ({ ...args, value: (name) => (name === 'output' ? file : args.value(name)) });

export const command: Command = {
  name: 'run',
  usage: '[options] -- PROGRAM ARGUMENTS',
  about: 'Runs a program under the sampler, then shows the report. The exit status is the program\'s.',
  examples: [
    ['quartz run -- ./prog input.txt', 'record into prog.quartz, and report'],
    ['quartz run --focus main -- ./prog', 'then show main by busy processors'],
  ],
  options: [...recordingOptions, childrenOption, { name: 'focus', value: 'NAME', help: 'report on one procedure, lock or thread' }, ...formatOptions],
  program: true,
  run: async (args) => {
    const [program] = args.words;
    if (program === undefined) throw usage('there is no program to run', 'write: quartz run -- PROGRAM ARGUMENTS');
    formatOf(args);
    const file = args.value('output') ?? `${basename(program)}.quartz`;
    const before = stamp(file);
    const status = await recordProgram(into(args, file));
    const after = stamp(file);
    if (after === 0 || after === before) return status; // nothing was recorded; the sampler has said why
    try {
      await (await import('../cli/show.js')).show(args, 'procedures', file);
    } catch (error) {
      const code = tell(error);
      return status === 0 ? code : status;
    }
    return status;
  },
};
