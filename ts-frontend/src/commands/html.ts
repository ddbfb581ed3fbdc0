/** quartz html: a profile as one page that can be forwarded. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '../cli/command.js';
import { Failure } from '../cli/failure.js';
import { root } from '../cli/files.js';
import { print } from '../cli/output.js';
import { version } from '../cli/version.js';

/** Made by scripts/build.sh from ts-frontend/src/html/browser. */
function asset(name: string): string {
  try {
    return readFileSync(join(root, 'dist/page', name), 'utf8');
  } catch {
    throw new Failure("the page's script is not built", `run: npm run build (in ${root})`);
  }
}

export const command: Command = {
  name: 'html',
  usage: '[-o FILE] [options] [FILE | BEFORE AFTER]',
  about:
    'Writes a profile as one HTML page: what limits the program, where elapsed time went, threads, locks and the ' +
    'critical\n' +
    'path. It needs no network, and is readable without scripts. Of two profiles: what changed.\n' +
    'Without FILE: the newest *.quartz here. docs/reference/html.md says what is in it.',
  examples: [
    ['quartz html -o report.html', 'the newest profile in this directory'],
    ['quartz html old.quartz new.quartz -o change.html', 'what a change of the program did'],
  ],
  options: ['page-output', 'raw'],
  most: 2,
  run: async (args) => {
    const [first, second] = args.words;
    const { loadModel } = await import('../cli/profile.js');
    const { compare } = await import('../model/index.js');
    const { htmlPage } = await import('../html/document.js');
    const assets = { script: asset('main.js'), style: asset('page.css') };
    const raw = args.has('raw');
    const before = loadModel(first, { raw });
    const comparison = second === undefined ? null : compare(before, loadModel(second, { raw }));
    const page = htmlPage(comparison?.after ?? before, comparison, version(), assets);
    const file = args.text('page-output');
    if (file === undefined) {
      await print(page);
      return 0;
    }
    try {
      writeFileSync(file, page);
    } catch (error) {
      const why = (error as NodeJS.ErrnoException).code ?? String(error);
      throw new Failure(`${file} cannot be written (${why})`, 'name another file with -o');
    }
    return 0;
  },
};
