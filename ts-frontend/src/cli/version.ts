/** The version from package.json. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './files.js';

export function version(): string {
  const text = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return text.version;
}
