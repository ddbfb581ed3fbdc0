/**
 * A rectangle of character cells, and the drawing operations that views need. Pure: it does not depend on a terminal. A
 * cell is one column wide; text is cut at the edges, never wrapped. Attributes are packed as in blessed (bits 0-8
 * background, 9-17 foreground, 18- flags), so that the terminal side copies cells without converting them.
 */
import { widthOf, wordsOf } from '../../../ts-frontend/src/render/format/text.js';

const Flag = { bold: 1, underline: 2, inverse: 8 } as const;
const noColour = 0x1ff;

export interface Style {
  fg?: number;
  bg?: number;
  bold?: boolean;
  underline?: boolean;
  inverse?: boolean;
}

/** Colours by number, 0 to 15 as in terminals; `undefined` is the terminal's default colour. */
export const Colour = {
  black: 0,
  red: 1,
  green: 2,
  yellow: 3,
  blue: 4,
  magenta: 5,
  cyan: 6,
  white: 7,
  grey: 8,
  brightRed: 9,
  brightGreen: 10,
  brightYellow: 11,
  brightBlue: 12,
  brightMagenta: 13,
  brightCyan: 14,
  brightWhite: 15,
} as const;

function packStyle(style: Style = {}): number {
  const flags =
    (style.bold ? Flag.bold : 0) | (style.underline ? Flag.underline : 0) | (style.inverse ? Flag.inverse : 0);
  return (flags << 18) | ((style.fg ?? noColour) << 9) | (style.bg ?? noColour);
}
export const plain = packStyle();

/**
 * Whether a character occupies one column, is one UTF-16 unit (as blessed requires), and is no control character. Other
 * characters are replaced when drawn.
 */
const fitsCell = (char: string): boolean =>
  (char >= ' ' && char < '\u007f') || (char >= '\u00a0' && char.length === 1 && widthOf(char) === 1);

/** A line chart that the terminal side draws with dots, two by four per cell, over the cells of that rectangle. */
export interface Plot {
  x: number;
  y: number;
  width: number;
  height: number;
  axis: number; // width of the axis labels, in columns
  top: number; // end of the scale, which begins at 0, and the distance between its labels
  step: number;
  labels: string[]; // one below each point; every n-th is shown
  every: number;
  series: { colour: number; values: number[] }[]; // one value per point; later series are drawn over earlier ones
}

export class Canvas {
  plot: Plot | null = null;
  readonly chars: string[];
  readonly attrs: Int32Array;
  readonly width: number;
  readonly height: number;

  /** What is left of a tiny terminal may be less than nothing: then the canvas is empty. */
  constructor(width: number, height: number) {
    this.width = Math.max(0, width);
    this.height = Math.max(0, height);
    this.chars = new Array<string>(this.width * this.height).fill(' ');
    this.attrs = new Int32Array(this.width * this.height).fill(plain);
  }

  put(x: number, y: number, char: string, style?: Style): void {
    if (x < 0 || y < 0 || x >= this.width || y >= this.height) return;
    this.chars[y * this.width + x] = char;
    this.attrs[y * this.width + x] = packStyle(style);
  }

  /**
   * Draws text from (x, y), at most `width` columns; returns the column after it. Control and wide characters become
   * '?'.
   */
  text(x: number, y: number, text: string, style?: Style, width = this.width - x): number {
    const attr = packStyle(style);
    let column = x;
    const end = Math.min(this.width, x + width);
    for (const char of text) {
      if (column >= end) {
        if (text.slice(text.length - 1) !== ' ') this.markCut(end - 1, y);
        break;
      }
      if (column >= 0 && y >= 0 && y < this.height) {
        this.chars[y * this.width + column] = fitsCell(char) ? char : '?';
        this.attrs[y * this.width + column] = attr;
      }
      column++;
    }
    return column;
  }

  /** Marks the last cell to show that the text continues: no text or number is cut off without a mark. */
  private markCut(x: number, y: number): void {
    if (x >= 0 && x < this.width && y >= 0 && y < this.height) this.chars[y * this.width + x] = '…';
  }

  textRight(x: number, y: number, width: number, text: string, style?: Style): void {
    const { length } = text;
    this.text(x + Math.max(0, width - length), y, text, style, Math.min(width, length));
  }

  fill(x: number, y: number, width: number, height: number, char = ' ', style?: Style): void {
    for (let row = y; row < y + height; row++)
      for (let column = x; column < x + width; column++) this.put(column, row, char, style);
  }

  /** Changes the style of cells and keeps their characters. */
  paint(x: number, y: number, width: number, style: Style): void {
    if (y < 0 || y >= this.height) return;
    for (let column = Math.max(0, x); column < Math.min(this.width, x + width); column++) {
      this.attrs[y * this.width + column] = packStyle(style);
    }
  }

  /** Replaces characters by others of the same width. */
  replace(others: ReadonlyMap<string, string>): void {
    this.chars.forEach((char, at) => {
      const other = others.get(char);
      if (other !== undefined) this.chars[at] = other;
    });
  }

  /** Copies another canvas onto this one. */
  blit(x: number, y: number, other: Canvas): void {
    if (other.plot !== null) this.plot = { ...other.plot, x: other.plot.x + x, y: other.plot.y + y };
    for (let row = 0; row < other.height; row++) {
      const target = y + row;
      if (target < 0 || target >= this.height) continue;
      for (let column = 0; column < other.width; column++) {
        const at = x + column;
        if (at < 0 || at >= this.width) continue;
        this.chars[target * this.width + at] = other.chars[row * other.width + column] ?? ' ';
        this.attrs[target * this.width + at] = other.attrs[row * other.width + column] ?? 0;
      }
    }
  }

  line(y: number): string {
    return this.chars.slice(y * this.width, (y + 1) * this.width).join('');
  }

  toString(): string {
    return Array.from({ length: this.height }, (_, y) => this.line(y).trimEnd()).join('\n');
  }
}

/** As many of the parts, from the first one on, as fit into `width` columns. */
export function whole(parts: readonly string[], width: number): string {
  let text = parts[0] ?? '';
  for (const part of parts.slice(1)) {
    if (text.length + part.length > width) break;
    text += part;
  }
  return text;
}

/** Breaks text at spaces into lines of at most `width` columns; a number and its unit are not separated. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of wordsOf(text)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
    while (line.length > width) {
      lines.push(line.slice(0, width));
      line = line.slice(width);
    }
  }
  if (line !== '') lines.push(line);
  return lines;
}
