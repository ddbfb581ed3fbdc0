/** Reads what the views of a set need. */
import { basename } from 'node:path';
import { readRows } from './parquet.js';
import { setExtension, type SetHead } from './set-file.js';
import type { LoadedSet } from './views.js';

export const nameOfSet = (folder: string): string => basename(folder.replace(/\/+$/, ''), setExtension);

/** Throws where a table is missing or damaged. */
export async function loadSet(folder: string, head: SetHead): Promise<LoadedSet> {
  const [ranks, entities, summary, outliers] = await Promise.all([
    readRows(folder, 'ranks'),
    readRows(folder, 'entities'),
    readRows(folder, 'summary'),
    readRows(folder, 'outliers'),
  ]);
  return { name: nameOfSet(folder), head, ranks, entities, summary, outliers };
}
