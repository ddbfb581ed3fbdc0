/** Runs of programs, with Quartz and without. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildModel, type Model } from '../../ts-frontend/src/model/index.js';
import { openProfile } from '../../ts-frontend/src/reader/profile.js';
import type { Command, Program } from './program.js';

const limitMs = 120_000;

export interface Times {
  elapsed: number; // s
  cpu: number; // s, user and system
}

/** undefined: all that it needs is there. */
export function missing({ needs }: Program): string | undefined {
  return needs.find((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0);
}

/** A directory with the program's inputs. */
export function directoryOf(program: Program, under: string): string {
  const directory = join(under, program.name);
  if (existsSync(directory)) return directory;
  mkdirSync(directory, { recursive: true });
  if (program.prepare !== undefined)
    execFileSync('bash', ['-ec', program.prepare], { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] });
  return directory;
}

function run(words: readonly string[], env: Command['env'], cwd: string, what: string): number[] {
  const script = `TIMEFORMAT='%3R %3U %3S'; { time "$@" 2>stderr >stdout 3>account; } 2>times`;
  const ran = spawnSync('bash', ['-c', script, 'bash', ...words], {
    cwd,
    env: { ...process.env, ...env },
    timeout: limitMs,
    stdio: 'ignore',
  });
  if (ran.error) throw ran.error;
  const said = (name: string): string => readFileSync(join(cwd, name), 'utf8').trim();
  if (ran.status !== 0) throw new Error(`${what}: exit ${ran.status}: ${said('stderr').slice(-400)}`);
  return said(words.includes('--account') ? 'account' : 'times')
    .split('\n')
    .at(-1)!
    .split(' ')
    .map(Number);
}

/** `before`: what is put before the command: Quartz. */
export function timeOf({ argv, env }: Command, cwd: string, before: readonly string[] = []): Times {
  const [elapsed = 0, user = 0, system = 0] = run([...before, ...argv], env, cwd, argv.join(' '));
  return { elapsed, cpu: user + system };
}

/** The program's own times, recorded and alone alike: what Quartz does after its end is in none. */
export function accountOf({ argv, env }: Command, cwd: string, sampler: string, options: readonly string[]): Times {
  const words = [sampler, 'record', '--account', '3', ...options, '--', ...argv];
  const [elapsed = 0, user = 0, system = 0] = run(words, env, cwd, argv.join(' '));
  return { elapsed: elapsed / 1e9, cpu: (user + system) / 1e9 };
}

export interface Recorded extends Times {
  model: Model;
}
export function record(program: Program, cwd: string, sampler: string, name: string): Recorded {
  const file = join(cwd, name);
  const times = timeOf(program.run, cwd, [sampler, 'record', '-q', '-o', file, '--']);
  const ofFirst = file.replace(/quartz$/, '0.quartz'); // of several processes that did the work alike
  return { ...times, model: buildModel(openProfile(existsSync(file) ? file : ofFirst)) };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}
