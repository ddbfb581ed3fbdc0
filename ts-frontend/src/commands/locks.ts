/** quartz locks: shows the view "locks" of a profile. */
import type { Command } from '../cli/command.js';
import { formatOptions } from '../cli/options.js';

export const command: Command = {
  name: 'locks',
  usage: '[FILE] [options]',
  about:
    'Shows synchronization objects by the time that threads waited for them: how often, how long,\nwho waited, who ' +
    'held them.\nWithout FILE: the newest *.quartz here.\ndocs/reference/report.md explains every column.',
  examples: [
    ['quartz locks', 'the newest profile in this directory'],
    ['quartz locks prog.quartz --csv > locks.csv', 'for a spreadsheet'],
  ],
  options: formatOptions,
  most: 1,
  run: async (args) => (await import('../cli/show/show.js')).show(args, 'locks', args.words[0]),
};
