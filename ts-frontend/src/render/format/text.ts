/**
 * Text layout in columns: width, truncation, wrapping, colour. Names come from untrusted files, so control characters
 * are always removed.
 */
import { eastAsianWidth } from 'get-east-asian-width';
import type { RenderOptions } from './options.js';
import { unitPattern } from './units.js';

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
  // black or white text on ColorBrewer's PuOr scale, in the terminal's 256 colours
  alone0: '38;5;16;48;5;208',
  alone1: '38;5;16;48;5;222',
  alone2: '38;5;16;48;5;254',
  alone3: '38;5;16;48;5;146',
  alone4: '38;5;231;48;5;60',
};

export function paint(text: string, tone: Tone, options: Pick<RenderOptions, 'colour'>): string {
  return options.colour && text !== '' ? `\u001b[${codes[tone]}m${text}\u001b[0m` : text;
}

/** ASCII replacements for the non-ASCII characters that Quartz itself uses. */
const letters: Readonly<Record<string, string>> = { µ: 'u', '±': '+-', '…': '..', '→': '->', '›': '>' };

/** The name with control characters replaced, so that it fits on one line of a terminal. */
export function clean(name: string, options: Pick<RenderOptions, 'ascii'>): string {
  const safe = name.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, '?');
  return options.ascii ? safe.replace(/[^\x20-\x7e]/gu, (char) => letters[char] ?? '?') : safe;
}

const none = /[\p{Mn}\p{Me}\p{Cf}]/u;
/** The number of columns of a character: 0 (combining), 1, or 2 (wide, by Unicode's East Asian Width). */
export const widthOf = (char: string): 0 | 1 | 2 =>
  char < '\u0300' ? 1 : none.test(char) ? 0 : eastAsianWidth(char.codePointAt(0) ?? 0);

/** The number of columns of a text, not counting colour codes. */
export function width(text: string): number {
  let total = 0;
  for (const char of text) total += widthOf(char);
  return total;
}

export function pad(text: string, columns: number, align: 'left' | 'right'): string {
  const space = ' '.repeat(Math.max(0, columns - width(text)));
  return align === 'left' ? text + space : space + text;
}

/** Shortens a text in the middle: beginning and end of a C++ name distinguish it best from other names. */
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

/** Splits a text into words; a number and its unit count as one word. */
const betweenWords = new RegExp(String.raw`\s+(?!${unitPattern})`, 'u');
export const wordsOf = (text: string): string[] => text.split(betweenWords).filter((word) => word !== '');

/**
 * Breaks a text into lines of at most `columns`, each indented by `indent` spaces. Keeps a number and its unit
 * together; truncates a word that is longer than a line.
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
