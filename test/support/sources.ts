/** The files of this project, as paths from its root: without what is built, installed or recorded. */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from './root.js';

/** What .gitignore names, and git's own. */
const leftFolders = /^(\.git|node_modules|build(-.*)?|dist|\.cache)$/;
const leftFiles = /\.(quartz|tsbuildinfo)$/;

function below(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => !(entry.isDirectory() ? leftFolders : leftFiles).test(entry.name))
    .flatMap((entry) => {
      const path = join(directory, entry.name);
      return entry.isDirectory() ? below(path) : entry.isFile() ? [relative(root, path)] : [];
    });
}

export const sources = (): string[] => below(root).sort();
