/** quartz html: writes a profile as a self-contained page. */
import { readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Command } from '../cli/command.js';
import { Failure, usage } from '../cli/failure.js';
import { root } from '../cli/files.js';
import { writeResult } from '../cli/result-file.js';
import { print } from '../cli/show/output.js';
import { version } from '../cli/version.js';

/** A file that scripts/build.sh makes from ts-frontend/src/html/browser. */
function asset(name: string): string {
  try {
    return readFileSync(join(root, 'dist/page', name), 'utf8');
  } catch {
    throw new Failure("the page's script is not built", `run: npm run build (in ${root})`);
  }
}

const isSet = (name: string): boolean => statSync(name, { throwIfNoEntry: false })?.isDirectory() === true;

async function pageOfSet(folder: string): Promise<string> {
  const { readHead } = await import('../sets/set-file.js');
  const { loadSet } = await import('../sets/load.js');
  const { heatRows } = await import('../sets/heat.js');
  const { setPage } = await import('../html/set/page.js');
  const head = readHead(folder);
  if (typeof head === 'string') throw new Failure(`${folder} ${head}`, 'name a profile, or what quartz merge made');
  const set = await loadSet(folder, head, 'page');
  const { limitsOf } = await import('../sets/limits/load.js');
  return setPage(set, await heatRows(folder, set), await limitsOf(folder, set), version(), asset('page.css'));
}

/** Whether that file may be replaced without being asked for by name: it is none, or an earlier page. */
function isPage(file: string): boolean {
  try {
    return readFileSync(file, 'utf8').slice(0, 4096).includes('<meta name="generator" content="quartz ');
  } catch {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  }
}

/** On a terminal a page is of no use: it goes to a file that is named after what it shows. */
async function write(page: string, file: string | undefined, shown: string): Promise<void> {
  if (file !== undefined) {
    writeResult(file, page);
    return;
  }
  if (!process.stdout.isTTY) {
    await print(page);
    return;
  }
  const chosen = `${basename(shown)}.html`;
  if (!isPage(chosen)) throw new Failure(`${chosen} is there, and no page of Quartz`, 'name another file with -o');
  writeResult(chosen, page);
  process.stderr.write(`quartz: the page is in ${chosen}; open it in a browser\n`);
}

export const command: Command = {
  name: 'html',
  usage: '[-o FILE] [options] [FILE | BEFORE AFTER | SET]',
  about:
    'Writes a profile as one HTML page: what limits the program, where elapsed time went, threads, locks and the ' +
    'critical path. The page needs no network, and is readable without scripts. Of two profiles, it shows what ' +
    'changed; of a set, how the ranks differ. docs/reference/html.md describes the parts of a page.\n' +
    'Without FILE: the newest *.quartz in this directory.',
  examples: [
    ['quartz html -o report.html', 'the newest profile in this directory'],
    ['quartz html old.quartz new.quartz -o change.html', 'what a change of the program did'],
  ],
  options: ['page-output', 'raw'],
  most: 2,
  run: async (args) => {
    const [first, second] = args.words;
    const file = args.text('page-output');
    if (first !== undefined && isSet(first)) {
      if (second !== undefined)
        throw usage('a page can show only one set', 'compare sets by: quartz query --view scaling');
      await write(await pageOfSet(first), file, first);
      return 0;
    }
    const { loadModel } = await import('../cli/profile.js');
    const { compare } = await import('../model/index.js');
    const { htmlPage } = await import('../html/document.js');
    const assets = { script: asset('main.js'), style: asset('page.css') };
    const raw = args.has('raw');
    const before = loadModel(first, { raw });
    const comparison = second === undefined ? null : compare(before, loadModel(second, { raw }));
    const page = htmlPage(comparison?.after ?? before, comparison, version(), assets);
    await write(page, file, before.root.name);
    return 0;
  },
};
