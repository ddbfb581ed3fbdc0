/** quartz cflags: compiler flags for a program that is to be profiled. */
import type { Command } from '../cli/command.js';
import { quartzFlags } from '../cli/run/flags.js';
import { defined } from '../model/index.js';

export const command: Command = {
  name: 'cflags',
  usage: '[options]',
  about:
    'Prints the flags to compile a program with, so that its procedures show in reports.\n' +
    'docs/guide/getting-started.md shows them in a Makefile, in CMake and for configure scripts.',
  examples: [
    ['cc -O2 $(quartz cflags) -c prog.c', 'compile'],
    ['quartz cflags --cc clang', 'for another compiler'],
  ],
  options: ['cc', 'hooks', 'quoted'],
  run: (args) =>
    quartzFlags([
      'cflags',
      ...(['cc', 'hooks'] as const).flatMap((name) => (args.has(name) ? [`--${name}`, defined(args.text(name))] : [])),
      ...(args.has('quoted') ? ['--quoted'] : []),
    ]),
};
