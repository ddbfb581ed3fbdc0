/**
 * Text in columns: widths, cutting, wrapping, colour. Names come from untrusted files: control characters never pass.
 */
import { eastAsianWidth } from 'get-east-asian-width';
import type { RenderOptions } from './options.js';

export type Tone =
  | 'heading'
  | 'dim'
  | 'strong'
  | 'warn'
  | 'part0'
  | 'part1'
  | 'part2'
  | 'part3'
  | 'part4'
  | 'part5'
  | 'alone0'
  | 'alone1'
  | 'alone2'
  | 'alone3'
  | 'alone4';
const codes: Record<Tone, string> = {
  heading: '1',
  dim: '2',
  strong: '1',
  warn: '33',
  part0: '34',
  part1: '31',
  part2: '32',
  part3: '35',
  part4: '36',
  part5: '33',
  // black or white on ColorBrewer's PuOr, in the 256 colours
  alone0: '38;5;16;48;5;208',
  alone1: '38;5;16;48;5;222',
  alone2: '38;5;16;48;5;254',
  alone3: '38;5;16;48;5;146',
  alone4: '38;5;231;48;5;60',
};

export function paint(text: string, tone: Tone, options: Pick<RenderOptions, 'colour'>): string {
  return options.colour && text !== '' ? `\u001b[${codes[tone]}m${text}\u001b[0m` : text;
}

/** What stands for characters of our own where there is ASCII alone. */
const letters: Readonly<Record<string, string>> = { µ: 'u', '±': '+-', '…': '..', '→': '->', '›': '>' };

/** A name fit for one line of a terminal. */
export function clean(name: string, options: Pick<RenderOptions, 'ascii'>): string {
  const safe = name.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, '?');
  return options.ascii ? safe.replace(/[^\x20-\x7e]/gu, (char) => letters[char] ?? '?') : safe;
}

const none = /[\p{Mn}\p{Me}\p{Cf}]/u;
/** Columns that a character takes: 0 (combining), 1, or 2 (wide, by Unicode's table). */
export const widthOf = (char: string): 0 | 1 | 2 =>
  char < '\u0300' ? 1 : none.test(char) ? 0 : eastAsianWidth(char.codePointAt(0) ?? 0);

/** Columns that a text takes (without colour codes). */
export function width(text: string): number {
  let total = 0;
  for (const char of text) total += widthOf(char);
  return total;
}

export function pad(text: string, columns: number, align: 'left' | 'right'): string {
  const space = ' '.repeat(Math.max(0, columns - width(text)));
  return align === 'left' ? text + space : space + text;
}

/** Cuts out the middle, where names differ least: both the beginning and the end of a C++ name matter. */
export function cut(text: string, columns: number, options: Pick<RenderOptions, 'ascii'>): string {
  if (width(text) <= columns) return text;
  const mark = options.ascii ? '..' : '…';
  const room = columns - width(mark);
  if (room <= 0) return mark.slice(0, Math.max(0, columns));
  const chars = Array.from(text);
  let head = '';
  let headWidth = 0;
  let from = 0;
  for (; from < chars.length && headWidth + widthOf(chars[from] ?? '') <= Math.ceil(room / 2); from++) {
    head += chars[from] ?? '';
    headWidth += widthOf(chars[from] ?? '');
  }
  let tail = '';
  let tailWidth = 0;
  for (let to = chars.length - 1; to >= from && headWidth + tailWidth + widthOf(chars[to] ?? '') <= room; to--) {
    tail = (chars[to] ?? '') + tail;
    tailWidth += widthOf(chars[to] ?? '');
  }
  return head + mark + tail;
}

/** The words of a text; a number stays with its unit. */
export const wordsOf = (text: string): string[] =>
  text.split(/\s+(?!(?:%|[mµun]?s|k?Hz)(?![\p{L}\d]))/u).filter((word) => word !== '');

/**
 * Lines of at most `columns`, each after `indent` spaces; a number stays with its unit, a word that is too long for a
 * line is cut.
 */
export function wrap(text: string, columns: number, indent: number, options: Pick<RenderOptions, 'ascii'>): string[] {
  const room = Math.max(10, columns - indent);
  const lines: string[] = [];
  let line = '';
  for (const word of wordsOf(text)) {
    const fit = cut(word, room, options);
    if (line !== '' && width(line) + 1 + width(fit) > room) {
      lines.push(line);
      line = fit;
    } else {
      line = line === '' ? fit : `${line} ${fit}`;
    }
  }
  if (line !== '') lines.push(line);
  return lines.map((one) => ' '.repeat(indent) + one);
}
