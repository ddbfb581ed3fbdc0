/** How the user who stands here calls this program: for commands that are printed to be tried. */
import { realpathSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { root } from './files.js';

const command = join(root, 'ts-frontend/bin/quartz');

const real = (path: string): string | undefined => {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
};

/** A word as a shell reads it. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** A path as it is shortest from the current directory. */
export function pathFromHere(path: string): string {
  const near = relative(process.cwd(), path);
  return near.startsWith('..') || near === '' ? path : near;
}

/**
 * `quartz` where the user's PATH leads here by that name, else the command's path. Directories that npm puts on the
 * PATH of what it runs don't count: the user's shell does not have them.
 */
export function invocation(): string {
  const places = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((place) => place !== '' && !/[/]node_modules[/]/.test(`${place}/`));
  const found = places.map((place) => real(join(place, 'quartz'))).find((path) => path !== undefined);
  if (found !== undefined && found === real(command)) return 'quartz';
  const path = pathFromHere(command);
  return shellWord(path.includes('/') ? path : `./${path}`);
}

/** `npm run` changes to the package's directory: back to where the user stands, whose files are meant. */
export function restoreWorkingDirectory(): void {
  const { npm_lifecycle_event: script, INIT_CWD: stood, npm_package_json: which } = process.env;
  if (
    script !== undefined &&
    script !== 'npx' &&
    stood !== undefined &&
    which !== undefined &&
    real(which) === real(join(root, 'package.json'))
  )
    process.chdir(stood);
}
