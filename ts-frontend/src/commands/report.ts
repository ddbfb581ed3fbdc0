/** quartz report: what limits the program, then one view of its profile. */
import type { Command } from '../cli/command.js';
import { usage } from '../cli/failure.js';
import { didYouMean } from '../cli/nearest.js';
import { formatOptions } from '../cli/format-options.js';
import { views, type View } from '../render/format/options.js';

const isView = (word: string): word is View => (views as readonly string[]).includes(word);

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
  options: [
    { name: 'view', value: 'VIEW', help: 'procedures (the default), locks or threads' },
    { name: 'focus', value: 'NAME', help: 'one procedure, lock or thread: when it ran, with whom, its children' },
    ...formatOptions,
  ],
  most: 1,
  run: async (args) => {
    const view = args.value('view') ?? 'procedures';
    if (!isView(view))
      throw usage(`there is no view "${view}"`, didYouMean(view, views, `choose one of: ${views.join(', ')}`));
    return (await import('../cli/show.js')).show(args, view, args.words[0]);
  },
};
