/** quartz libs: linker flags for a program that uses the thread package. */
import type { Command } from '../cli/command.js';
import { quartzFlags } from '../cli/run/flags.js';

export const command: Command = {
  name: 'libs',
  usage: '[options]',
  about: 'Prints the linker flags for a program that uses the thread package.',
  examples: [
    ['cc -o prog prog.o $(quartz libs)', "link with Quartz's threads"],
    ['./configure CFLAGS="-O2 -g $(quartz cflags)" LIBS="$(quartz libs)"', 'the same with a configure script'],
  ],
  options: ['shared', 'quoted'],
  run: (args) =>
    quartzFlags([
      'libs',
      ...(['shared', 'quoted'] as const).filter((name) => args.has(name)).map((name) => `--${name}`),
    ]),
};
