/** Shows the time path of a profile in the requested format. */
import { timePathOf, workSpanOf } from '../../model/index.js';
import {
  noPathText,
  noWorkSpanText,
  pathCsv,
  pathTables,
  spanTables,
  pathJson,
  pathReport,
  workSpanCsv,
  workSpanReport,
} from '../../render/index.js';
import type { Arguments } from '../command.js';
import { Failure, usage } from '../failure.js';
import { didYouMean } from '../nearest.js';
import { display } from '../terminal.js';
import { print } from './output.js';
import { loadModel } from '../profile.js';
import { version } from '../version.js';

/** The table that --table names; the first one by default. */
function tableOf<Name extends string>(args: Arguments, names: readonly [Name, ...Name[]]): Name {
  const wanted = args.text('path-table');
  if (wanted === undefined) return names[0];
  const found = names.find((name) => name === wanted);
  if (found === undefined)
    throw usage(`there is no table "${wanted}"`, didYouMean(wanted, names, `choose one of: ${names.join(', ')}`));
  return found;
}

export async function showPath(args: Arguments, file: string | undefined): Promise<number> {
  const options = display(args);
  if (args.has('path-table') && !args.has('csv')) throw usage('--table goes with --csv', 'add --csv');
  const model = loadModel(file, { raw: args.has('raw') });
  const path = timePathOf(model);
  if (path === null) throw new Failure(noPathText(model));
  const span = workSpanOf(model);
  if (args.has('json')) {
    await print(pathJson(model, path, span, version()));
    return 0;
  }
  if (args.has('path-span')) {
    if (span === null) throw new Failure(noWorkSpanText);
    await print(
      args.has('csv') ? workSpanCsv(model, span, tableOf(args, spanTables)) : workSpanReport(model, span, options),
    );
    return 0;
  }
  await print(args.has('csv') ? pathCsv(model, path, tableOf(args, pathTables)) : pathReport(model, path, options));
  return 0;
}
