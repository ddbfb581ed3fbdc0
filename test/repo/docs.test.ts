/**
 * What a reader follows in the pages: links lead to files and headings that are there, options are those of the
 * program.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'ava';
import { flagOf } from '../../ts-frontend/src/cli/options.js';
import { commands } from '../../ts-frontend/src/commands/index.js';
import { root } from '../support/root.js';
import { sources } from '../support/sources.js';

const pages = sources().filter((file) => file.endsWith('.md'));
const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

for (const page of pages) {
  test(`the links of ${page}`, (t) => {
    for (const [, link] of textOf(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(link!)) continue;
      const [file = '', anchor] = link!.split('#');
      const target = file === '' ? page : join(dirname(page), file);
      if (!existsSync(join(root, target))) t.fail(`${link} is not there`);
      else if (anchor !== undefined) t.true(anchorsOf(textOf(target)).includes(anchor), `${link}: no such heading`);
    }
    t.pass();
  });
}

test('docs/index.md leads to every page', (t) => {
  const linked = new Set(
    [...textOf('docs/index.md').matchAll(/\]\(([^)#\s]+)/g)].map(([, link]) => join('docs', link!)),
  );
  for (const page of pages) {
    if (page.startsWith('docs/') && page !== 'docs/index.md')
      t.true(linked.has(page), `${page} is not in docs/index.md`);
  }
});

test('names of the code in docs/glossary.md are in the sources', (t) => {
  const code = sources()
    .filter((file) => /\.(c|h|ts)$/.test(file) && !file.startsWith('test/'))
    .map(textOf)
    .join('\n');
  const names = [...textOf('docs/glossary.md').matchAll(/^\|.*\|(.*)\|$/gm)].flatMap(([, last]) =>
    [...last!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
  );
  t.true(names.length > 40);
  for (const name of names) t.true(code.includes(name) || existsSync(join(root, name)), name);
});

test('commands and their long options in the pages are those of the program', async (t) => {
  for (const page of pages) {
    const examples = [...textOf(page).matchAll(/\bquartz (\w+)((?: (?!-- )[^`|()#\n]+)?)/g)];
    for (const [, name, rest] of examples) {
      if (!Object.hasOwn(commands, name!)) continue; // prose
      const { options } = (await commands[name!]!.load()).command;
      const [own = ''] = rest!.split(' -- ');
      for (const [, option] of own.matchAll(/ --([a-z][a-z-]*)/g)) {
        t.true(
          [...options.map(flagOf), 'help'].some((one) => one === option),
          `${page}: quartz ${name}${own}`,
        );
      }
    }
  }
});
