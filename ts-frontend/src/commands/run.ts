/** quartz run: records a program, then reports. */
import type { Command } from '../cli/command.js';
import { reportFailure, usage } from '../cli/failure.js';
import { formatOptions, recordingOptions } from '../cli/options.js';
import { recordNamed } from '../cli/run/recording.js';

export const command: Command = {
  name: 'run',
  usage: '[options] -- PROGRAM ARGUMENTS',
  about: "Runs a program under the sampler, then shows the report. The exit status is the program's.",
  examples: [
    ['quartz run -- ./prog input.txt', 'record into prog.quartz, and report'],
    ['quartz run --focus main -- ./prog', 'then show main by busy processors'],
    ['quartz run --tree -- make -j4', 'one report on all processes that descend from make'],
    ['quartz run --measure -- ./prog', 'measure the cost of recording, in alternating runs with and without it'],
    ["quartz run --try 'OMP_NUM_THREADS=2' -- ./prog", 'measure what that change gains'],
    ['quartz run --runs 10 -- ./prog', 'do ten runs agree? are some slow?'],
  ],
  options: [...recordingOptions, 'children', 'tree', 'no-follow', 'measure', 'try', 'runs', 'focus', ...formatOptions],
  program: true,
  run: async (args) => {
    const [program] = args.words;
    if (program === undefined) throw usage('no program is given', 'write: quartz run -- PROGRAM ARGUMENTS');
    if (args.has('measure') || args.has('try') || args.has('runs'))
      return (await import('../cli/run/experiment.js')).experiment(args);
    const { status, file } = await recordNamed(args);
    if (file === undefined) return status;
    try {
      if (args.has('tree')) await (await import('../cli/show/show-tree.js')).showTree(args, file);
      else await (await import('../cli/show/show.js')).show(args, 'procedures', file);
    } catch (error) {
      const code = reportFailure(error);
      return status === 0 ? code : status;
    }
    return status;
  },
};
