/** quartz locks: shows the view "locks" of a profile. */
import type { Command } from '../cli/command.js';
import { formatOptions } from '../cli/options.js';

export const command: Command = {
  name: 'locks',
  usage: '[FILE] [options]',
  about:
    'Shows synchronization objects by the time that threads waited for them: how often, how long, who waited, and ' +
    'who held them. docs/reference/report.md explains every column.\n' +
    'Without FILE: the newest *.quartz in this directory.',
  examples: [
    ['quartz locks', 'the newest profile in this directory'],
    ['quartz locks prog.quartz --csv > locks.csv', 'for a spreadsheet'],
  ],
  options: formatOptions,
  most: 1,
  run: async (args) => (await import('../cli/show/show.js')).show(args, 'locks', args.words[0]),
};
