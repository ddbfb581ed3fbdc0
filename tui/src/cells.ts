/**
 * Copies a canvas into the cells of blessed's screen, leaving out what a terminal cannot show. Pure, except for writing
 * the cells.
 */
import { item } from '../../ts-frontend/src/model/index.js';
import type { Canvas } from './draw/canvas.js';

/** A row of the screen: the attributes and the character of each cell. */
export interface ScreenLine extends Array<[number, string]> {
  dirty: boolean;
}
/**
 * Copies a canvas into a blessed screen's cells. Without colour, only bold, underline and inverse are kept; without
 * Unicode, characters are replaced by ASCII ones.
 */
export function copyCells(
  canvas: Canvas,
  lines: ScreenLine[],
  { ascii: plainText, colour }: { ascii: boolean; colour: boolean },
): void {
  const noColour = (0x1ff << 9) | 0x1ff;
  for (let y = 0; y < canvas.height && y < lines.length; y++) {
    const line = item(lines, y);
    for (let x = 0; x < canvas.width && x < line.length; x++) {
      const at = y * canvas.width + x;
      const cell = item(line, x);
      const attr = item(canvas.attrs, at);
      cell[0] = colour ? attr : (attr & ~0x3ffff) | noColour;
      const char = item(canvas.chars, at);
      cell[1] = plainText && char > '~' ? '?' : char;
    }
    line.dirty = true;
  }
}
