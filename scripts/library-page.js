#!/usr/bin/env node
/**
 * Makes docs/reference/library.md, the reference of the thread package, from the comments of its public headers.
 *
 *     node scripts/library-page.js           writes the page
 *     node scripts/library-page.js --check   exits with 1 where page and headers differ
 *
 * What it wants of a header: a comment that begins with `# Title` begins a section; any other comment says what the
 * declarations right below it do, up to a blank line or the next comment. A public declaration without one, and a
 * function that returns int whose comment says neither what it returns nor its errors, is an error here.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const includes = join(root, 'threadlib/include/quartz');
const page = join(root, 'docs/reference/library.md');
const headers = ['thread.h', 'sync.h', 'spin.h', 'quartz.hpp', 'sync.hpp'];
const width = 120;

/** The end of the bracket that opens at `at`, one behind it. */
function matching(text, at) {
  const open = text[at],
    close = { '{': '}', '<': '>', '(': ')' }[open];
  let depth = 0;
  for (let k = at; k < text.length; k++) {
    if (text[k] === open) depth++;
    if (text[k] === close && --depth === 0) return k + 1;
  }
  throw new Error(`no end of ${text.slice(at, at + 60)}`);
}

const withoutTemplate = (text) => {
  let rest = text;
  while (rest.startsWith('template')) rest = rest.slice(matching(rest, rest.indexOf('<'))).trimStart();
  return rest;
};

/** A function's signature: without its body, initializers, and what only says how it is compiled. */
function signature(text) {
  const plain = text
    .replace(/\bQZ_HERE /g, '')
    .replace(/^inline /, '')
    .replace(/\n {9,}/g, ' ') // parameters on a line of their own
    .trim();
  const rest = withoutTemplate(plain);
  const end = plain.length - rest.length + matching(rest, rest.indexOf('('));
  const behind = /^\s*(const)?\s*(noexcept)?\s*(->[^{;]*)?/.exec(plain.slice(end))[0].trimEnd();
  return `${plain.slice(0, end)}${behind};`;
}

/** Adds what `text` declares to `sections`; `within` is the class whose public members these are. */
function parse(text, sections, within) {
  let open = within === undefined,
    at = 0,
    group;
  const trouble = (what) => {
    throw new Error(`${what.split('\n')[0]}: a public declaration without a comment of its own`);
  };
  const declare = (code) => {
    if (!group) trouble(code);
    if (group.code.length === 0) sections.at(-1).groups.push(group);
    group.code.push(code);
  };
  while (at < text.length) {
    const rest = text.slice(at);
    const [space] = /^\s*/.exec(rest);
    if (space.length > 0) {
      if (within === undefined && /\n[ \t]*\n/.test(space)) group = undefined;
      at += space.length;
    } else if (rest.startsWith('/*')) {
      const length = rest.indexOf('*/') + 2;
      const lines = rest
        .slice(2, length - 2)
        .split('\n')
        .map((line, k) => (k === 0 ? line.trim() : line.replace(/^\s*\* ?/, '')));
      const comment = lines.join('\n').trimEnd();
      const title = /^# (.*)/.exec(comment);
      if (title) sections.push({ title: title[1], text: comment.slice(title[0].length).trim(), groups: [] });
      else group = { comment, within, code: [] };
      at += length;
    } else if (rest.startsWith('//')) {
      at += rest.indexOf('\n');
    } else if (rest.startsWith('#')) {
      const [line] = /^#(?:.*\\\n)*.*/.exec(rest);
      const macro = /^#define (QZ_(?!HERE\b)\w+(?:\([^)]*\))?)/.exec(line);
      if (macro) declare(/[({]/.test(macro[1]) ? macro[1] : line.trim());
      at += line.length;
    } else if (/^(public|private):/.test(rest)) {
      open = rest.startsWith('public');
      at += rest.indexOf(':') + 1;
    } else if (/^(extern "C"|namespace qz) \{/.test(rest)) {
      at += rest.indexOf('{') + 1;
    } else if (/^namespace detail \{/.test(rest)) {
      at += matching(rest, rest.indexOf('{'));
    } else if (rest.startsWith('}')) {
      at += 1;
    } else {
      at += declaration(rest, open, sections, declare, group);
    }
  }
}

/** One declaration that `rest` begins with; returns its length. */
function declaration(rest, open, sections, declare, group) {
  const head = withoutTemplate(rest);
  const skipped = rest.length - head.length;
  const semicolon = rest.indexOf(';', skipped),
    brace = rest.indexOf('{', skipped);
  const line = rest.slice(semicolon, rest.indexOf('\n', semicolon));
  const trailing = /^;[ \t]*\/\*.*\*\/$/.test(line) ? line.length : 1;
  if (/^class \w+;/.test(head) || /^struct \w+;/.test(head)) return semicolon + trailing;
  if (/^class /.test(head)) {
    const end = matching(rest, brace);
    const name = `qz::${/^class (\w+)/.exec(head)[1]}`;
    declare(
      rest
        .slice(0, brace)
        .replace(/ : detail::fixed/, '')
        .trim(),
    );
    group.title = name;
    parse(rest.slice(brace + 1, end - 1), sections, name);
    return end + 1;
  }
  if (brace === -1 || semicolon < brace) {
    const code = rest.slice(0, semicolon + 1);
    if (open)
      declare(
        code.includes('(') && !code.startsWith('typedef') ? code.replace(/ __attribute__\(\(weak\)\)/, '') : code,
      );
    return semicolon + trailing;
  }
  const end = matching(rest, brace);
  if (/^(typedef|enum)/.test(head)) {
    const length = rest.indexOf(';', end) + 1;
    if (open) declare(rest.slice(0, length));
    return length;
  }
  const body = rest.slice(skipped, brace);
  if (!body.includes('(')) {
    // a member with an initializer
    return rest.indexOf(';', end) + 1;
  }
  if (open) declare(signature(rest.slice(0, brace)));
  // Braces of a constructor's initializers come before its body.
  return /^\s*;/.test(rest.slice(end)) ? rest.indexOf(';', end) + 1 : end;
}

/** Names that are code wherever they stand. */
const codeWord =
  /(?<![`\w:])((?:qz::|std::|qz_|QZ_|QUARTZ_|CLOCK_)\w+(?:::\w+)*(?:\(\))?|E[A-Z]{3,}|INT_MAX|SIG[A-Z]+)/g;

/** Lines of at most `width`; paragraphs, list items and indented code stay apart; names of the program become code. */
function prose(text) {
  const marked = (line) =>
    line
      .split(/(`[^`]*`)/)
      .map((part) =>
        part.startsWith('`')
          ? part
          : part.replace(/<(?=\w+\.h(?:pp)?>)(\w+\.h(?:pp)?)>/g, '`<$1>`').replace(codeWord, '`$1`'),
      )
      .join('');
  const blocks = [];
  let block;
  for (const line of text.split('\n')) {
    const kind =
      line.trim() === ''
        ? 'blank'
        : /^ {4}/.test(line)
          ? 'code'
          : line.startsWith('- ') || line.startsWith('Errors:') || line.startsWith('Throw')
            ? 'begin'
            : 'more';
    if (kind === 'blank') block = undefined;
    else if (block && ((kind === 'more' && !block.code) || (kind === 'code' && block.code))) block.lines.push(line);
    else blocks.push((block = { code: kind === 'code', item: line.startsWith('- '), lines: [line] }));
  }
  const out = [];
  for (const [k, { code, item, lines }] of blocks.entries()) {
    if (k > 0 && !(item && blocks[k - 1].item)) out.push('');
    if (code) out.push(...lines);
    else {
      let current = '';
      for (const word of marked(lines.map((line) => line.trim()).join(' ')).split(' ')) {
        if (current !== '' && current.length + 1 + word.length > width) {
          out.push(current);
          current = item ? `  ${word}` : word;
        } else current += (current === '' ? '' : ' ') + word;
      }
      out.push(current);
    }
  }
  return out.join('\n');
}

const dedent = (code) => {
  const indents = [...code.matchAll(/\n( +)/g)].map(([, spaces]) => spaces.length);
  const least = code.startsWith('typedef') || indents.length === 0 ? 0 : Math.max(0, Math.min(...indents) - 4);
  return least === 0 ? code : code.replaceAll(`\n${' '.repeat(least)}`, '\n');
};
const namesOf = (code) => [...code.matchAll(/\b(qz_\w+|QZ_\w+)\s*\(/g)].map(([, name]) => name);
const anchor = (title) =>
  title
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

function made() {
  const sections = [];
  for (const header of headers) {
    const text = readFileSync(join(includes, header), 'utf8').replace(/^\/\* clang-format .*\n/gm, '');
    const before = sections.length;
    parse(text, sections);
    for (const section of sections.slice(before)) section.header = header;
  }
  for (const { groups } of sections) {
    for (const { code, comment } of groups) {
      const codes = code.filter((one) => /^int \w+\(/.test(one));
      if (codes.length > 0 && !/Errors:|Returns/.test(comment))
        throw new Error(`${codes[0]}: the comment says neither its errors nor what it returns`);
    }
  }
  const [head] = /\/\*[^]*?\*\//.exec(readFileSync(join(includes, 'quartz.h'), 'utf8'));
  const intro = head
    .slice(2, -2)
    .split('\n')
    .map((line, k) => (k === 0 ? '' : line.replace(/^\s*\* ?/, '')))
    .join('\n')
    .trim();
  const out = [
    '# The thread package: every function',
    '',
    '<!-- Made from threadlib/include/quartz by scripts/library-page.js: change the headers, then run it. -->',
    '',
    prose(
      `${intro}\n\nHow threads are scheduled, and what ends a program: [threads](threads.md). ` +
        'How threads wait, and in which order: [synchronization objects](sync.md). ' +
        'Compiling and linking: [getting started](../guide/getting-started.md).',
    ),
    '',
    '| section | header | functions |',
    '|---|---|---|',
    ...sections.map(({ title, header, groups }) => {
      const names = header.endsWith('pp')
        ? groups.flatMap((one) => (one.title ? [one.title] : []))
        : [...new Set(groups.flatMap((one) => one.code.flatMap(namesOf)))];
      const quoted = names.map((name) => `\`${name}\``).join(' ');
      return `| [${title}](#${anchor(title)}) | \`quartz/${header}\` | ${quoted} |`;
    }),
  ];
  for (const { title, text, header, groups } of sections) {
    out.push('', `## ${title}`);
    if (text !== '') out.push('', prose(text));
    for (const { code, comment, within, title: name } of groups) {
      if (name) out.push('', `### ${name}`);
      else if (within === undefined && header.endsWith('pp') && groups.some((one) => one.title))
        out.push('', `### ${/(?:class )?(\w+)(?=\(| \{)/.exec(withoutTemplate(code[0]))[1].replace(/^/, 'qz::')}`);
      out.push('', `\`\`\`${header.endsWith('pp') ? 'cpp' : 'c'}`, ...code.map(dedent), '```', '', prose(comment));
    }
  }
  return `${out.join('\n')}\n`;
}

try {
  const text = made();
  if (process.argv[2] !== '--check') writeFileSync(page, text);
  else if (readFileSync(page, 'utf8') !== text) {
    console.error('docs/reference/library.md is not what the headers say: run node scripts/library-page.js');
    process.exitCode = 1;
  }
} catch (error) {
  console.error(`library-page: ${error.message}`);
  process.exitCode = 1;
}
