/** quartz cflags: compiler flags for a program to be profiled. */
import type { Command } from '../cli/command.js';
import { quartzFlags } from '../cli/run/flags.js';
import { defined } from '../model/index.js';

export const command: Command = {
  name: 'cflags',
  usage: '[options]',
  about:
    'Prints the compiler flags that add hooks to a program: then calls are counted, and call paths are exact. ' +
    'docs/guide/getting-started.md shows how to use them with Make, CMake and configure scripts.',
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
