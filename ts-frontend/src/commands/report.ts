/** quartz report: shows what limits the program, then one view of its profile. */
import { statSync } from 'node:fs';
import type { Arguments, Command } from '../cli/command.js';
import { formatOptions, forms } from '../cli/options.js';
import { usage } from '../cli/failure.js';
import { contextViews, type ContextView, type View } from '../render/format/options.js';
import { isSetName } from '../sets/set-file.js';

const isSet = (name: string): boolean =>
  isSetName(name) && statSync(name, { throwIfNoEntry: false })?.isDirectory() === true;
const isContextView = (word: string): word is ContextView => (contextViews as readonly string[]).includes(word);

/** Options that a set has. */
const ofSets: ReadonlySet<string> = new Set(['json', 'top', 'width', 'ascii']);

async function reportSet(args: Arguments, folder: string): Promise<number> {
  for (const name of command.options)
    if (args.has(name) && !ofSets.has(name))
      throw usage(
        `--${name} is for a profile, and ${folder} is a set`,
        'name one of its profiles, or use quartz query',
      );
  const { chosen, showSets } = await import('../cli/show/show-set.js');
  return showSets(args, [chosen(folder)]);
}

export const command: Command = {
  name: 'report',
  usage: '[FILE|SET] [--view VIEW | --focus NAME | --source FILE] [options]',
  about:
    'Shows a profile: first what limits the program, then a table. docs/reference/report.md explains every ' +
    'column. Of a set of profiles (quartz merge): what limits the job, and in what its ranks differ.\n' +
    'Without FILE: the newest *.quartz in this directory.',
  examples: [
    ['quartz report', 'the newest profile in this directory'],
    ['quartz report prog.quartz --top 50', 'the first 50 rows'],
    ['quartz report --view locks', 'synchronization objects (same as: quartz locks)'],
    ['quartz report --view tree', 'calling contexts from the top down, expanded along the hot path'],
    ['quartz report --view tree --sites', 'with the line of each call'],
    ["quartz report --view flat --metric 'wasted = idle / time'", 'a column of your own'],
    ['quartz report --source solver.c', 'the source of a file, with the cost of each line'],
    ['quartz report --source solver.c --disassembly', 'and the instructions of its hottest lines'],
    ['quartz report --focus main', 'main: busy processors while it ran, and its children'],
    ['quartz report run.quartzset', 'what limits a job of several ranks (quartz merge)'],
    ['quartz report --json | jq .findings', 'for programs'],
    ['quartz report --markdown >> "$GITHUB_STEP_SUMMARY"', 'for a job summary'],
  ],
  options: [
    ...([
      'view',
      'sites',
      'focus',
      'source',
      'disassembly',
      'sort',
      'metric',
      'markdown',
      'sarif',
      'notes',
      'brief',
    ] as const),
    ...formatOptions,
  ],
  most: 1,
  run: async (args) => {
    const [named] = args.words;
    if (named !== undefined && isSet(named)) return reportSet(args, named);
    const view = args.text('view') ?? 'procedures';
    const chosen = forms.filter((form) => args.has(form));
    if (chosen.length > 1)
      throw usage(`--${chosen[0] ?? ''} and --${chosen[1] ?? ''} exclude each other`, 'choose one');
    if (args.has('brief') && !args.has('json')) throw usage('--brief is a form of --json', 'add --json');
    const form = chosen.find((one) => one === 'markdown' || one === 'sarif' || one === 'notes');
    const { show, showContexts, showFindings } = await import('../cli/show/show.js');
    if (form !== undefined || args.has('brief')) {
      for (const name of ['view', 'focus', 'sort', 'metric', 'sites', 'source'] as const)
        if (args.has(name)) throw usage(`--${name} does not go with --${form ?? 'brief'}`, 'leave one of them out');
      return showFindings(args, form ?? 'brief', args.words[0]);
    }
    const source = args.text('source');
    if (source !== undefined) {
      if (args.has('focus')) throw usage('--focus does not go with --source', 'leave one of them out');
      return (await import('../cli/show/show-source.js')).showSource(args, source, args.words[0]);
    }
    if (args.has('disassembly')) throw usage('--disassembly is for --source', 'add --source FILE');
    if (isContextView(view)) {
      if (args.has('focus')) throw usage(`--focus does not go with --view ${view}`, 'leave one of them out');
      if (view === 'callers' && args.has('sites'))
        throw usage('--sites is for the views tree and flat', 'the view callers has procedures only; add --view tree');
      return showContexts(args, view, args.words[0]);
    }
    for (const name of ['sort', 'metric', 'sites'] as const)
      if (args.has(name)) throw usage(`--${name} is for the views ${contextViews.join(', ')}`, 'add --view tree');
    return show(args, view as View, args.words[0]);
  },
};
