/**
 * The characters that views draw with: one set for terminals with Unicode, one for those without. On one screen, no two
 * of them have the same meaning, and none has two meanings.
 */
export interface Glyphs {
  ascii: boolean;
  /** Whether the time line is drawn by the terminal side as coloured lines of dots; else it is made of cells. */
  dots: boolean;
  /** What a processor does. */
  useful: string;
  overhead: string;
  spinning: string;
  idle: string;
  runnable: string;
  /**
   * States of the time path's thread other than these; that the thread had less of a cell than another one; that the
   * path is not decided yet.
   */
  blocked: string;
  io: string;
  unknown: string;
  less: string;
  undecided: string;
  line: string;
  /** Parts of an entity's normalized processor time. */
  self: string;
  children: string;
  /** An amount in a bar; alternating boxes of a bottle graph, and the selected box. */
  bar: string;
  boxes: readonly [string, string];
  selected: string;
  horizontal: string;
  vertical: string;
  up: string;
  down: string;
  crumb: string;
  plusMinus: string;
  /** Marks text that continues beyond the edge. */
  cut: string;
  /** How busy a processor is, from idle to always busy. */
  heat: readonly string[];
  /** In the icicle graph: how alone code ran, from alone to beside work on all processors. */
  alone: readonly string[];
  /** On the map of ranks: much less than the median of all ranks, less, near it, more, much more. */
  steps: readonly string[];
}
export const unicode: Glyphs = {
  ascii: false,
  dots: false,
  useful: '█',
  overhead: '▓',
  spinning: '▒',
  idle: '·',
  runnable: '▪',
  blocked: '○',
  io: '◇',
  unknown: '?',
  less: '╵',
  undecided: '┄',
  line: '─',
  self: '■',
  children: '□',
  bar: '━',
  boxes: ['█', '▓'],
  selected: '@',
  horizontal: '─',
  vertical: '│',
  up: '▲',
  down: '▼',
  crumb: ' › ',
  plusMinus: '±',
  cut: '…',
  heat: ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
  alone: ['█', '▓', '▒', '░', '·'],
  steps: ['▼', '▽', '·', '△', '▲'],
};
export const ascii: Glyphs = {
  ascii: true,
  dots: false,
  useful: '#',
  overhead: 'o',
  spinning: '*',
  idle: '.',
  runnable: '-',
  blocked: 'w',
  io: 'i',
  unknown: '?',
  less: "'",
  undecided: ':',
  line: '-',
  self: '@',
  children: '+',
  bar: '=',
  boxes: ['#', 'o'],
  selected: '@',
  horizontal: '-',
  vertical: '|',
  up: '^',
  down: 'v',
  crumb: ' > ',
  plusMinus: '+-',
  cut: '~',
  heat: ['.', '1', '2', '3', '4', '5', '6', '7', '8', '9'],
  alone: ['#', '=', '-', ':', '.'],
  steps: ['v', ',', '.', "'", '^'],
};

/** For the characters of text that a terminal without Unicode lacks. */
export const plainLetters: ReadonlyMap<string, string> = new Map([
  ['…', ascii.cut],
  ['µ', 'u'],
  ['›', '>'],
  ['→', '>'],
]);
