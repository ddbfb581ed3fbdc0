/** quartz path: shows the critical path of a run: which thread ended which wait, and where the time was spent. */
import type { Command } from '../cli/command.js';
import { formatOptions } from '../cli/options.js';

export const command: Command = {
  name: 'path',
  usage: '[FILE] [options]',
  about:
    'Shows the critical path of a recorded run: from its end, back through what ended each wait (creation, join, ' +
    'condition, semaphore, barrier, lock, ...), to its beginning. Only what is on this path can make the run ' +
    'shorter. docs/reference/path.md explains every column.\n' +
    'Without FILE: the newest *.quartz in this directory.',
  examples: [
    ['quartz path', 'the newest profile in this directory'],
    ['quartz path prog.quartz --top 0', 'all segments'],
    ['quartz path --span', 'run times on other numbers of processors; needs record --span'],
    ['quartz path --json | jq .segments', 'for programs'],
    ['quartz path --span --csv --table sites', 'work and span of each spawn site, for a spreadsheet'],
  ],
  options: ['path-span', 'path-table', ...formatOptions],
  most: 1,
  run: async (args) => (await import('../cli/show/show-path.js')).showPath(args, args.words[0]),
};
