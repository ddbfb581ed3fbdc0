/** Where Quartz lies: found upwards, since a module runs from a folder of its own in tests and from the bundle else. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

function rootAbove(folder: string): string {
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

/** The nearest folder above this module that has a package.json. */
export const root = rootAbove(import.meta.dirname);
