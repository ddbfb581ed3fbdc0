/** From a profile to its time path in the form that was asked for. */
import { timePathOf, workSpanOf } from '../model/index.js';
import {
  noPathText,
  noWorkSpanText,
  pathCsv,
  pathJson,
  pathReport,
  workSpanCsv,
  workSpanReport,
} from '../render/index.js';
import type { Arguments } from './command.js';
import { Failure } from './failure.js';
import { display } from './terminal.js';
import { print } from './output.js';
import { loadModel } from './profile.js';
import { version } from './version.js';

function failure(text: string): Failure {
  const [why = '', remedy = ''] = text.split('; ');
  return new Failure(why, remedy);
}

export async function showPath(args: Arguments, file: string | undefined): Promise<number> {
  const options = display(args);
  const model = loadModel(file, { raw: args.has('raw') });
  const path = timePathOf(model);
  if (path === null) throw failure(noPathText);
  const span = workSpanOf(model);
  if (args.has('json')) {
    await print(pathJson(model, path, span, version()));
    return 0;
  }
  if (args.has('path-span')) {
    if (span === null) throw failure(noWorkSpanText);
    await print(args.has('csv') ? workSpanCsv(span) : workSpanReport(model, span, options));
    return 0;
  }
  await print(args.has('csv') ? pathCsv(model, path) : pathReport(model, path, options));
  return 0;
}
