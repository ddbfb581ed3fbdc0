/** How the user invokes this program, so that commands which Quartz prints can be copied and run. */
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

/** The word quoted for a shell, where it needs quotes. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** The shorter of the absolute path and the path relative to the current directory. */
export function pathFromHere(path: string): string {
  const near = relative(process.cwd(), path);
  return near.startsWith('..') || near === '' ? path : near;
}

/**
 * `quartz` if the user's PATH finds this program by that name, else its path. Directories that npm adds to the PATH of
 * scripts do not count, because the user's shell does not search them.
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

/**
 * `npm run` changes to the package's directory; this changes back to the user's directory, to which file names are
 * relative.
 */
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
