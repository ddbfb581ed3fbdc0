/**
 * The only definition of all options, of all commands and of the sampler. Parsing, bounds and help use it;
 * scripts/option-table.js generates from it the tables of the sampler (sampler/control/option_table.inc) and of the
 * shell script (bin/quartz). Each command lists the names of the options that it accepts.
 */
import { formatNames } from '../export/format-names.js';
import { contextViews, setViews, views } from '../render/format/options.js';

/** The type of an option's value. */
type Value =
  | { kind: 'switch' } // no value
  | { kind: 'text' }
  | { kind: 'pattern' } // a file name with placeholders (docs/reference/command-line.md, Names of profiles)
  | { kind: 'whole'; least: number; most: number }
  | { kind: 'number'; least: number; most: number }
  | { kind: 'size'; least: number; most: number } // a number of bytes, with an optional suffix K, M or G
  | { kind: 'choice'; of: readonly string[] }
  | { kind: 'what-if' } // NAME or NAME=FACTOR
  | { kind: 'descriptor' }; // the number of a file descriptor that is open in the sampler

export type Option = Value & {
  short?: string; // the one-letter form, without the dash
  flag?: string; // the name on the command line, if not the key: two commands use one word differently
  also?: string; // a second name for the option
  value?: string; // the placeholder for the value in the help
  alone?: string; // the value if the option is given without one; another value is then written after =
  repeated?: boolean; // every occurrence counts; for other options the last one does
  wants?: string; // what a valid value is, if the description derived from `kind` is imprecise
  excludes?: string; // an option that may not be combined with this one
  sampler?: 'record' | 'attach' | 'both'; // the sampler accepts the option as well
  help: string;
};

export const table = {
  output: {
    kind: 'pattern',
    short: 'o',
    value: 'FILE',
    sampler: 'both',
    help: 'the profile (default: %n.quartz); %n program, %r rank, %h host, %p process, %j job',
  },
  'report-file': {
    flag: 'report',
    kind: 'text',
    value: 'FILE',
    help: "the file for the report (default: stdout, or stderr if stdout is a file with the program's output)",
  },
  rate: {
    kind: 'number',
    least: 0.001,
    most: 1e6,
    value: 'HZ',
    sampler: 'both',
    help: 'snapshots per second (default: 10000 if the sampler has its own CPU, else 1000)',
  },
  cpu: {
    kind: 'whole',
    least: 0,
    most: 65_535,
    value: 'N',
    sampler: 'both',
    help: 'CPU that the sampler runs on (default: one that the program leaves idle)',
  },
  threads: {
    kind: 'whole',
    least: 1,
    most: 64,
    value: 'N',
    sampler: 'both',
    help: 'sampling threads (default: 1; more for more than 64 processors, if CPUs are idle)',
  },
  'max-size': {
    kind: 'size',
    least: 2 ** 20,
    most: 1e13,
    value: 'SIZE',
    sampler: 'both',
    help: 'maximum size of a profile, in bytes or with K, M or G (default: 1G)',
  },
  children: {
    kind: 'switch',
    sampler: 'both',
    help: 'also record the processes that the program starts, each into its own file',
  },
  tree: {
    kind: 'switch',
    sampler: 'record',
    help: 'record all processes that descend from the program, and report on them as one',
  },
  span: {
    kind: 'switch',
    sampler: 'both',
    help: 'also record work and span, which predict the run time on other numbers of processors',
  },
  timeline: {
    kind: 'switch',
    sampler: 'both',
    help: 'also record what each thread did at which time, for trace viewers (quartz export)',
  },
  'what-if': {
    kind: 'what-if',
    repeated: true,
    value: 'NAME[=F]',
    sampler: 'both',
    help: 'work and span if procedure, site or lock NAME took F (or 0) times its time; up to two',
  },
  'no-signals': {
    kind: 'switch',
    sampler: 'both',
    help: 'take no samples by signals where the kernel refuses to take them of running threads',
  },
  'no-follow': {
    kind: 'switch',
    sampler: 'record',
    help: 'record the program itself even if it only starts others (timeout, make)',
  },
  seconds: {
    kind: 'number',
    least: 1e-9,
    most: 1e9,
    wants: 'a number above 0, at most 1000000000',
    value: 'S',
    sampler: 'attach',
    help: 'stop recording after S seconds',
  },
  rotate: {
    kind: 'number',
    least: 1,
    most: 1e9,
    wants: 'a number of seconds, at least 1',
    value: 'S',
    sampler: 'both',
    help: 'begin a new file every S seconds; each name contains the time at which the file begins',
  },
  keep: {
    kind: 'whole',
    least: 1,
    most: 1_000_000,
    value: 'N',
    sampler: 'both',
    help: 'with --rotate: how many files to keep, including the one being written (default: 24)',
  },
  quiet: {
    kind: 'switch',
    short: 'q',
    sampler: 'both',
    help: 'do not print the line about sampling rate and cost at the end',
  },
  'merge-quiet': {
    flag: 'quiet',
    kind: 'switch',
    short: 'q',
    help: 'do not print the line about the set that was written',
  },
  front: {
    kind: 'descriptor',
    value: 'FD',
    sampler: 'both',
    help: 'end, with the program (attach: without it), when the other end of the pipe FD closes',
  },
  tell: {
    kind: 'descriptor',
    value: 'FD',
    sampler: 'both',
    help: "write the profile's name to FD when the profile is created",
  },
  account: {
    kind: 'descriptor',
    value: 'FD',
    sampler: 'both',
    help: 'write elapsed, user and system time of the program to FD when it ends, in ns',
  },
  plain: { kind: 'switch', sampler: 'both', help: 'run the program without recording it; for --account' },
  measure: {
    kind: 'whole',
    least: 2,
    most: 1000,
    value: 'N',
    alone: '5',
    excludes: 'runs',
    help: 'measure the cost of recording: N more runs without Quartz (default: 5) and N recorded, in random order',
  },
  try: {
    kind: 'text',
    value: 'CHANGE',
    repeated: true,
    excludes: 'runs',
    help: "measure what a change gains, in alternating runs: 'NAME=VALUE ...' (environment), a command line, or both",
  },
  runs: {
    kind: 'whole',
    least: 2,
    most: 1000,
    value: 'N',
    help: 'record N runs; report whether they agree, and whether they fall into fast and slow ones',
  },
  pid: {
    kind: 'whole',
    least: 1,
    most: 2 ** 31 - 1,
    wants: 'a process id',
    short: 'p',
    value: 'PID',
    help: 'observe the process with this ID',
  },
  listen: {
    kind: 'text',
    value: 'ADDRESS',
    help: 'PORT or HOST:PORT on the loopback interface (port 0: any free port), or unix:PATH',
  },
  refresh: {
    kind: 'whole',
    least: 100,
    most: 60_000,
    value: 'MS',
    help: 'time between refreshes in ms (default: 1000; longer if a refresh is expensive)',
  },
  view: {
    kind: 'choice',
    of: [...views, ...contextViews],
    value: 'VIEW',
    help: 'procedures (default), locks or threads; contexts: tree, callers or flat',
  },
  sort: {
    kind: 'text',
    value: 'COLUMN',
    help: 'with --view tree, callers or flat: the column or metric to sort by (default: npt)',
  },
  metric: {
    kind: 'text',
    value: 'DEF',
    help: "with these views: additional columns, 'NAME = EXPRESSION; ...' (docs/reference/views.md)",
  },
  sites: {
    kind: 'switch',
    also: 'lines',
    help: 'with --view tree or flat: separate rows for call sites and for the source lines being executed',
  },
  source: {
    kind: 'text',
    value: 'FILE',
    excludes: 'view',
    help: 'show the lines of a source file with the cost of each',
  },
  disassembly: {
    kind: 'switch',
    excludes: 'csv',
    help: 'with --source: also show the instructions of the hottest lines with the cost of each',
  },
  focus: {
    kind: 'text',
    value: 'NAME',
    help: 'show one procedure, lock or thread: when it ran, beside how many others, and what it called',
  },
  'path-span': {
    flag: 'span',
    kind: 'switch',
    help: 'show work and span instead: run times on other numbers of processors (needs record --span)',
  },
  'path-table': {
    flag: 'table',
    kind: 'text',
    value: 'TABLE',
    help: 'with --csv: segments or entities; with --span: processors, entities, sites, locks, what-if or slack',
  },
  raw: { kind: 'switch', help: 'show numbers as measured, without subtracting the cost of the hooks' },
  csv: { kind: 'switch', excludes: 'json', help: 'the table as comma-separated values, times in ns' },
  json: { kind: 'switch', help: 'the whole report as JSON (docs/reference/json.md)' },
  markdown: { kind: 'switch', help: 'Markdown, for job summaries and merge requests' },
  sarif: { kind: 'switch', help: 'the findings as SARIF 2.1.0, for code hosts and editors' },
  notes: { kind: 'switch', help: "the findings in the form of a compiler's messages, FILE:LINE: note: ..." },
  brief: { kind: 'switch', help: 'with --json: only findings and the costliest procedures, at most 8 KB' },
  top: {
    kind: 'whole',
    least: 0,
    most: 1_000_000,
    value: 'N',
    help: 'maximum number of rows in a table (default: 20); 0 shows all',
  },
  width: {
    kind: 'whole',
    least: 1,
    most: 10_000,
    value: 'N',
    help: "maximum number of columns (default: the terminal's width, else 120)",
  },
  ascii: { kind: 'switch', help: 'use ASCII characters only (the default if the locale is not UTF-8)' },
  cc: { kind: 'text', value: 'COMPILER', help: 'the compiler that will be given the flags (default: $CC, else cc)' },
  hooks: {
    kind: 'choice',
    of: ['best', 'all', 'none'],
    value: 'KIND',
    help: 'best (default), all (also in inlined procedures) or none',
  },
  shared: { kind: 'switch', help: 'link the shared library instead of the static one' },
  quoted: { kind: 'switch', help: 'quote paths, for eval, make and CMake' },
  format: { kind: 'choice', of: formatNames, value: 'FORMAT', help: formatNames.join(', ') },
  'export-output': {
    flag: 'output',
    kind: 'text',
    short: 'o',
    value: 'FILE',
    help: 'the file to write (default: stdout)',
  },
  'page-output': {
    flag: 'output',
    kind: 'text',
    short: 'o',
    value: 'FILE',
    help: 'the page to write (default: stdout; PROGRAM.html if that is a terminal)',
  },
  'set-output': {
    flag: 'output',
    kind: 'text',
    short: 'o',
    value: 'SET',
    help: 'the set to write (default: PROGRAM.quartzset)',
  },
  parameter: {
    kind: 'text',
    repeated: true,
    value: 'NAME=VALUE',
    help: 'a parameter of the run, such as size=4096, by which sets are compared (quartz query --view scaling)',
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
    help: "with --view scaling: the parameter that the job's work is proportional to (default: the work is constant)",
  },
  'fail-if': {
    kind: 'text',
    value: 'RULES',
    help: "exit with 1 if a rule holds: 'npt(NAME) > 5 %; elapsed > 3 %'; BEFORE and AFTER may be directories of runs",
  },
  holders: {
    kind: 'switch',
    help: 'instead of where time was spent: for each lock, the contexts that held it while others waited',
  },
  'fold-runtime': {
    kind: 'switch',
    help: 'charge time in the run-time libraries of C, C++ and OpenMP to their callers',
  },
  'fold-loops': { kind: 'switch', help: 'charge time in loops to the procedures that contain them' },
  help: { kind: 'switch', short: 'h', help: 'show this help' },
} as const satisfies Record<string, Option>;
