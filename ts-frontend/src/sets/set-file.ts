/** The directory of a set: its tables, and set.json, which says what it is. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Of tables and set.json. A set of another format is merged again. */
export const setFormat = 2;
export const setExtension = '.quartzset';
/** A path that names a set, whether there is one or not. */
export const isSetName = (path: string): boolean => path.replace(/\/+$/, '').endsWith(setExtension);

export interface SetHead {
  format: number;
  quartz: string; // version that merged it
  programs: string[];
  members: number;
  leftOut: { file: string; why: string }[];
  unfinished: string[]; // files of members that were not finished
  parameters: Record<string, string>;
  folders: string[]; // where the profiles were when they were merged
}

export const headFile = (folder: string): string => join(folder, 'set.json');

/** What is wrong with a directory that is no set, as a clause; else its head. */
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
