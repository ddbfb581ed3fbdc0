/**
 * Finds Quartz's root directory by searching upwards: in tests a module is loaded from its own folder, otherwise from
 * the bundle.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

function rootAbove(folder: string): string {
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

/** The nearest directory above this module that contains a package.json. */
export const root = rootAbove(import.meta.dirname);

/**
 * The directory of compiled files: in a checkout its own, otherwise that of the package for this architecture
 * (scripts/packages.sh), which npm installs beside or below Quartz's own package.
 */
const compiled = `@quartz-profiler/linux-${process.arch}`;
export const build =
  ['.', join('node_modules', compiled), join('..', compiled)]
    .map((place) => join(root, place, 'build'))
    .find((place) => existsSync(join(place, 'quartz_addon.node'))) ?? join(root, 'build');
