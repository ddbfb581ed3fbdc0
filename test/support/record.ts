/**
 * Records a program and reads what was recorded. Every profile that comes from here has been held to the invariants of
 * docs/reference/metrics.md, section 5.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { buildModel, checkInvariants, type Model } from '../../ts-frontend/src/model/index.js';
import { openProfile } from '../../ts-frontend/src/reader/profile.js';
import { outputOf, type Ended, type Output } from './output.js';
import { temporaryDirectory } from './temporary.js';
import { root } from './root.js';

export const sampler = join(root, 'build/sampler/quartz-sampler');

/**
 * Ends what hangs: nothing here takes more than a few seconds of a CPU, of which a loaded machine may give a twentieth.
 */
const limitMs = 300_000;

let directory: string | undefined;
let files = 0;
/** A path in a directory that goes when the tests end. */
export function temporaryFile(name: string): string {
  directory ??= temporaryDirectory();
  return join(directory, `${++files}-${name}`);
}

export interface Started extends Output {
  child: ChildProcess;
}
export function start(file: string, args: readonly string[], env: Record<string, string> = {}): Started {
  const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  return { child, ...outputOf(child, limitMs) };
}

/** Waits, polling, until something is so; fails after the limit. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  const end = Date.now() + limitMs;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`it never happened that ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The model of a profile, checked; with hook costs left in where `compensate` is false. */
export function openModel(file: string, compensate = true): Model {
  const model = buildModel(openProfile(file), { compensate });
  const broken = checkInvariants(model);
  if (broken.length > 0) throw new Error(`${file} breaks invariants:\n${broken.join('\n')}`);
  return model;
}

/** Waits until a recording that is under way has some snapshots, and shows what it is to show. */
export const underWay = (
  file: string,
  snapshots: number,
  shows: (model: Model) => boolean = () => true,
): Promise<void> =>
  until('the recording shows it', () => {
    try {
      const model = openModel(file);
      return model.samples >= snapshots && shows(model);
    } catch {
      return false; // just begun
    }
  });

export interface Options {
  processors?: number;
  args?: readonly string[];
  env?: Record<string, string>;
  rateHz?: number; // 0: as the sampler chooses
  children?: boolean;
  span?: boolean;
  whatIf?: readonly string[]; // with work and span
}
export function startRecording(binary: string, options: Options = {}): Started & { file: string } {
  const file = temporaryFile('profile.quartz');
  const env: Record<string, string> = { ...options.env };
  if (options.processors) env['QUARTZ_PROCESSORS'] = String(options.processors);
  const args = ['record', '-o', file];
  if (options.rateHz !== 0) args.push('--rate', String(options.rateHz ?? 1000));
  if (options.children) args.push('--children');
  if (options.span) args.push('--span');
  for (const question of options.whatIf ?? []) args.push('--what-if', question);
  return { file, ...start(sampler, [...args, '--', binary, ...(options.args ?? [])], env) };
}

export interface Recording extends Ended {
  file: string;
  model: Model;
}
export async function record(binary: string, options: Options = {}): Promise<Recording> {
  const started = startRecording(binary, options);
  const ended = await started.ended;
  try {
    return { ...ended, file: started.file, model: openModel(started.file) };
  } catch (error) {
    throw new Error(`${(error as Error).message}\nstatus ${ended.status} ${ended.signal}\n${ended.stderr}`, {
      cause: error,
    });
  }
}

/** Attaches to a process, detaches after some snapshots and when they show something, and reads what was recorded. */
export async function attachTo(
  pid: number,
  snapshots: number,
  shows?: (model: Model) => boolean,
  options: readonly string[] = [],
): Promise<Recording> {
  const file = temporaryFile('attached.quartz');
  const attached = start(sampler, ['attach', '-o', file, '--rate', '1000', ...options, String(pid)]);
  await underWay(file, snapshots, shows);
  attached.child.kill('SIGINT');
  return { ...(await attached.ended), file, model: openModel(file) };
}
