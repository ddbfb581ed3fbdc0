/**
 * Builds on demand the programs that the benchmarks run, into build/bench-peers and the ordinary build directory.
 * Nothing is built twice.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Failed } from './execute.js';
import { pathPeers, root, work } from './peers.js';

function run(file: string, args: readonly string[], cwd: string, env: Record<string, string> = {}): void {
  try {
    execFileSync(file, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 1 << 28,
      timeout: 600_000,
    });
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: Buffer; stderr?: Buffer };
    const text = `${stdout?.toString() ?? ''}\n${stderr?.toString() ?? ''}`;
    const line =
      text.split('\n').find((one) => /\b(error|cannot find|undefined reference)\b/i.test(one)) ??
      (error as Error).message.split('\n')[0]!;
    throw new Failed(`${[file, ...args].join(' ').slice(0, 60)}... failed: ${line.trim()}`);
  }
}

/** Targets of the ordinary build: "quartz-sampler", "bench_snapshot_cost", ... */
export function buildTargets(...targets: readonly string[]): void {
  run('cmake', ['--build', 'build', '--parallel', '2', '--target', ...targets], root);
}

/** The programs of all available peers; those that do not build are left out. Paths: the values of --peer. */
export function buildPeers(paths: ReadonlyMap<string, string>): void {
  buildTargets('quartz_static', 'quartz-sampler', 'quartz_addon');
  mkdirSync(work, { recursive: true });
  // CMake's cache keeps a path; what was found by an earlier one is searched for again.
  const defines = pathPeers.flatMap((name) =>
    paths.has(name) ? [`-U*${name}*`, `-DPEER_${name}=${paths.get(name)!}`] : [],
  );
  const generator = existsSync(join(work, 'CMakeCache.txt')) || !works('ninja') ? [] : ['-G', 'Ninja'];
  run(
    'cmake',
    [
      ...generator,
      '-S',
      join(root, 'bench/peers'),
      '-B',
      work,
      `-Dquartz_DIR=${join(root, 'build/package')}`,
      ...defines,
    ],
    root,
  );
  try {
    run(
      'cmake',
      ['--build', work, '--parallel', '2', '--', '-k', ...(existsSync(join(work, 'build.ninja')) ? ['0'] : [])],
      root,
    );
  } catch {
    /* peers() says which are missing */
  }
}

const works = (command: string): boolean => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;

/** Throws Failed, with the compiler's first error. */
export function compile(
  compiler: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): void {
  run(compiler, args, cwd, env);
}
