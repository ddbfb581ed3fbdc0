/** quartz report: what limits the program, then one view of its profile. */
import type { Command } from '../cli/command.js';
import { formatOptions } from '../cli/options.js';
import type { View } from '../render/format/options.js';

export const command: Command = {
  name: 'report',
  usage: '[FILE] [--view VIEW] [--focus NAME] [options]',
  about:
    'Shows a profile: first what limits the program, then a table. Without FILE: the newest *.quartz here.\n' +
    'docs/reference/report.md explains every column.',
  examples: [
    ['quartz report', 'the newest profile in this directory'],
    ['quartz report prog.quartz --top 50', 'the first 50 rows'],
    ['quartz report --view locks', 'synchronization objects (same as: quartz locks)'],
    ['quartz report --focus main', 'main by busy processors, divided among its children'],
    ['quartz report --json | jq .findings', 'for programs'],
  ],
  options: ['view', 'focus', ...formatOptions],
  most: 1,
  run: async (args) => {
    const view = (args.text('view') ?? 'procedures') as View;
    return (await import('../cli/show.js')).show(args, view, args.words[0]);
  },
};
