/** The characters that views draw with: one set for terminals with Unicode, one without. */
export interface Glyphs {
  ascii: boolean;
  useful: string; overhead: string; spinning: string; idle: string; runnable: string;
  self: string; children: string;
  horizontal: string; vertical: string; corner: string; up: string; down: string; arrow: string; crumb: string; plusMinus: string;
  /** Bars that end within a cell, from empty to full. */
  eighths: readonly string[];
  heat: readonly string[];
}
export const unicode: Glyphs = {
  ascii: false, useful: '█', overhead: '▓', spinning: '▒', idle: '·', runnable: '▪', self: '█', children: '░',
  horizontal: '─', vertical: '│', corner: '└', up: '▲', down: '▼', arrow: '→', crumb: ' › ', plusMinus: '±',
  eighths: [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
  heat: ['·', '░', '▒', '▓', '█'],
};
export const ascii: Glyphs = {
  ascii: true, useful: '#', overhead: 'o', spinning: '*', idle: '.', runnable: '-', self: '#', children: '+',
  horizontal: '-', vertical: '|', corner: '+', up: '^', down: 'v', arrow: '->', crumb: ' > ', plusMinus: '+-',
  eighths: [' ', ' ', ' ', ' ', '#', '#', '#', '#', '#'],
  heat: ['.', ':', '+', '*', '#'],
};
