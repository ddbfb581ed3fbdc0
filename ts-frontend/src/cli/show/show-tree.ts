/** Shows a tree of processes. */
import { readTree, treeExtension } from '../../tree/tree-file.js';
import { buildTree } from '../../tree/tree-model.js';
import { treeJson, treeText } from '../../tree/tree-text.js';
import type { Arguments } from '../command.js';
import { exitCodes, Failure } from '../failure.js';
import { newestFile } from '../files.js';
import { print } from './output.js';
import { display } from '../terminal.js';

export async function showTree(args: Arguments, named: string | undefined): Promise<number> {
  const file = named ?? newestFile(treeExtension, 'quartz run --tree -- PROGRAM');
  const raw = readTree(file);
  if (typeof raw === 'string') throw new Failure(`${file} ${raw}`, 'name what quartz run --tree wrote');
  const model = buildTree(raw);
  await print(args.has('json') ? treeJson(model, display(args)) : treeText(model, display(args)));
  return exitCodes.ok;
}
