/** The directory of a set: its tables, and set.json, which describes it. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ProfileFault } from '../model/index.js';

/** The format of tables and set.json. Sets of another format have to be merged again. */
export const setFormat = 4;
export const setExtension = '.quartzset';
/** Whether a path has the form of a set's name; the set need not exist. */
export const isSetName = (path: string): boolean => path.replace(/\/+$/, '').endsWith(setExtension);

/** A file that could not be read. `fault`: of which kind that is; 'set': of a set, to be merged again. */
export interface LeftOut {
  file: string;
  why: string; // a clause
  fault?: ProfileFault | 'set'; // absent in older sets
}

export interface SetHead {
  format: number;
  quartz: string; // version of Quartz that merged it
  programs: string[];
  members: number;
  leftOut: LeftOut[];
  unfinished: string[]; // files of members whose recording was not finished
  parameters: Record<string, string>;
  parts?: number; // sets that it was merged from, and 1 for profiles beside them; waits between parts are in none
  folders: string[]; // directories of the profiles at the time of the merge
}

export const headFile = (folder: string): string => join(folder, 'set.json');

/** The head of a set, or a clause that says why the directory is not a set. */
export function readHead(folder: string): SetHead | string {
  const status = statSync(folder, { throwIfNoEntry: false });
  if (!status) return 'does not exist';
  if (!status.isDirectory()) return 'is not a set of profiles';
  let text: string;
  try {
    text = readFileSync(headFile(folder), 'utf8');
  } catch {
    return 'is not a set of profiles: it has no set.json';
  }
  try {
    const head = JSON.parse(text) as SetHead;
    if (head.format !== setFormat) return `has format ${head.format}, and this is Quartz's for format ${setFormat}`;
    return head;
  } catch {
    return 'is damaged: set.json is no JSON';
  }
}
