/** Runs the command `quartz` as a user does, and collects what it says. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programs, root } from '../known/programs.js';

export const command = join(root, 'ts-frontend/bin/quartz');
export const program = (name: string): string => programs.find((one) => one.name === name)!.binary;

/** Generous: a run takes a second or two, on a loaded machine some more. */
const limitMs = 120_000;

export interface Said { status: number; stdout: string; stderr: string }

export async function run(file: string, args: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}): Promise<Said> {
  const env: NodeJS.ProcessEnv = { ...process.env, LC_ALL: 'C.UTF-8', ...options.env };
  for (const name of ['NO_COLOR', 'FORCE_COLOR', 'COLUMNS']) if (options.env?.[name] === undefined) Reflect.deleteProperty(env, name);
  const child = spawn(file, args, { ...(options.cwd === undefined ? {} : { cwd: options.cwd }), env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => { stdout += text; });
  child.stderr.setEncoding('utf8').on('data', (text: string) => { stderr += text; });
  const timer = setTimeout(() => { child.kill('SIGKILL'); }, limitMs);
  const [status, signal] = await once(child, 'close') as [number | null, NodeJS.Signals | null];
  clearTimeout(timer);
  if (status === null) throw new Error(`${file} ${args.join(' ')} was ended by ${signal}: ${stderr}`);
  return { status, stdout, stderr };
}

export const quartz = (args: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}): Promise<Said> => run(command, args, options);

const made: string[] = [];
process.on('exit', () => { for (const path of made) rmSync(path, { recursive: true, force: true }); });

/** An empty directory that goes when the tests end. */
export function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'quartz-cli-'));
  made.push(path);
  return path;
}
