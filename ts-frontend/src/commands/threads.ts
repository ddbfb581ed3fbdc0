/** quartz threads: shows the view "threads" of a profile. */
import type { Command } from '../cli/command.js';
import { formatOptions } from '../cli/options.js';

export const command: Command = {
  name: 'threads',
  usage: '[FILE] [options]',
  about:
    'Shows threads by normalized processor time, and what each spent its time on. docs/reference/report.md ' +
    'explains every column.\n' +
    'Without FILE: the newest *.quartz in this directory.',
  examples: [
    ['quartz threads', 'the newest profile in this directory'],
    ['quartz threads prog.quartz --csv > threads.csv', 'for a spreadsheet'],
  ],
  options: formatOptions,
  most: 1,
  run: async (args) => (await import('../cli/show/show.js')).show(args, 'threads', args.words[0]),
};
