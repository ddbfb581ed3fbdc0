/** quartz cflags: compiler flags for a program that is to be profiled. */
import { join } from 'node:path';
import type { Command } from '../cli/command.js';
import { runChild } from '../cli/child.js';
import { root } from '../cli/files.js';

export const command: Command = {
  name: 'cflags',
  usage: '',
  about: 'Prints the flags to compile a program with, so that its procedures show in reports: the best for the compiler\n'
    + 'that the variable CC names (default cc). docs/getting-started.md shows them in a Makefile and in CMake.',
  examples: [
    ['cc -O2 $(quartz cflags) -c prog.c', 'compile'],
    ['CC=clang quartz cflags', 'for another compiler'],
  ],
  options: [],
  run: () => runChild(join(root, 'scripts/quartz-flags'), ['--cflags']),
};
