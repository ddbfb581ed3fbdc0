/** Runs the command `quartz` as a user does, and collects what it says. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { outputOf } from './output.js';
import { root } from './root.js';
import { temporaryDirectory } from './temporary.js';

export const command = join(root, 'ts-frontend/bin/quartz');
/** One of the programs with known answers, built. */
export const program = (name: string): string => join(root, 'build/test/known-answers/threadlib-programs', name);

/** Ends what hangs. */
const limitMs = 300_000;

export interface Said {
  status: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  limitMs?: number;
}
export async function run(file: string, args: readonly string[], options: RunOptions = {}): Promise<Said> {
  const env: NodeJS.ProcessEnv = { ...process.env, LC_ALL: 'C.UTF-8', ...options.env };
  for (const name of ['NO_COLOR', 'FORCE_COLOR', 'COLUMNS'])
    if (options.env?.[name] === undefined) Reflect.deleteProperty(env, name);
  const child = spawn(file, args, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { status, signal, stdout, stderr } = await outputOf(child, options.limitMs ?? limitMs).ended;
  if (status === null) throw new Error(`${file} ${args.join(' ')} was ended by ${signal}: ${stderr}`);
  return { status, stdout, stderr };
}

/** Pieces cannot be made larger and smaller; whatever a report is asked for, it must not say both. */
function contradicts(report: string): boolean {
  const text = report.replace(/\s+/g, ' ');
  return (
    /What limits this program/.test(text) &&
    /smaller pieces|pieces smaller/.test(text) &&
    /larger pieces|pieces larger|grain coarser/.test(text)
  );
}

export async function quartz(args: readonly string[], options: RunOptions = {}): Promise<Said> {
  const said = await run(command, args, options);
  if (contradicts(said.stdout))
    throw new Error(`quartz ${args.join(' ')} advises larger and smaller pieces:\n${said.stdout}`);
  return said;
}

export const directory = temporaryDirectory;

/** Open MPI's launcher: as root, more processes than CPUs, and no system calls that a container may refuse. */
export const openMpi = {
  OMPI_ALLOW_RUN_AS_ROOT: '1',
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
  OMPI_MCA_rmaps_base_oversubscribe: '1',
  OMPI_MCA_btl_vader_single_copy_mechanism: 'none',
};
