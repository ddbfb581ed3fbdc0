/** Which profile is meant, and where the parts of Quartz lie. */
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { build, root } from '../reader/root.js';
import { Failure } from './failure.js';

export { root };

/** The file with that extension that was written last in the current directory. `how`: what makes one. */
export function newestFile(extension: string, how: string): string {
  let newest: { name: string; time: number } | undefined;
  for (const name of readdirSync('.')) {
    if (!name.endsWith(extension)) continue;
    const status = statSync(name, { throwIfNoEntry: false });
    if (status?.isFile() && (!newest || status.mtimeMs > newest.time)) newest = { name, time: status.mtimeMs };
  }
  if (newest) return newest.name;
  throw new Failure(`there is no *${extension} file in this directory`, `name one, or make one with: ${how}`);
}
export const newestProfile = (): string => newestFile('.quartz', 'quartz record -- PROGRAM');

/** A file that the user may execute. */
export function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** What gives the terminal back after a killed live screen. */
export const restoreTerminalPath = (): string => join(root, 'ts-frontend/bin/restore-terminal');

/** Of a part that is compiled, in a checkout or in what was installed. */
export const missing = (part: string): Failure =>
  existsSync(join(root, 'CMakeLists.txt'))
    ? new Failure(`${part} is not built`, `run: npm run build (in ${root})`)
    : new Failure(
        `${part} is not installed`,
        `install Quartz's package for linux-${process.arch}, too (scripts/packages.sh makes it)`,
      );

/** The sampler: of this build, else one that is installed. */
export function samplerPath(): string {
  const places = [join(build, 'sampler'), ...(process.env['PATH'] ?? '').split(delimiter)];
  for (const place of places) {
    const path = join(place, 'quartz-sampler');
    if (place !== '' && executable(path)) return path;
  }
  throw missing('the sampler');
}
