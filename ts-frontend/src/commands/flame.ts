/** quartz flame: shows an icicle graph in the terminal. */
import type { Command } from '../cli/command.js';
import { displayOptions } from '../cli/options.js';

export const command: Command = {
  name: 'flame',
  usage: '[FILE] [--focus NAME] [options]',
  about:
    'Shows calling contexts from the top down, in the terminal. The width of a bar is the elapsed time (NPT) that ' +
    'the context accounts for; its colour shows how few processors were busy at the time. With --focus: only one ' +
    'procedure or object, merged over its callers. docs/reference/views.md explains the graph; quartz html has ' +
    'the same with zoom and search.\n' +
    'Without FILE: the newest *.quartz in this directory.',
  examples: [
    ['quartz flame', 'the newest profile in this directory'],
    ['quartz flame --focus work', 'what work calls, and what that calls'],
    ['quartz flame --top 0', 'all rows, however deep'],
  ],
  options: ['focus', 'raw', ...displayOptions],
  most: 1,
  run: async (args) => (await import('../cli/show/show.js')).showFlame(args, args.words[0]),
};
