/**
 * Runs quartz-flags, which knows the options of compilers, with the libraries of this build or of an installed package.
 */
import { join } from 'node:path';
import { build, root } from '../../reader/root.js';
import { runChild } from './child.js';

export const quartzFlags = (args: readonly string[]): Promise<number> =>
  runChild(join(root, 'scripts/quartz-flags'), args, { env: { QUARTZ_BUILD: build, ...process.env } });
