/** From a profile to its time path in the form that was asked for. */
import { timePathOf } from '../model/index.js';
import { noPathText, pathCsv, pathJson, pathReport } from '../render/index.js';
import type { Arguments } from './command.js';
import { Failure } from './failure.js';
import { display } from './terminal.js';
import { print } from './output.js';
import { loadModel } from './profile.js';
import { version } from './version.js';

export async function showPath(args: Arguments, file: string | undefined): Promise<number> {
  const options = display(args);
  const model = loadModel(file, { raw: args.has('raw') });
  const path = timePathOf(model);
  if (path === null) {
    const [why = '', remedy = ''] = noPathText.split('; ');
    throw new Failure(why, remedy);
  }
  if (args.has('json')) await print(pathJson(model, path, version()));
  else await print(args.has('csv') ? pathCsv(model, path) : pathReport(model, path, options));
  return 0;
}
