/** quartz tree: shows the report on a program and all processes that descend from it. */
import type { Command } from '../cli/command.js';

export const command: Command = {
  name: 'tree',
  usage: '[FILE] [options]',
  about:
    'Shows what limits a program and all processes that descend from it, as recorded by quartz run --tree. ' +
    'docs/reference/trees.md explains every number.\n' +
    'Without FILE: the newest *.quartztree in this directory.',
  examples: [
    ['quartz tree', 'the newest tree in this directory'],
    ['quartz run --tree -- make -j4', 'record a tree, then report'],
    ['quartz tree make.quartztree --json', 'for other programs'],
  ],
  options: ['json', 'top', 'width', 'ascii'],
  most: 1,
  run: async (args) => (await import('../cli/show/show-tree.js')).showTree(args, args.words[0]),
};
