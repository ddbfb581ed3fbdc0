/**
 * Every option there is, of all commands and of the sampler: the one definition. Parsing, bounds and help come from it;
 * scripts/option-table.js makes of it what the sampler (sampler/control/option_table.inc) and the shell (bin/quartz)
 * know. A command lists the names of those that it takes.
 */
import { formatNames } from '../export/format-names.js';
import { contextViews, setViews, views } from '../render/format/options.js';
import { defined } from '../model/index.js';

/** What an option's value has to be. */
export type Value =
  | { kind: 'switch' } // none
  | { kind: 'text' }
  | { kind: 'pattern' } // a file's name with placeholders (docs/reference/command-line.md, Names of profiles)
  | { kind: 'whole'; least: number; most: number }
  | { kind: 'number'; least: number; most: number }
  | { kind: 'size'; least: number; most: number } // bytes, with K, M or G
  | { kind: 'choice'; of: readonly string[] }
  | { kind: 'what-if' } // NAME or NAME=FACTOR
  | { kind: 'descriptor' }; // an open file of the sampler

export type Option = Value & {
  short?: string; // without -
  flag?: string; // what is written for it, where that is not its name: two commands call different things alike
  also?: string; // another name of it
  value?: string; // what the help calls the value
  alone?: string; // the value where none is written; another one is written behind =
  repeated?: boolean; // it may be given several times, and each counts; else the last one does
  wants?: string; // what the value has to be, where its kind does not say it well
  excludes?: string; // an option that cannot be given with it
  sampler?: 'record' | 'attach' | 'both'; // the sampler takes it, too
  help: string;
};

const table = {
  output: {
    kind: 'pattern',
    short: 'o',
    value: 'FILE',
    sampler: 'both',
    help: 'the profile to write (%n.quartz); %n program, %r rank, %h host, %p process, %j job',
  },
  rate: {
    kind: 'number',
    least: 0.001,
    most: 1e6,
    value: 'HZ',
    sampler: 'both',
    help: 'snapshots a second (10000 on a CPU of its own, else 1000)',
  },
  cpu: {
    kind: 'whole',
    least: 0,
    most: 65_535,
    value: 'N',
    sampler: 'both',
    help: 'CPU to sample on (one that the program leaves free)',
  },
  threads: {
    kind: 'whole',
    least: 1,
    most: 64,
    value: 'N',
    sampler: 'both',
    help: 'sampling threads (1; more for more than 64 processors, where CPUs are free)',
  },
  'max-size': {
    kind: 'size',
    least: 2 ** 20,
    most: 1e13,
    value: 'SIZE',
    sampler: 'both',
    help: 'largest size of a profile, with K, M or G (1G)',
  },
  children: {
    kind: 'switch',
    sampler: 'both',
    help: 'also record processes that the program starts, each into a file of its own',
  },
  tree: {
    kind: 'switch',
    sampler: 'record',
    excludes: 'children',
    help: 'one report over the program and all processes that descend from it, in place of a profile',
  },
  span: {
    kind: 'switch',
    sampler: 'both',
    help: 'record work and span, too: how long it would take on other numbers of processors',
  },
  timeline: {
    kind: 'switch',
    sampler: 'both',
    help: 'record what each thread did when, too, for trace viewers (quartz export)',
  },
  'what-if': {
    kind: 'what-if',
    repeated: true,
    value: 'NAME',
    sampler: 'both',
    help: 'work and span if procedure, site or lock NAME[=F] took F (0) of its time; twice at most',
  },
  'no-follow': {
    kind: 'switch',
    sampler: 'record',
    help: 'record a program that only starts others (timeout, make), not what does the work',
  },
  seconds: {
    kind: 'number',
    least: 1e-9,
    most: 1e9,
    wants: 'a number above 0, at most 1000000000',
    value: 'S',
    sampler: 'attach',
    help: 'stop recording after that time',
  },
  rotate: {
    kind: 'number',
    least: 1,
    most: 1e9,
    wants: 'a number of seconds, at least 1',
    value: 'S',
    sampler: 'both',
    help: 'begin a new file after that time; names hold the time at which each began',
  },
  keep: {
    kind: 'whole',
    least: 1,
    most: 1_000_000,
    value: 'N',
    sampler: 'both',
    help: 'with --rotate: how many files are kept, with the one being written (24)',
  },
  quiet: { kind: 'switch', short: 'q', sampler: 'both', help: 'no line about rate and cost at the end' },
  front: {
    kind: 'descriptor',
    value: 'FD',
    sampler: 'both',
    help: 'end when the other end of the pipe FD is closed, and end the program (attach: leave it)',
  },
  tell: {
    kind: 'descriptor',
    value: 'FD',
    sampler: 'both',
    help: "write the profile's name to FD when it is made",
  },
  account: {
    kind: 'descriptor',
    value: 'FD',
    sampler: 'both',
    help: 'write to FD at the end of the program what it took, in ns: elapsed, user and system time',
  },
  plain: { kind: 'switch', sampler: 'both', help: 'run the program without recording it, for --account' },
  measure: {
    kind: 'whole',
    least: 2,
    most: 1000,
    value: 'N',
    alone: '5',
    excludes: 'runs',
    help: 'by how much recording slows the program: N more runs (5) without Quartz and N recorded, in random order',
  },
  try: {
    kind: 'text',
    value: 'CHANGE',
    repeated: true,
    excludes: 'runs',
    help: "what a change gains, in alternating runs with and without it: 'NAME=VALUE ...', a command line, or both",
  },
  runs: {
    kind: 'whole',
    least: 2,
    most: 1000,
    value: 'N',
    help: 'record N runs: whether they agree, and whether their times fall into two modes',
  },
  pid: {
    kind: 'whole',
    least: 1,
    most: 2 ** 31 - 1,
    wants: 'a process id',
    short: 'p',
    value: 'PID',
    help: 'watch that process',
  },
  listen: {
    kind: 'text',
    value: 'ADDRESS',
    help: 'PORT or HOST:PORT of the loopback interface (port 0: a free one), or unix:PATH',
  },
  refresh: {
    kind: 'whole',
    least: 100,
    most: 60_000,
    value: 'MS',
    help: 'time between refreshes (1000; longer where a refresh is expensive)',
  },
  view: {
    kind: 'choice',
    of: [...views, ...contextViews],
    value: 'VIEW',
    help: 'procedures (the default), locks, threads; tree, callers or flat',
  },
  sort: { kind: 'text', value: 'COLUMN', help: 'for tree, callers and flat: the column to sort by (npt)' },
  metric: {
    kind: 'text',
    value: 'DEF',
    help: "for these: columns of your own, 'NAME = EXPRESSION; ...' (docs/reference/views.md)",
  },
  sites: {
    kind: 'switch',
    also: 'lines',
    help: 'for tree and flat: call sites, and the other lines of code that paths are at, have rows of their own',
  },
  source: {
    kind: 'text',
    value: 'FILE',
    excludes: 'view',
    help: 'the lines of a source file, with what each costs',
  },
  disassembly: {
    kind: 'switch',
    excludes: 'csv',
    help: 'with --source: also the instructions of its hottest lines, with what each costs',
  },
  focus: {
    kind: 'text',
    value: 'NAME',
    help: 'one procedure, lock or thread: when it ran, with whom, its children',
  },
  'path-span': {
    flag: 'span',
    kind: 'switch',
    help: 'work and span instead: what other numbers of processors would do (recorded with --span)',
  },
  'path-table': {
    flag: 'table',
    kind: 'text',
    value: 'TABLE',
    help: 'with --csv: segments or entities; with --span processors, entities, sites, locks, what-if or slack',
  },
  raw: { kind: 'switch', help: 'numbers as measured: the cost of the hooks is not subtracted' },
  csv: { kind: 'switch', excludes: 'json', help: 'the table as comma-separated values, times in ns' },
  json: { kind: 'switch', help: 'the whole report as JSON (docs/reference/json.md)' },
  markdown: { kind: 'switch', help: 'Markdown, for job summaries and merge requests' },
  sarif: { kind: 'switch', help: 'the findings as SARIF 2.1.0, for code hosts and editors' },
  notes: { kind: 'switch', help: 'the findings as compilers write theirs: FILE:LINE: note: ...' },
  brief: { kind: 'switch', help: 'with --json: findings and the costliest procedures in 8 KB' },
  top: { kind: 'whole', least: 0, most: 1_000_000, value: 'N', help: 'most rows in a table (20); 0 shows all' },
  width: {
    kind: 'whole',
    least: 1,
    most: 10_000,
    value: 'N',
    help: "columns to fit the output into (the terminal's, else 120)",
  },
  ascii: { kind: 'switch', help: 'no characters beyond ASCII (the default where the locale is not UTF-8)' },
  cc: { kind: 'text', value: 'COMPILER', help: 'compiler that the flags are for (default: $CC, else cc)' },
  hooks: {
    kind: 'choice',
    of: ['best', 'all', 'none'],
    value: 'KIND',
    help: 'best (the default), all (inlined procedures too) or none',
  },
  shared: { kind: 'switch', help: 'link the shared library, not the static one' },
  quoted: { kind: 'switch', help: 'paths in quotes, for eval, make and CMake' },
  format: { kind: 'choice', of: formatNames, value: 'FORMAT', help: formatNames.join(', ') },
  'export-output': { flag: 'output', kind: 'text', short: 'o', value: 'FILE', help: 'the file to write (stdout)' },
  'page-output': { flag: 'output', kind: 'text', short: 'o', value: 'FILE', help: 'the page to write (stdout)' },
  'set-output': {
    flag: 'output',
    kind: 'text',
    short: 'o',
    value: 'SET',
    help: 'the set to write (PROGRAM.quartzset)',
  },
  parameter: {
    kind: 'text',
    repeated: true,
    value: 'NAME=VALUE',
    help: 'a parameter of the run, such as size=4096: what sets are compared by (quartz query --view scaling)',
  },
  'set-view': {
    flag: 'view',
    kind: 'choice',
    of: setViews,
    value: 'VIEW',
    help: `${setViews.join(', ')} (docs/reference/sets.md)`,
  },
  work: {
    kind: 'text',
    value: 'NAME',
    help: 'with --view scaling: the parameter that the work of the job grows with (default: the work is constant)',
  },
  'fail-if': {
    kind: 'text',
    value: 'RULES',
    help: "exit with 1 if one holds: 'npt(NAME) > 5 %; elapsed > 3 %'; BEFORE and AFTER may be directories of runs",
  },
  holders: { kind: 'switch', help: 'who held locks while others waited, below each lock; not where time went' },
  'fold-runtime': { kind: 'switch', help: 'charge time in the libraries of C, C++ and OpenMP to what called them' },
  'fold-loops': { kind: 'switch', help: 'charge time in loops to the procedures that contain them' },
  help: { kind: 'switch', short: 'h', help: 'this help' },
} as const satisfies Record<string, Option>;

export type OptionName = keyof typeof table;
export const options: Readonly<Record<OptionName, Option>> = table;
export const optionNames = Object.keys(table) as readonly OptionName[];

/** How an option is written, without --. */
export const flagOf = (name: OptionName): string => options[name].flag ?? name;
/** All that may be written for it, without --. */
export const flagsOf = (name: OptionName): readonly string[] => {
  const { also } = options[name];
  return also === undefined ? [flagOf(name)] : [flagOf(name), also];
};

/** The recording commands' own. */
export const recordingOptions = [
  'output',
  'rate',
  'cpu',
  'threads',
  'max-size',
  'span',
  'what-if',
  'timeline',
  'quiet',
] as const;
/** Of recordings that go on for long. */
export const continuousOptions = [
  'output',
  'rotate',
  'keep',
  'rate',
  'cpu',
  'threads',
  'max-size',
  'timeline',
  'quiet',
] as const;
/** How a table is shown on a terminal. */
export const displayOptions = ['top', 'width', 'ascii'] as const;
/** Forms that exclude each other. */
export const forms = ['csv', 'json', 'markdown', 'sarif', 'notes'] as const;
/** Of the commands that show a profile. */
export const formatOptions = ['raw', 'csv', 'json', ...displayOptions] as const;

const sizeText = (bytes: number): string => `${bytes / 2 ** 20}M`;

/** What an option's value has to be, in words; of those without a value what no value can be. */
export function wantsOf(option: Option): string {
  if (option.wants !== undefined) return option.wants;
  switch (option.kind) {
    case 'switch':
      return 'no value';
    case 'text':
      return 'a value';
    case 'pattern':
      return 'a file name, in which after % stands one of n, r, h, p, j or another %';
    case 'whole':
      return `a whole number from ${option.least} to ${option.most}`;
    case 'number':
      return `a number from ${option.least} to ${option.most}`;
    case 'size':
      return `a size of at least ${sizeText(option.least)}`;
    case 'choice':
      return `${option.of.slice(0, -1).join(', ')} or ${defined(option.of.at(-1))}`;
    case 'what-if':
      return `a name, or NAME=FACTOR with a factor from 0 to ${factorMost}`;
    case 'descriptor':
      return 'the number of an open file descriptor';
  }
}

const factorMost = 1000;
const decimal = /^\+?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** The number that a value gives, NaN where it gives none. Bounds are not looked at. */
export function numberOf(option: Option, text: string): number {
  if (option.kind === 'whole') return /^\d+$/.test(text) ? Number(text) : NaN;
  if (option.kind !== 'size') return decimal.test(text) ? Number(text) : NaN;
  const power = 'KMG'.indexOf(text.slice(-1).toUpperCase()) + 1;
  const digits = power > 0 && text !== '' ? text.slice(0, -1) : text;
  return decimal.test(digits) ? Number(digits) * 1024 ** (text === '' ? 0 : power) : NaN;
}

/** Whether an option may have this value. */
export function accepts(option: Option, text: string): boolean {
  switch (option.kind) {
    case 'pattern':
      return text !== '' && !text.replace(/%[nrhpj%]/g, '').includes('%');
    case 'choice':
      return option.of.includes(text);
    case 'whole':
    case 'number':
    case 'size': {
      const value = numberOf(option, text);
      return value >= option.least && value <= option.most;
    }
    case 'what-if': {
      const [, name = '', factor] = /^(.*?)(?:=([^=]*))?$/s.exec(text) ?? [];
      return name !== '' && (factor === undefined || (/^[\d.]/.test(factor) && inFactors(factor)));
    }
    default:
      return true;
  }
}
const inFactors = (text: string): boolean => decimal.test(text) && Number(text) <= factorMost;
