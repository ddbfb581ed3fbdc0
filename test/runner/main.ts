/**
 * npm test: front end and end to end (ava) and native parts (CTest), whatever becomes of either; one count of both.
 *
 *   main.js [--no-skips] [--again] [ava arguments]
 *
 * With ava arguments, only the front end's tests that they choose. With --no-skips a skipped test counts as failed, but
 * for those of .ci/skips. With --again a file with a failed test runs once or twice more, alone, after all others, and
 * a native test likewise; what passes then has passed; all are reported, and the names stand once more at the end.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAnother, anyOf, failing } from './again.js';
import { junitResults } from './junit.js';
import type { Result } from './result.js';
import { readDeclared, tally } from './tally.js';
import { TapReader } from './tap.js';

const root = join(import.meta.dirname, '../../..');
const strict = process.argv.includes('--no-skips');
const again = process.argv.includes('--again');

/** Longer than any test may take. */
const silenceMs = 10 * 60_000;

/**
 * Files in which no share of elapsed time is judged, or only shares of the processor time that a program itself used,
 * so that they may run beside each other: two for each CPU, and one more, for many of them wait most of the time. All
 * others run alone: measure.test.js has tests that show nothing where CPUs are short.
 */
const untimed = new RegExp(
  '^dist/test/(unit|repo|runner|end-to-end/(addon|cli(?!/measure)|hooks|html|sampler|tui|' +
    'pthread-layer/(busy-wait-loops|call-paths|creations|debian-packages|disassembly|exec-and-fork|generated-code|' +
    'inlined-frames|languages|library-waits|mpi-late|sandboxed|short-rounds|signal-samples|static-programs|' +
    'transparency|unloaded))|known-answers/(oracle/(chains|truth)|span|span-tasks|span-tbb|what-if))[/.]',
);

/** Files of small tests, which take less time than to start ava: some of a folder share one. */
const small = /^dist\/test\/(unit|repo)\//;
const mostSmall = 8;

/** What is run by one ava: a file, or some of the same folder. */
function grouped(paths: readonly string[]): string[][] {
  const groups: string[][] = [];
  for (const path of paths) {
    const last = groups.at(-1);
    if (last && last.length < mostSmall && small.test(path) && dirname(last[0]!) === dirname(path)) last.push(path);
    else groups.push([path]);
  }
  return groups;
}

/** The files of tests whose sources are there: what is built from others is old. */
const all = (): string[] =>
  readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .sort()
    .map((name) => join('dist/test', name.replace(/ts$/, 'js')));

/** What is reported of a runner that hung, or failed although none of its tests did. */
function unexplained(
  runner: string,
  results: readonly Result[],
  status: number | null,
  signal: NodeJS.Signals | null,
  hangs?: string,
): Result[] {
  if (hangs === undefined && (status === 0 || (signal === null && results.some(({ outcome }) => outcome === 'failed'))))
    return [];
  const detail = hangs ?? (signal === null ? `it ended with status ${status}` : `it was ended by ${signal}`);
  process.stdout.write(`FAIL ${runner}: ${detail}\n`);
  return [{ name: `${runner}: ${detail}`, outcome: 'failed', detail, ofRunner: true }];
}

/** What runs now. */
const running = new Set<ChildProcess>();
/** With all that it has started. */
const end = (child: ChildProcess): void => {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    /* nothing of it is left */
  }
};
for (const [signal, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
  ['SIGHUP', 1],
] as const) {
  process.on(signal, () => {
    for (const child of running) end(child);
    process.exit(128 + number);
  });
}

/**
 * A file by ava, or some of one folder, in a group of processes of its own: one that hangs or crashes takes no other
 * group with it, and leaves none.
 */
async function group(paths: readonly string[], options: readonly string[]): Promise<Result[]> {
  const results: Result[] = [];
  // ava itself names the files where there are several.
  const prefix = (paths.length === 1 ? paths[0]! : dirname(paths[0]!))
    .replace(/^dist\/test\/|\.test\.js$/g, '')
    .replaceAll('/', ' › ');
  const reader = new TapReader((result) => {
    const name = `${prefix} › ${result.name}`,
      { outcome, detail } = result;
    results.push({ ...result, name });
    if (outcome === 'passed') process.stdout.write(`ok   ${name}\n`);
    else if (outcome === 'skipped') process.stdout.write(`skip ${name}: ${detail}\n`);
    else process.stdout.write(`FAIL ${name}\n${detail.replace(/^/gm, '     ')}\n`);
  });
  const ava = spawn(
    process.execPath,
    [join(root, 'node_modules/ava/entrypoints/cli.mjs'), '--tap', '--timeout=1h', ...options, ...paths],
    { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], detached: true },
  );
  running.add(ava);
  // ava's own limit breaks its TAP reporter, so this is the one that counts.
  let hangs = false;
  const limit = setTimeout(() => {
    hangs = true;
    end(ava);
  }, silenceMs);
  const closed = once(ava, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  for await (const line of createInterface({ input: ava.stdout })) {
    limit.refresh();
    reader.line(line);
  }
  clearTimeout(limit);
  reader.end();
  const [status, signal] = await closed;
  end(ava);
  running.delete(ava);
  const what = hangs ? `nothing happened for ${silenceMs / 60_000} minutes` : undefined;
  return [...results, ...unexplained(prefix, results, status, signal, what)];
}

/** How long each file took, in s, the last time. */
const took = new Map<string, number>();
/** So many of those that took longest are named at the end of a whole run. */
const longest = 12;

/** Tests that failed in one run and passed in another. */
const unsteady = new Set<string>();

/** With --again: so often does a test run that fails. */
const mostTries = 3;

/** Runs what failed again, after all others: a load that made it fail may be over. */
async function runAgain(before: readonly Result[], what: string, rerun: () => Promise<Result[]>): Promise<Result[]> {
  process.stdout.write(`once more: ${what}\n`);
  const { results, differ } = afterAnother(before, await rerun());
  for (const name of differ) unsteady.add(name);
  return results;
}

/**
 * Runs each file once; the native tests (`besides`), most of which wait most of the time, too, take the places of some
 * of the files that run beside each other. Returns what runs files again that failed, and has all results.
 */
async function frontEnd(args: readonly string[], besides?: () => Promise<void>): Promise<() => Promise<Result[]>> {
  const options = args.filter((arg) => arg.startsWith('-')),
    chosen = args.filter((arg) => !arg.startsWith('-'));
  const groups = grouped(chosen.length > 0 ? chosen : all());
  const results = groups.map((): Result[] => []);
  const mayBeBeside = (k: number): boolean => untimed.test(groups[k]![0]!);
  const beside = [...groups.keys()].filter(mayBeBeside),
    alone = [...groups.keys()].filter((k) => !mayBeBeside(k));
  const runEach = async (left: number[]): Promise<void> => {
    for (let k = left.shift(); k !== undefined; k = left.shift()) {
      const begun = performance.now(),
        paths = groups[k]!;
      results[k] = await group(paths, options);
      took.set(
        paths.length === 1 ? paths[0]! : `${paths[0]!} and ${paths.length - 1} more`,
        Math.round((performance.now() - begun) / 1000),
      );
    }
  };
  const runMany = (count: number): Promise<unknown> =>
    Promise.all(Array.from({ length: count }, () => runEach(beside)));
  const cpus = availableParallelism();
  await Promise.all([runMany(cpus + 1), besides ? besides().then(() => runMany(cpus)) : runMany(cpus)]);
  await runEach(alone);
  return async () => {
    for (let tries = 1; again && tries < mostTries; tries++)
      for (const [k, paths] of groups.entries())
        if (failing(results[k]!).length > 0)
          results[k] = await runAgain(results[k]!, paths.join(' '), () => group(paths, options));
    return results.flat();
  };
}

async function ctest(options: readonly string[]): Promise<Result[]> {
  const file = join(root, 'build/Testing/junit.xml');
  rmSync(file, { force: true });
  const ctest = spawn(
    'ctest',
    [
      '--test-dir',
      'build',
      '--output-on-failure',
      '--no-tests=error',
      '--timeout', // a test that hangs fails, and the others run
      '300',
      '--output-junit',
      file,
      ...options,
    ],
    { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], detached: true },
  );
  running.add(ctest);
  const [status, signal] = (await once(ctest, 'close')) as [number | null, NodeJS.Signals | null];
  running.delete(ctest);
  const results = existsSync(file) ? junitResults(readFileSync(file, 'utf8')) : [];
  return [...results, ...unexplained('ctest', results, status, signal)];
}

/** Runs the native tests that failed again, one after the other. */
async function nativeAgain(first: Result[]): Promise<Result[]> {
  let results = first;
  for (let tries = 1; again && tries < mostTries; tries++) {
    const names = failing(results).filter(({ ofRunner }) => !ofRunner);
    if (names.length === 0) break;
    results = await runAgain(results, names.map(({ name }) => name).join(', '), () =>
      ctest(['--tests-regex', anyOf(names.map(({ name }) => name))]),
    );
  }
  return results;
}

const chosen = process.argv.slice(2).filter((arg) => arg !== '--no-skips' && arg !== '--again');
const nativeResults: Result[] = [];
const native = async (): Promise<void> => {
  nativeResults.push(...(await ctest(['--parallel', String(availableParallelism())])));
};
const frontEndAgain = await frontEnd(chosen, chosen.length === 0 ? native : undefined);
const results = [...(await frontEndAgain()), ...(await nativeAgain(nativeResults))];
const { text, failed } = tally(
  results,
  strict ? readDeclared(readFileSync(join(root, '.ci/skips'), 'utf8')) : undefined,
);
if (unsteady.size > 0)
  process.stdout.write(
    `Failed at first, passed when run again\n${[...unsteady].map((name) => `  ${name}\n`).join('')}\n`,
  );
if (chosen.length === 0) {
  const slow = [...took].sort((a, b) => b[1] - a[1]).slice(0, longest);
  process.stdout.write(`Files that took longest, in s\n${slow.map(([name, s]) => `  ${s} ${name}\n`).join('')}`);
}
process.stdout.write(text);
process.exitCode = failed ? 1 : 0;
