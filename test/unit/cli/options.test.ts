/** Options: valid values, by the one table; and that the sampler, the shell and the help agree. */
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'ava';
import { parse, type Command } from '../../../ts-frontend/src/cli/command.js';
import {
  flagOf,
  flagsOf,
  optionNames,
  options,
  wantsOf,
  type OptionName,
} from '../../../ts-frontend/src/cli/options.js';
import { optionRows } from '../../../ts-frontend/src/cli/help.js';
import { root } from '../../support/root.js';

/** A command that accepts every option. */
const all: Command = {
  name: 'all',
  usage: '',
  about: '',
  examples: [],
  options: optionNames.filter((name) => name !== 'help' && options[name].flag === undefined),
  most: 1,
  run: () => 0,
};
const program: Command = { ...all, program: true };

/** Values of each kind on both sides of its bounds; the sampler must agree on each. */
const values: Partial<Record<OptionName, { good: string[]; bad: string[] }>> = {
  output: { good: ['a', '%n-%r%h%p%j%%', '-'], bad: ['', '%', 'a%x', '%N'] },
  rate: {
    good: ['0.001', '1000000', '1e6', '.5', '5.', '+5'],
    bad: ['', '0', '0.0009', '1000001', '-5', '5x', 'inf', 'nan', '0x10', '1e', '5 ', '1e999'],
  },
  cpu: { good: ['0'], bad: ['', '-1', '1.5', '65536', 'x', '+1'] },
  threads: { good: ['1', '64', '007'], bad: ['', '0', '65', '2.0', '1e1'] },
  'max-size': {
    good: ['1M', '1m', '1048576', '1024K', '1.5G', '1e7'],
    bad: ['', '0', '1', '1023K', '1MB', 'M', '-1G', '1e14', '99999G'],
  },
  'what-if': {
    good: ['f', 'f=0', 'ns::f@main=0.5', 'f=1000', 'f=1e-3', 'operator==2', 'f=.5', '5'],
    bad: ['', '=1', 'f=', 'f=x', 'f=-1', 'f=+1', 'f=1001', 'f=nan', 'f=.', 'f=1e', 'f=0x1'],
  },
  seconds: { good: ['0.001', '1e9', '10'], bad: ['', '0', '-1', '1e10', 'x'] },
  rotate: { good: ['1', '3600', '1e9'], bad: ['', '0', '0.5', '1e10', 'x'] },
  keep: { good: ['1', '1000000'], bad: ['', '0', '1000001', '2.5'] },
  pid: { good: ['1', '2147483647'], bad: ['', '0', '2147483648', 'x', '-1'] },
  measure: { good: ['2', '1000'], bad: ['', '0', '1', '1001', '-5', '5x', '2.5'] },
  runs: { good: ['2', '1000'], bad: ['', '0', '1', '1001', 'x'] },
  refresh: { good: ['100', '60000'], bad: ['', '99', '60001', '1e3'] },
  view: { good: ['procedures', 'locks', 'threads'], bad: ['', 'lock', 'Threads'] },
  format: { good: ['pprof', 'trace-event'], bad: ['', 'svg'] },
  top: { good: ['0', '1000000'], bad: ['', '-1', '1000001', 'many'] },
  width: { good: ['1', '10000'], bad: ['', '0', '10001'] },
  'set-view': { good: ['ranks', 'scaling'], bad: ['', 'rank', 'procedures'] },
  hooks: { good: ['best', 'all', 'none'], bad: ['', 'some'] },
};

for (const [name, { good, bad }] of Object.entries(values) as [OptionName, { good: string[]; bad: string[] }][]) {
  test(`${name}: bounds`, (t) => {
    const flag = flagOf(name);
    const takes: Command = { ...all, options: [name] }; // several options may have the same name
    for (const value of good) t.is(parse(takes, [`--${flag}=${value}`]).text(name), value);
    for (const value of bad) {
      const error = t.throws(() => parse(takes, [`--${flag}=${value}`]), undefined, value);
      t.true(
        error.message.startsWith(`--${flag} needs ${wantsOf(options[name])}, not ${value || '""'}; `),
        error.message,
      );
    }
  });

  if (options[name].sampler !== undefined)
    test(`--${name}: the sampler says the same`, (t) => {
      const said = (value: string): string =>
        // without a process to attach to: if the value is valid, nothing is recorded
        spawnSync(join(root, 'build/sampler/quartz-sampler'), ['attach', `--${name}`, value], { encoding: 'utf8' })
          .stderr;
      for (const value of good) t.is(said(value), 'quartz: attach needs one process id; see --help\n', value);
      for (const value of bad)
        t.is(said(value), `quartz: --${name} needs ${wantsOf(options[name])}, not ${value || '""'}; see --help\n`);
    });
}

test('each kind of value with bounds is tried above', (t) => {
  for (const name of optionNames)
    if (!['switch', 'text', 'descriptor'].includes(options[name].kind)) t.truthy(values[name], name);
});

test('numbers are those of the text', (t) => {
  t.is(parse(all, ['--top', '7']).number('top'), 7);
  t.is(parse(all, ['--max-size', '2M']).number('max-size'), 2 * 2 ** 20);
  t.is(parse(all, ['--rate', '2.5']).number('rate'), 2.5);
  t.is(parse(all, []).number('rate'), undefined);
});

const lines: [string[], { words?: string[]; dashes?: boolean; has?: OptionName[]; text?: [OptionName, string] }][] = [
  [[], { words: [], dashes: false }],
  [['x'], { words: ['x'] }],
  [['-'], { words: ['-'] }],
  [['x', '--raw'], { words: ['x'], has: ['raw'] }],
  [['--', '--raw'], { words: ['--raw'], dashes: true, has: [] }],
  [['-q', '-o', 'file'], { has: ['quiet', 'output'], text: ['output', 'file'] }],
  [['-ofile'], { text: ['output', 'file'] }],
  [['--output=a=b'], { text: ['output', 'a=b'] }],
  [['-o', '-x'], { text: ['output', '-x'] }],
  [['--focus=--'], { text: ['focus', '--'] }],
  [['--top', '1', '--top', '2'], { text: ['top', '2'] }],
];
for (const [argv, wanted] of lines)
  test(`reading: ${argv.join(' ')}`, (t) => {
    const args = parse(all, argv);
    if (wanted.words) t.deepEqual(args.words, wanted.words);
    if (wanted.dashes !== undefined) t.is(args.dashes, wanted.dashes);
    if (wanted.has) t.deepEqual(optionNames.filter((name) => args.has(name)).sort(), [...wanted.has].sort());
    if (wanted.text) t.is(args.text(wanted.text[0]), wanted.text[1]);
  });

test('an option whose value may be left out takes one only behind =; one that may be repeated keeps all', (t) => {
  t.is(parse(program, ['--measure', '7']).number('measure'), Number(options.measure.alone));
  t.deepEqual(parse(program, ['--measure', '7']).words, ['7']);
  t.is(parse(program, ['--measure=7', '--', 'prog']).number('measure'), 7);
  t.deepEqual(parse(program, ['--try', 'A=1', '--try=B=2', 'prog']).texts('try'), ['A=1', 'B=2']);
  t.deepEqual(parse(program, ['prog']).texts('try'), []);
});

test("a program's command line is taken as it stands", (t) => {
  for (const argv of [
    ['-q', 'prog', '--raw', '-x', '--', 'y'],
    ['-q', '--', 'prog', '--raw', '-x', '--', 'y'],
  ]) {
    const args = parse(program, argv);
    t.deepEqual(args.words, ['prog', '--raw', '-x', '--', 'y']);
    t.is(args.dashes, argv[1] === '--');
    t.true(args.has('quiet') && !args.has('raw'));
  }
});

const mistakes: [string[], string][] = [
  [['--jsn'], 'all has no option "--jsn"; did you mean "--json"?'],
  [['--raw=1'], '--raw takes no value; see "quartz all --help"'],
  [['--no-raw'], 'all has no option "--no-raw"; see "quartz all --help"'],
  [['--top'], '--top needs a value; write --top N'],
  [['--top', '--'], '--top needs a value; write --top N'],
  [['--csv', '--json'], '--csv and --json exclude each other; choose one'],
  [['--view', 'thread'], `--view needs ${wantsOf(options.view)}, not thread; did you mean "threads"?`],
  [['a', 'b'], 'all does not know what to do with "b"; see "quartz all --help"'],
  [['-x'], 'all has no option "-x"; see "quartz all --help"'],
];
for (const [argv, message] of mistakes)
  test(`mistake: ${argv.join(' ')}`, (t) => {
    t.is(t.throws(() => parse(all, argv)).message, message);
  });

test('another name of an option is the same option, and is in the help beside its name', (t) => {
  t.true(parse(all, ['--sites']).has('sites'));
  t.true(parse(all, ['--lines']).has('sites'));
  t.throws(() => parse(all, ['--lines=1']), { message: /--sites takes no value/ });
  t.regex(optionRows(['sites']).join(' '), /--sites, --lines /);
  const flags = optionNames.flatMap((name) => (options[name].flag === undefined ? flagsOf(name) : []));
  t.is(new Set(flags).size, flags.length, 'no two options are written alike');
});

test('what the sampler and the shell know is made from the table', (t) => {
  t.notThrows(() => execFileSync('node', [join(root, 'scripts/option-table.js'), '--check'], { stdio: 'pipe' }));
});

test('what excludes, excludes an option that there is', (t) => {
  for (const name of optionNames) {
    const { excludes, kind, value } = options[name];
    if (excludes !== undefined) t.true((optionNames as readonly string[]).includes(excludes), name);
    t.is(value === undefined, kind === 'switch', `${name}: the help names a value where one is taken`);
  }
});
