/**
 * npm test: front end and end to end (ava), then native parts (CTest), whatever became of the first; one count of both.
 *
 *   main.js [--no-skips] [ava arguments]
 *
 * With ava arguments, only the front end's tests that they choose. With --no-skips a skipped test counts as failed, but for
 * those of .ci/skips.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { junitResults } from './junit.js';
import type { Result } from './result.js';
import { readDeclared, tally } from './tally.js';
import { TapReader } from './tap.js';

const root = join(import.meta.dirname, '../../..');

/** What is told of a runner that failed although none of its tests did. */
function unexplained(runner: string, results: readonly Result[], status: number | null, signal: NodeJS.Signals | null): Result[] {
  if (status === 0 || results.some(({ outcome }) => outcome === 'failed')) return [];
  const detail = signal === null ? `it ended with status ${status}` : `it was ended by ${signal}`;
  process.stdout.write(`FAIL ${runner}: ${detail}\n`);
  return [{ name: `${runner}: ${detail}`, outcome: 'failed', detail }];
}

async function frontEnd(args: readonly string[]): Promise<Result[]> {
  const results: Result[] = [];
  const reader = new TapReader((result) => {
    const { name, outcome, detail } = result;
    results.push(result);
    if (outcome === 'passed') process.stdout.write(`ok   ${name}\n`);
    else if (outcome === 'skipped') process.stdout.write(`skip ${name}: ${detail}\n`);
    else process.stdout.write(`FAIL ${name}\n${detail.replace(/^/gm, '     ')}\n`);
  });
  const ava = spawn(process.execPath, [join(root, 'node_modules/ava/entrypoints/cli.mjs'), '--tap', ...args], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(ava, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  for await (const line of createInterface({ input: ava.stdout })) reader.line(line);
  reader.end();
  return [...results, ...unexplained('ava', results, ...await closed)];
}

async function native(): Promise<Result[]> {
  const file = join(root, 'build/Testing/junit.xml');
  rmSync(file, { force: true });
  const ctest = spawn('ctest', ['--test-dir', 'build', '--output-on-failure', '--no-tests=error', '--parallel', String(availableParallelism()), '--output-junit', file],
    { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  const [status, signal] = await once(ctest, 'close') as [number | null, NodeJS.Signals | null];
  const results = existsSync(file) ? junitResults(readFileSync(file, 'utf8')) : [];
  return [...results, ...unexplained('ctest', results, status, signal)];
}

const strict = process.argv[2] === '--no-skips';
const chosen = process.argv.slice(strict ? 3 : 2);
const results = await frontEnd(chosen);
if (chosen.length === 0) results.push(...await native());
const { text, failed } = tally(results, strict ? readDeclared(readFileSync(join(root, '.ci/skips'), 'utf8')) : undefined);
process.stdout.write(text);
process.exitCode = failed ? 1 : 0;
