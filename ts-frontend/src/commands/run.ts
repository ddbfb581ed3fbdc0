/** quartz run: records a program, then reports. */
import type { Arguments, Command } from '../cli/command.js';
import { beforeProgram } from '../cli/destination.js';
import { reportFailure, usage } from '../cli/failure.js';
import { formatOptions, recordingOptions } from '../cli/options.js';
import { recordNamed } from '../cli/run/recording.js';

async function report(args: Arguments, file: string): Promise<void> {
  const { showModel } = await import('../cli/show/show.js');
  const { loadModel } = await import('../cli/profile.js');
  await showModel(args, 'procedures', loadModel(file, { raw: args.has('raw') }));
}

export const command: Command = {
  name: 'run',
  usage: '[options] -- PROGRAM ARGUMENTS',
  about: "Runs a program under the sampler, then shows the report. The exit status is the program's.",
  examples: [
    ['quartz run -- ./prog input.txt', 'record into prog.quartz, and report'],
    ['quartz run --focus main -- ./prog', 'then show main by busy processors'],
    ['quartz run --report report.txt -- ./prog > out', "keep the report apart from the program's output"],
    ['quartz run --tree -- make -j4', 'one report on all processes that descend from make'],
    ['quartz run --measure -- ./prog', 'measure the cost of recording, in alternating runs with and without it'],
    ["quartz run --try 'OMP_NUM_THREADS=2' -- ./prog", 'measure what that change gains'],
    ['quartz run --runs 10 -- ./prog', 'do ten runs agree? are some slow?'],
  ],
  options: [
    ...recordingOptions,
    'children',
    'tree',
    'no-follow',
    'measure',
    'try',
    'runs',
    'report-file',
    'focus',
    ...formatOptions,
  ],
  program: true,
  run: async (args) => {
    const [program] = args.words;
    if (program === undefined) throw usage('no program is given', 'write: quartz run -- PROGRAM ARGUMENTS');
    beforeProgram(args.text('report-file'));
    if (args.has('measure') || args.has('try') || args.has('runs'))
      return (await import('../cli/run/experiment.js')).experiment(args);
    const { status, file } = await recordNamed(args);
    if (file === undefined) return status;
    try {
      if (args.has('tree')) await (await import('../cli/show/show-tree.js')).showTree(args, file);
      else await report(args, file);
    } catch (error) {
      const code = reportFailure(error);
      return status === 0 ? code : status;
    }
    return status;
  },
};
