/** quartz compare: shows two profiles side by side, of runs before and after a change. */
import type { Command } from '../cli/command.js';
import { usage } from '../cli/failure.js';
import { formatOptions, forms } from '../cli/options.js';
import { print } from '../cli/show/output.js';
import { display } from '../cli/terminal.js';

export const command: Command = {
  name: 'compare',
  usage: 'BEFORE AFTER [options]',
  about:
    'Shows two profiles side by side: elapsed time, what limits the program in each, and how much more or less ' +
    'time each procedure and lock accounts for. docs/reference/compare.md says what counts as a change.',
  examples: [
    ['quartz compare old.quartz new.quartz', 'the effect of a change of the program'],
    ['quartz compare old.quartz new.quartz --csv > change.csv', 'for a spreadsheet'],
    ["quartz compare old/ new/ --fail-if 'npt(work) > 5 %'", 'a gate for CI, over several runs of each'],
    ['quartz compare old.quartz new.quartz --json | jq .elapsedChangeNs', 'for programs'],
  ],
  options: ['fail-if', 'markdown', ...formatOptions],
  most: 2,
  run: async (args) => {
    const options = display(args);
    const [before, after] = args.words;
    if (before === undefined || after === undefined)
      throw usage('compare needs two profiles', 'write: quartz compare BEFORE.quartz AFTER.quartz');
    const chosen = forms.filter((form) => args.has(form));
    if (chosen.length > 1)
      throw usage(`--${chosen[0] ?? ''} and --${chosen[1] ?? ''} exclude each other`, 'choose one');
    const rules = args.text('fail-if');
    if (rules !== undefined) return (await import('../cli/show/gate.js')).gate(args, rules, before, after);
    const { loadModel } = await import('../cli/profile.js');
    const { compare } = await import('../model/index.js');
    const { comparisonCsv, comparisonJson, comparisonMarkdown, comparisonReport } = await import('../render/index.js');
    const raw = args.has('raw');
    const comparison = compare(loadModel(before, { raw }), loadModel(after, { raw }));
    await print(
      args.has('json')
        ? comparisonJson(comparison)
        : args.has('csv')
          ? comparisonCsv(comparison)
          : args.has('markdown')
            ? comparisonMarkdown(comparison, options)
            : comparisonReport(comparison, options),
    );
    return 0;
  },
};
