/** quartz report --source: the cost of each line of one file. */
import {
  baseName,
  disassemblyOf,
  findSource,
  proceduresOfFile,
  sourceFiles,
  type Disassembly,
  type Model,
  type SourceFile,
} from '../../model/index.js';
import { codeOf } from '../../reader/disassembly.js';
import { disassemblyReport, noInstructionsText, sourceCsv, sourceJson, sourceReport } from '../../render/index.js';
import type { Arguments } from '../command.js';
import { Failure } from '../failure.js';
import { didYouMean } from '../nearest.js';
import { print } from './output.js';
import { loadModel } from '../profile.js';
import { sourceText } from './source-text.js';
import { display } from '../terminal.js';
import { version } from '../version.js';

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
      'they are recorded of programs that were compiled with -g, where their memory may be read ' +
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

/** The maximum number of procedures of a file whose instructions are shown. */
const proceduresMost = 5;

function instructionsOf(model: Model, file: SourceFile): Disassembly[] {
  const none = noInstructionsText(model);
  if (none !== null) throw new Failure(none, 'without --disassembly the lines are shown');
  return proceduresOfFile(model, file.path)
    .slice(0, proceduresMost)
    .map((procedure) => disassemblyOf(model, procedure, codeOf(model, procedure), file.path))
    .filter(({ rows, errors }) => rows.length > 0 || errors.length > 0);
}

export async function showSource(args: Arguments, name: string, profile: string | undefined): Promise<number> {
  const options = display(args);
  const model = loadModel(profile, { raw: args.has('raw') });
  const file = fileOf(model, name);
  const code = args.has('disassembly') ? instructionsOf(model, file) : null;
  if (args.has('json')) await print(sourceJson(model, file, version(), code));
  else if (args.has('csv')) await print(sourceCsv(model, file));
  else {
    const text = sourceText(file.path);
    await print(sourceReport(model, file, 'error' in text ? text : text.lines, options));
    for (const one of code ?? []) await print(`\n${disassemblyReport(model, one, options)}`);
  }
  return 0;
}
