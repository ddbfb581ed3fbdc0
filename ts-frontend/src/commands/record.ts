/**
 * quartz record: runs a program under the sampler. In simple cases bin/quartz starts the sampler itself, without
 * Node.js.
 */
import type { Command } from '../cli/command.js';
import { recordingOptions } from '../cli/options.js';
import { recordProgram } from '../cli/run/recording.js';

export const command: Command = {
  name: 'record',
  usage: '[options] -- PROGRAM ARGUMENTS',
  about:
    'Runs a program and writes its profile. Ctrl-C ends the recording and keeps the profile. The exit status is ' +
    `the program's. The program may use pthreads or the thread package; see "quartz cflags" and "quartz libs".`,
  examples: [
    ['quartz record -- ./prog input.txt', 'record into prog.quartz'],
    ['quartz record -o slow.quartz -- ./prog -n 8', 'name the profile'],
    ['quartz record --rate 20000 --cpu 7 -- ./prog', 'a higher sampling rate, with the sampler on CPU 7'],
  ],
  options: [...recordingOptions, 'rotate', 'keep', 'children', 'tree', 'no-follow'],
  program: true,
  run: recordProgram,
};
