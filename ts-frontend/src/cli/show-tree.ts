/** Shows a tree of processes. */
import { readdirSync, statSync } from 'node:fs';
import { readTree, treeExtension } from '../tree/tree-file.js';
import { buildTree } from '../tree/tree-model.js';
import { treeJson, treeText } from '../tree/tree-text.js';
import type { Arguments } from './command.js';
import { exitCodes, Failure } from './failure.js';
import { print } from './output.js';
import { display } from './terminal.js';

function newest(): string {
  const found = readdirSync('.')
    .filter((name) => name.endsWith(treeExtension))
    .map((name) => ({ name, time: statSync(name, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.time - a.time);
  if (found[0]) return found[0].name;
  throw new Failure(
    `there is no *${treeExtension} in this directory`,
    'name one, or record one with: quartz run --tree -- PROGRAM',
  );
}

export async function showTree(args: Arguments, named: string | undefined): Promise<number> {
  const file = named ?? newest();
  const raw = readTree(file);
  if (typeof raw === 'string') throw new Failure(`${file} ${raw}`, 'name what quartz run --tree wrote');
  const model = buildTree(raw);
  await print(args.has('json') ? treeJson(model, display(args)) : treeText(model, display(args)));
  return exitCodes.ok;
}
