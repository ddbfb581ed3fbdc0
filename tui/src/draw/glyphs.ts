/**
 * The characters that views draw with: one set for terminals with Unicode, one without. No two on one screen mean the
 * same, none means two things.
 */
export interface Glyphs {
  ascii: boolean;
  /** The time line is drawn as lines of dots, in colours, by the terminal side; else of cells. */
  dots: boolean;
  /** What a processor does. */
  useful: string;
  overhead: string;
  spinning: string;
  idle: string;
  runnable: string;
  /**
   * What the time path's thread did, where that is none of these; that it had less of a cell than another thread; what
   * is not decided yet.
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
  /** An amount, in a bar; boxes of a bottle graph, in turn, and the selected one. */
  bar: string;
  boxes: readonly [string, string];
  selected: string;
  horizontal: string;
  vertical: string;
  up: string;
  down: string;
  crumb: string;
  plusMinus: string;
  /** Text that goes on behind the edge. */
  cut: string;
  /** How busy a processor is, from idle to always. */
  heat: readonly string[];
  /** On the map of ranks: much less than the median of all, less, near it, more, much more. */
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
  steps: ['v', ',', '.', "'", '^'],
};
