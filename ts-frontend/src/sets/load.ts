/** Loads the tables that the views of a set need. */
import { basename, resolve } from 'node:path';
import { readRows } from './parquet.js';
import { setExtension, type SetHead } from './set-file.js';
import type { SetView } from '../render/format/options.js';
import type { RowOf } from './tables.js';
import type { LoadedSet } from './views.js';

const nameOfSet = (path: string): string => (path.endsWith(setExtension) ? path.slice(0, -setExtension.length) : path);

/** Names by which several sets differ: with as much of their paths as that takes. */
export function namesOfSets(folders: readonly string[]): string[] {
  const paths = folders.map((folder) => resolve(folder));
  const depth = Math.max(...paths.map((path) => path.split('/').length));
  for (let parts = 1; parts <= depth; parts++) {
    const names = paths.map((path) => nameOfSet(path.split('/').slice(-parts).join('/')));
    if (new Set(names).size === new Set(paths).size) return names;
  }
  return paths;
}

/** Tables other than `ranks`, which every view needs. */
type Optional = 'entities' | 'summary' | 'outliers' | 'findings' | 'lateness' | 'delays' | 'job_path';
/** What is loaded: for a view, for what limits the job, or for a page. */
type Loaded = SetView | 'limits' | 'page';
const needs: Readonly<Record<Loaded, readonly Optional[]>> = {
  ranks: [],
  imbalance: ['entities', 'summary'],
  outliers: ['entities', 'outliers'],
  mpi: ['entities', 'summary'],
  late: ['entities', 'lateness'],
  'job-path': ['entities', 'job_path'],
  scaling: ['entities', 'summary'],
  limits: ['entities', 'summary', 'findings', 'delays'],
  page: ['entities', 'summary', 'outliers', 'findings', 'lateness', 'delays', 'job_path'],
};

/**
 * Loads the tables for a view, or for the page of a set; the others stay empty. Throws if a table is missing or
 * damaged.
 */
export async function loadSet(folder: string, head: SetHead, view: Loaded): Promise<LoadedSet> {
  const rowsOf = async <T extends Optional>(table: T): Promise<RowOf<T>[]> =>
    needs[view].includes(table) ? readRows(folder, table) : [];
  const [ranks, entities, summary, outliers, findings, lateness, delays, jobPath] = await Promise.all([
    readRows(folder, 'ranks'),
    rowsOf('entities'),
    rowsOf('summary'),
    rowsOf('outliers'),
    rowsOf('findings'),
    rowsOf('lateness'),
    rowsOf('delays'),
    rowsOf('job_path'),
  ]);
  return {
    name: nameOfSet(basename(folder)),
    head,
    ranks,
    entities,
    summary,
    outliers,
    findings,
    lateness,
    delays,
    jobPath,
  };
}
