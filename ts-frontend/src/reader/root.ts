/** Where Quartz lies: found upwards, since a module runs from a folder of its own in tests and from the bundle else. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

function rootAbove(folder: string): string {
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

/** The nearest folder above this module that has a package.json. */
export const root = rootAbove(import.meta.dirname);

/**
 * What is compiled: that of this folder, else that of the package for this kind of machine (scripts/packages.sh), which
 * npm puts beside Quartz's own or below it.
 */
const compiled = `@quartz-profiler/linux-${process.arch}`;
export const build =
  ['.', join('node_modules', compiled), join('..', compiled)]
    .map((place) => join(root, place, 'build'))
    .find((place) => existsSync(join(place, 'quartz_addon.node'))) ?? join(root, 'build');
