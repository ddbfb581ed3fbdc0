/** quartz attach: records a program that is already running. */
import type { Command } from '../cli/command.js';
import { usage } from '../cli/failure.js';
import { recordingOptions } from '../cli/options.js';
import { attachTo } from '../cli/run/recording.js';

export const command: Command = {
  name: 'attach',
  usage: '[options] PID',
  about:
    'Records a running program until it ends or Ctrl-C is pressed; the program then runs on at full speed. The ' +
    'program must run as your user; it needs no preparation.\n' +
    'Waits are counted exactly if the program contains Quartz (the thread package, or the pthread layer and ' +
    'QUARTZ_ATTACH=1); otherwise they are sampled from outside.',
  examples: [
    ['quartz attach 4711', 'record process 4711 until Ctrl-C'],
    ['quartz attach --seconds 10 4711', 'record it for ten seconds'],
    ['quartz attach -o server.quartz $(pidof server)', 'name the profile'],
  ],
  options: [...recordingOptions, 'rotate', 'keep', 'seconds', 'pid'],
  most: 1,
  run: (args) => {
    const [word] = args.words;
    const pid = args.text('pid') ?? word;
    if (word !== undefined && word !== pid) throw usage('two processes are named', 'write: quartz attach PID');
    if (pid === undefined) throw usage('there is no process to attach to', 'write: quartz attach PID');
    if (!/^[1-9]\d*$/.test(pid)) throw usage(`"${pid}" is not a process id`, 'write: quartz attach PID');
    return attachTo(pid, args);
  },
};
