/** The command line of the benchmarks: options, kept results, comparisons. Nothing is measured here. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import test from 'ava';
import { writeResults, type Results } from '../../../bench/harness/result.js';
import { directory, run, type Said } from '../../support/run-quartz.js';
import { root } from '../../support/root.js';

const bench = (...args: readonly string[]): Promise<Said> =>
  run(process.execPath, [join(root, 'dist/bench/main.js'), ...args]);

/** A run of two rows, one of whose peers is missing. */
function results(factor = 1): Results {
  const samples = [10, 10.1, 9.9, 10.05, 9.95, 10.2, 9.8].map((value) => value * factor);
  const quartz = {
    name: 'quartz',
    peer: false,
    samples,
    value: 10 * factor,
    low: 9.8 * factor,
    high: 10.2 * factor,
    coverage: 0.98,
  };
  const peer = {
    name: 'argobots',
    peer: true,
    samples: [20, 21, 19, 20, 20, 21, 19],
    value: 20,
    low: 19,
    high: 21,
    coverage: 0.98,
  };
  return {
    format: 'quartz bench 1',
    date: '2026-11-21T12:00:00.000Z',
    quartz: '0.1.0',
    seconds: 1,
    rounds: 7,
    machine: {
      cpu: 'C',
      cpus: 2,
      virtual: 'kvm',
      memoryGB: 4,
      caches: '32K, 1024K',
      latencies: { clock: 20, wake: 24721 },
      kernel: '6',
      compilers: { gcc: '12' },
      node: '20',
      load: { begin: 0, end: 0 },
    },
    peers: [
      { name: 'argobots', version: '1' },
      { name: 'go', missing: 'not installed; --install-peers' },
    ],
    benches: [{ name: 'threads', title: 'Threads', isolates: 'nothing' }],
    rows: [
      {
        id: 'spawn.1',
        bench: 'threads',
        what: 'spawn',
        unit: 'ns',
        contenders: [quartz, peer],
        targets: [
          {
            ours: 'quartz',
            against: 'argobots',
            best: false,
            most: 0.6,
            ahead: false,
            ratio: { value: 0.5 * factor, low: 0.49 * factor, high: 0.52 * factor, coverage: 0.98 },
            verdict: 'met',
          },
        ],
      },
      {
        id: 'fib.1',
        bench: 'threads',
        what: 'fib',
        unit: 'ns',
        contenders: [{ ...quartz }, { name: 'go', peer: true, missing: 'not installed; --install-peers' }],
        targets: [],
      },
    ],
  };
}
function keep(value: unknown): string {
  const file = join(directory(), 'run.json');
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
  return file;
}

const mistakes: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['unknown option', ['--qick'], /--qick/],
  ['unknown benchmark', ['thread'], /no benchmark "thread"; did you mean "threads"/],
  ['rounds', ['--rounds', '0'], /--rounds 0 is not a whole number from 1 to 1000/],
  ['a peer without a path', ['--peer', 'argobots'], /write --peer argobots=PATH/],
  ['a peer that there is not', ['--peer', 'argobot=/'], /did you mean "argobots"/],
];
for (const [what, args, expected] of mistakes) {
  test(`mistake: ${what}: one line, exit code 2`, async (t) => {
    const { status, stdout, stderr } = await bench(...args);
    t.is(status, 2);
    t.is(stdout, '');
    t.regex(stderr, expected);
    t.regex(stderr, /^quartz: .*\n$/);
  });
}

test('--list names each benchmark with its title', async (t) => {
  const { status, stdout } = await bench('--list');
  t.is(status, 0);
  t.regex(stdout, /^threads +Threads/m);
  t.regex(stdout, /^hooks +Procedure hooks/m);
});

for (const [what, text] of [
  ['not JSON', '{"format":'],
  ['something else', '{"a": 1}'],
  ['samples that are no numbers', JSON.stringify(results()).replace('"samples":[10,', '"samples":["x",')],
] as const) {
  test(`a corrupt file (${what}) gives one line`, async (t) => {
    const { status, stdout, stderr } = await bench('--from', keep(results()), '--compare', keep(text));
    t.is(status, 125);
    t.is(stdout, '');
    t.regex(stderr, /^quartz: .*run\.json is not .*; give a file that --output or --json wrote\n$/);
  });
}

test('a file that is not there gives one line', async (t) => {
  const { status, stderr } = await bench('--from', '/nowhere.json');
  t.is(status, 125);
  t.regex(stderr, /^quartz: \/nowhere\.json cannot be read \(ENOENT\).*\n$/);
});

test('results that could not be kept are reported before anything is measured', async (t) => {
  const { status, stdout, stderr } = await bench('--output', '/nowhere/new.json', 'threads');
  t.is(status, 125);
  t.is(stdout, '');
  t.regex(stderr, /^quartz: \/nowhere\/new\.json cannot be written \(ENOENT\); [^\n]*\n$/);
});

test('where there is no room the results that a file had stay, and one line says so', (t) => {
  const file = keep(results());
  const before = readFileSync(file, 'utf8');
  mkdirSync(`${file}.part`); // as if it could not be written
  t.throws(
    () => {
      writeResults(file, results(2));
    },
    { message: /run\.json cannot be written \(EISDIR\)/ },
  );
  t.is(readFileSync(file, 'utf8'), before);
  writeResults(file, results(2));
  t.deepEqual(JSON.parse(readFileSync(file, 'utf8')), results(2));
});

test('a run compared with itself has not changed', async (t) => {
  const file = keep(results());
  const { status, stdout } = await bench('--from', file, '--compare', file);
  t.is(status, 0);
  t.regex(stdout, /no change beyond noise in 3 figures/);
  t.notRegex(stdout, /SLOWER|FASTER/);
});

test('a run that is slower says where, and that the peers are as they were', async (t) => {
  const { stdout } = await bench('--from', keep(results(1.3)), '--compare', keep(results()));
  t.regex(stdout, /the peers alone: 1\.00/);
  t.regex(stdout, /spawn\.1 quartz +1\.30 \[.*\] +SLOWER/);
  t.regex(stdout, /2 of 3 figures changed beyond noise/);
});

test('of a run on another machine no times are compared: targets stand side by side, with what differs', async (t) => {
  const there = results(1.5);
  there.machine = { ...there.machine, cpu: 'Another', latencies: { clock: 30 } };
  there.rows[0]!.targets[0]!.verdict = 'missed';
  const file = keep(there);
  const text = await bench('--from', keep(results()), '--compare', file);
  t.is(text.status, 0, text.stderr);
  t.notRegex(text.stdout, /SLOWER|FASTER|new over old/);
  t.regex(text.stdout, /here: .*\(C, .*caches 32K, 1024K\).*Latencies, ns: clock 20\.0, wake of a sleeper there 24721/);
  t.regex(text.stdout, /there: .*\(Another, .*clock 30\.0/);
  t.regex(text.stdout, /here 0\.50 \[0\.49, 0\.52\] met; there 0\.75 \[[^\]]*\] missed/);
  const table = await bench('--from', keep(results()), '--compare', file, '--markdown');
  t.regex(table.stdout, /^\| `spawn\.1` \| quartz: at most 0\.6 of argobots \| 0\.50 .* met \| 0\.75 .* missed \|$/m);
});

test('a missing peer is named as missing, with what to do', async (t) => {
  const { stdout } = await bench('--from', keep(results()));
  t.regex(stdout, /go +missing: not installed; --install-peers/);
  t.regex(stdout, /quartz +10\.0 +\[9\.80, 10\.2\]/);
});

test('tables of the page have a row for each row, and say what is missing', async (t) => {
  const { stdout } = await bench('--from', keep(results()), '--markdown');
  t.regex(
    stdout,
    /^\| `spawn\.1` spawn, ns \| quartz 10\.0 \[9\.80, 10\.2\] \| argobots 20\.0 \| quartz: at most 0\.6 of argobots: 0\.50 \[0\.49, 0\.52\], \*\*met\*\* \|$/m,
  );
  t.regex(stdout, /go missing/);
});

test('--json gives back what was read, and it is as the schema says', async (t) => {
  const { stdout } = await bench('--from', keep(results()), '--json');
  const value: unknown = JSON.parse(stdout);
  t.deepEqual(value, results());
  const check = new Ajv({ allowUnionTypes: true }).compile(
    JSON.parse(readFileSync(join(root, 'bench/data/result.schema.json'), 'utf8')) as object,
  );
  t.true(check(value), JSON.stringify(check.errors));
});
