/** What the commands that show a profile have in common: the way from model to output. */
import {
  columnNames,
  costNames,
  derivedMetric,
  findEntities,
  flameOf,
  item,
  focusOn,
  MetricError,
  viewOf,
  type CostName,
  type DerivedMetric,
  type Model,
  type ViewName,
} from '../model/index.js';
import {
  contextReport,
  flameReport,
  focusCsv,
  focusReport,
  locksCsv,
  proceduresCsv,
  report,
  reportJson,
  threadsCsv,
  viewCsv,
  viewJson,
  type View,
} from '../render/index.js';
import type { Arguments } from './command.js';
import { Failure, usage } from './failure.js';
import { didYouMean } from './nearest.js';
import { print } from './output.js';
import { loadModel } from './profile.js';
import { display } from './terminal.js';
import { version } from './version.js';

const csv: Record<View, (model: Model) => string> = { procedures: proceduresCsv, locks: locksCsv, threads: threadsCsv };

/** The entity that a name means: "name", "kind name", or a part of one name only. */
function find(model: Model, name: string): number {
  const byKind = model.ranking.find(
    (id) => `${item(model.entities, id).kind} ${item(model.entities, id).name}` === name,
  );
  if (byKind !== undefined) return byKind;
  const ids = findEntities(model, name);
  if (ids.length === 0) {
    const names = new Set(model.entities.map((entity) => entity.name));
    throw new Failure(
      `nothing in this profile is called "${name}"`,
      didYouMean(name, names, '"quartz report" and "quartz threads" list the names'),
    );
  }
  const exact = ids.filter((id) => item(model.entities, id).name === name);
  if (exact.length === 0 && ids.length > 1) {
    const some = ids
      .slice(0, 5)
      .map((id) => `"${item(model.entities, id).kind} ${item(model.entities, id).name}"`)
      .join(', ');
    throw new Failure(`"${name}" is part of ${ids.length} names`, `say which: ${some}${ids.length > 5 ? ', ...' : ''}`);
  }
  return item(ids, 0);
}

export async function show(args: Arguments, view: View, file: string | undefined): Promise<number> {
  const options = display(args);
  const model = loadModel(file, { raw: args.has('raw') });
  const name = args.text('focus');
  if (args.has('json')) {
    await print(reportJson(model, version()));
  } else if (name !== undefined) {
    const focus = focusOn(model, find(model, name));
    await print(args.has('csv') ? focusCsv(focus) : focusReport(model, focus, options));
  } else {
    await print(args.has('csv') ? csv[view](model) : report(model, view, options));
  }
  return 0;
}

/** The icicle graph. */
export async function showFlame(args: Arguments, file: string | undefined): Promise<number> {
  const options = display(args);
  const model = loadModel(file, { raw: args.has('raw') });
  const name = args.text('focus');
  const id = name === undefined ? 0 : find(model, name);
  if (model.entities[id]?.kind === 'thread')
    throw new Failure(`"${name ?? ''}" is a thread, which stands on no path`, 'name a procedure or an object');
  await print(flameReport(model, flameOf(model, id), options));
  return 0;
}

/** One of the views of calling contexts. */
export async function showContexts(args: Arguments, view: ViewName, file: string | undefined): Promise<number> {
  const options = display(args);
  const sort = args.text('sort') ?? 'npt';
  if (!isCost(sort))
    throw usage(`there is no column "${sort}"`, didYouMean(sort, costNames, `choose one of: ${costNames.join(', ')}`));
  const model = loadModel(file, { raw: args.has('raw') });
  const definition = args.text('metric');
  const metrics = definition === undefined ? [] : definition.split(';').map((one) => metricOf(model, one));
  const query = { view, sort, metrics };
  const most = !args.has('top') ? 0 : options.top;
  const root = viewOf(model, view);
  if (args.has('json')) await print(viewJson(model, root, query, version(), most));
  else if (args.has('csv')) await print(viewCsv(model, root, query, most));
  else await print(contextReport(model, root, query, options));
  return 0;
}

const isCost = (word: string): word is CostName => (costNames as readonly string[]).includes(word);

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
