/** quartz flame: shows an icicle graph in the terminal. */
import type { Command } from '../cli/command.js';
import { displayOptions } from '../cli/options.js';

export const command: Command = {
  name: 'flame',
  usage: '[FILE] [--focus NAME] [options]',
  about:
    'Shows calling contexts from the top down; width is the elapsed time (NPT) that a context accounts for, colour\n' +
    'is how few processors were busy meanwhile. --focus: only one procedure or object, merged over its callers.\n' +
    'Without FILE: the newest *.quartz here.\n' +
    'docs/reference/views.md explains it; quartz html has the same with zoom and search.',
  examples: [
    ['quartz flame', 'the newest profile in this directory'],
    ['quartz flame --focus work', 'what work calls, and what that calls'],
    ['quartz flame --top 0', 'all rows, however deep'],
  ],
  options: ['focus', 'raw', ...displayOptions],
  most: 1,
  run: async (args) => (await import('../cli/show/show.js')).showFlame(args, args.words[0]),
};
