/** Finds the profile that a command reads and the compiled parts of Quartz. */
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { build, root } from '../reader/root.js';
import { Failure } from './failure.js';

export { root };

/**
 * The most recently written file with that extension in the current directory, which is named on stderr if there are
 * several. `how`: the command that creates such a file, for the message if there is none.
 */
export function newestFile(extension: string, how: string): string {
  let newest: { name: string; time: number } | undefined;
  let number = 0;
  for (const name of readdirSync('.')) {
    if (!name.endsWith(extension)) continue;
    const status = statSync(name, { throwIfNoEntry: false });
    if (!status?.isFile()) continue;
    number++;
    if (!newest || status.mtimeMs > newest.time) newest = { name, time: status.mtimeMs };
  }
  if (newest) {
    if (number > 1) process.stderr.write(`quartz: ${newest.name}, the newest of ${number} *${extension} files here\n`);
    return newest.name;
  }
  throw new Failure(`there is no *${extension} file in this directory`, `name one, or make one with: ${how}`);
}
export const newestProfile = (): string => newestFile('.quartz', 'quartz record -- PROGRAM');

/** Whether the path is a regular file that the user may execute. */
export function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The script that restores the terminal's modes if the live screen is killed. */
export const restoreTerminalPath = (): string => join(root, 'ts-frontend/bin/restore-terminal');

/** The failure to report if a compiled part does not exist, either in a checkout or in an installed package. */
export const missing = (part: string): Failure =>
  existsSync(join(root, 'CMakeLists.txt'))
    ? new Failure(`${part} is not built`, `run: npm run build (in ${root})`)
    : new Failure(
        `${part} is not installed`,
        `install Quartz's package for linux-${process.arch}, too (scripts/packages.sh makes it)`,
      );

/** The sampler of this build if there is one, else an installed one. */
export function samplerPath(): string {
  const places = [join(build, 'sampler'), ...(process.env['PATH'] ?? '').split(delimiter)];
  for (const place of places) {
    const path = join(place, 'quartz-sampler');
    if (place !== '' && executable(path)) return path;
  }
  throw missing('the sampler');
}
