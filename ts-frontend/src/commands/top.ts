/**
 * quartz top: shows the live screen for a program that it starts, a running program, a profile, or a set of profiles.
 */
import { statSync } from 'node:fs';
import type { Command } from '../cli/command.js';
import { Failure, usage } from '../cli/failure.js';
import { live } from '../cli/run/live.js';
import { recordingOptions } from '../cli/options.js';
import { samplerOptions } from '../cli/run/recording.js';
import { faultOf, isProfileError } from '../reader/profile.js';
import { isSetName, readHead } from '../sets/set-file.js';

export const command: Command = {
  name: 'top',
  usage: '[options] -- PROGRAM ARGUMENTS | -p PID | FILE | SET',
  about:
    "Shows what limits the program while it runs. The program's output is shown when the screen ends. Keys: ? for " +
    'help, q to quit.',
  examples: [
    ['quartz top -- ./prog input.txt', 'start a program and watch it'],
    ['quartz top -p 4711', 'watch a program that is already running'],
    ['quartz top prog.quartz', 'show a profile, even while it is being recorded'],
    ['quartz top run.quartzset', 'show the ranks of a set as a map; Enter opens one'],
  ],
  options: [...recordingOptions, 'children', 'no-follow', 'pid', 'refresh', 'raw', 'ascii'],
  program: true,
  run: async (args) => {
    if (!process.stdin.isTTY || !process.stdout.isTTY)
      throw usage('the live screen needs a terminal', 'use: quartz run -- PROGRAM, or quartz report FILE');
    if ((process.env['TERM'] ?? 'dumb') === 'dumb')
      throw usage(
        'the live screen needs a terminal that can move its cursor (TERM is dumb or not set)',
        'use: quartz run -- PROGRAM, or quartz report FILE',
      );
    const refreshMs = args.number('refresh') ?? 1000;
    const pid = args.text('pid');
    const [word] = args.words;
    if (pid !== undefined) return live(args, ['attach', ...samplerOptions(args), pid], refreshMs, false);
    if (word === undefined)
      throw usage(
        'there is nothing to watch',
        'write: quartz top -- PROGRAM ARGUMENTS, quartz top -p PID, or quartz top FILE',
      );
    if (!args.dashes && args.words.length === 1 && word.endsWith('.quartz')) {
      const status = statSync(word, { throwIfNoEntry: false });
      if (!status)
        throw new Failure(`${word} does not exist`, 'name a profile, or start a program with: quartz top -- PROGRAM');
      try {
        await (await import('../cli/run/watch.js')).watch(args, () => word, null, refreshMs, false);
        return 0;
      } catch (error) {
        if (isProfileError(error))
          throw new Failure(`${word}: ${error.why}`, (await import('../cli/profile.js')).faultRemedies[faultOf(error)]);
        throw error;
      }
    }
    if (!args.dashes && args.words.length === 1 && isSetName(word)) {
      const head = readHead(word);
      if (typeof head === 'string') throw new Failure(`${word} ${head}`, 'name a set that quartz merge has made');
      await (await import('../cli/run/watch-set.js')).watchSet(args, word, head, refreshMs);
      return 0;
    }
    return live(args, ['record', ...samplerOptions(args), '--', ...args.words], refreshMs, true);
  },
};
