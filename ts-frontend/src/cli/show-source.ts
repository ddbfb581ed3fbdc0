/** quartz report --source: what the lines of one file cost. */
import { baseName, findSource, sourceFiles, type Model, type SourceFile } from '../model/index.js';
import { sourceCsv, sourceJson, sourceReport } from '../render/index.js';
import type { Arguments } from './command.js';
import { Failure } from './failure.js';
import { didYouMean } from './nearest.js';
import { print } from './output.js';
import { loadModel } from './profile.js';
import { sourceText } from './source-text.js';
import { display } from './terminal.js';
import { version } from './version.js';

function fileOf(model: Model, name: string): SourceFile {
  const found = findSource(model, name);
  const [file, ...others] = found;
  if (file && others.length === 0) return file;
  const some = (files: readonly SourceFile[]): string =>
    files
      .map(({ path }) => path)
      .slice(0, 5)
      .join(', ');
  if (file) throw new Failure(`"${name}" is part of ${found.length} paths`, `say which: ${some(found)}`);
  const all = sourceFiles(model);
  if (all.length === 0)
    throw new Failure(
      'this profile has no source lines',
      'they are recorded of programs without hooks that were compiled with -g, where their memory may be read ' +
        '(docs/reference/loops.md)',
    );
  throw new Failure(
    `no line of "${name}" costs time in this profile`,
    didYouMean(
      name,
      all.map(({ path }) => baseName(path)),
      `files with most time of their own: ${some(all)}`,
    ),
  );
}

export async function showSource(args: Arguments, name: string, profile: string | undefined): Promise<number> {
  const options = display(args);
  const model = loadModel(profile, { raw: args.has('raw') });
  const file = fileOf(model, name);
  if (args.has('json')) await print(sourceJson(model, file, version()));
  else if (args.has('csv')) await print(sourceCsv(file));
  else {
    const text = sourceText(file.path);
    await print(sourceReport(model, file, 'error' in text ? text : text.lines, options));
  }
  return 0;
}
