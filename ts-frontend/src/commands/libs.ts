/** quartz libs: linker flags for a program that uses the thread package. */
import { join } from 'node:path';
import type { Command } from '../cli/command.js';
import { runChild } from '../cli/run/child.js';
import { root } from '../cli/files.js';

export const command: Command = {
  name: 'libs',
  usage: '[options]',
  about: 'Prints the flags to link a program with the thread package.',
  examples: [
    ['cc -o prog prog.o $(quartz libs)', "link with Quartz's threads"],
    ['./configure CFLAGS="-O2 -g $(quartz cflags)" LIBS="$(quartz libs)"', 'the same by a configure script'],
  ],
  options: ['shared', 'quoted'],
  run: (args) =>
    runChild(join(root, 'scripts/quartz-flags'), [
      'libs',
      ...(['shared', 'quoted'] as const).filter((name) => args.has(name)).map((name) => `--${name}`),
    ]),
};
