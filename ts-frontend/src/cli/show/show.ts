/** What all commands that show a profile share: writing the model in the requested format. */
import {
  columnNames,
  amountNames,
  derivedMetric,
  flameOf,
  focusOn,
  MetricError,
  viewOf,
  type AmountName,
  type DerivedMetric,
  type Model,
  type ViewName,
} from '../../model/index.js';
import {
  briefJson,
  contextReport,
  flameReport,
  focusCsv,
  focusReport,
  locksCsv,
  markdown,
  notes,
  proceduresCsv,
  report,
  reportJson,
  sarif,
  threadsCsv,
  viewCsv,
  viewJson,
  type HeadSize,
  type View,
} from '../../render/index.js';
import type { Arguments } from '../command.js';
import { Failure, usage } from '../failure.js';
import { find } from './find.js';
import { didYouMean } from '../nearest.js';
import { print } from './output.js';
import { loadModel } from '../profile.js';
import { display } from '../terminal.js';
import { version } from '../version.js';

const csv: Record<View, (model: Model) => string> = { procedures: proceduresCsv, locks: locksCsv, threads: threadsCsv };

/** Shows a profile: what limits the program where no part of it is asked for, else that part. */
export const show = (args: Arguments, view: View, file: string | undefined): Promise<number> =>
  showModel(
    args,
    view,
    loadModel(file, { raw: args.has('raw') }),
    view === 'procedures' && !args.has('focus') ? 'whole' : 'short',
  );

/** `head`: what precedes the view. */
export async function showModel(args: Arguments, view: View, model: Model, head: HeadSize = 'whole'): Promise<number> {
  const options = display(args);
  const name = args.text('focus');
  if (args.has('json')) {
    await print(reportJson(model, version()));
  } else if (name !== undefined) {
    const focus = focusOn(model, find(model, name));
    await print(args.has('csv') ? focusCsv(focus) : focusReport(model, focus, options, head));
  } else {
    await print(args.has('csv') ? csv[view](model) : report(model, view, options, head));
  }
  return 0;
}

/** Writes the findings in a format for other tools. Source files below the current directory get relative paths. */
export async function showFindings(
  args: Arguments,
  form: 'markdown' | 'sarif' | 'notes' | 'brief',
  file: string | undefined,
): Promise<number> {
  const options = display(args);
  const model = loadModel(file, { raw: args.has('raw') });
  switch (form) {
    case 'markdown':
      await print(markdown(model, options));
      break;
    case 'sarif':
      await print(sarif(model, process.cwd(), version()));
      break;
    case 'notes':
      await print(notes(model, process.cwd(), options));
      break;
    case 'brief':
      await print(briefJson(model, version()));
      break;
  }
  return 0;
}

/** Shows the icicle graph. */
export async function showFlame(args: Arguments, file: string | undefined): Promise<number> {
  const options = display(args);
  const model = loadModel(file, { raw: args.has('raw') });
  const name = args.text('focus');
  const id = name === undefined ? 0 : find(model, name);
  if (model.entities[id]?.kind === 'thread')
    throw new Failure(`"${name ?? ''}" is a thread, which is on no call path`, 'name a procedure or an object');
  await print(flameReport(model, flameOf(model, id), options));
  return 0;
}

/** Shows one of the views of calling contexts. */
export async function showContexts(args: Arguments, view: ViewName, file: string | undefined): Promise<number> {
  const options = display(args);
  const model = loadModel(file, { raw: args.has('raw') });
  const definition = args.text('metric');
  const metrics = definition === undefined ? [] : definition.split(';').map((one) => metricOf(model, one));
  const query = { view, sort: sortOf(model, metrics, args.text('sort') ?? 'npt'), metrics };
  const most = !args.has('top') ? 0 : options.top;
  const root = viewOf(model, view, args.has('sites') ? 'lines' : 'loops');
  if (args.has('json')) await print(viewJson(model, root, query, version(), most));
  else if (args.has('csv')) await print(viewCsv(model, root, query, most));
  else await print(contextReport(model, root, query, options));
  return 0;
}

/** What rows are sorted by: a metric of --metric, a column, or a row's own part of one (NAME_self). */
function sortOf(model: Model, metrics: readonly DerivedMetric[], name: string): AmountName | DerivedMetric {
  const metric = metrics.find((one) => one.name === name);
  if (metric) return metric;
  if (isAmount(name)) return name;
  if (name === 'self') return sortOf(model, metrics, 'npt_self');
  const own = amountNames.map((one) => `${one}_self`);
  if (own.includes(name)) return derivedMetric(model, `${name} = ${name}`);
  const names = [...amountNames, ...metrics.map((one) => one.name)];
  throw usage(
    `there is no column "${name}"`,
    didYouMean(name, [...names, ...own], `choose one of: ${names.join(', ')}; or one of the columns with _self`),
  );
}

const isAmount = (word: string): word is AmountName => (amountNames as readonly string[]).includes(word);

function metricOf(model: Model, definition: string): DerivedMetric {
  try {
    return derivedMetric(model, definition);
  } catch (error) {
    if (!(error instanceof MetricError)) throw error;
    throw usage(
      `--metric "${definition.trim()}": ${error.message}`,
      `for example: --metric 'wasted = (idle + spin) / time'; columns: ${columnNames.join(', ')}`,
    );
  }
}
