/** The peers: all of them, the available ones, and how to get the others. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Failure, usage } from '../../ts-frontend/src/cli/failure.js';
import { didYouMean } from '../../ts-frontend/src/cli/nearest.js';
import type { Peer } from './result.js';

/** The repository. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
export const work = join(root, 'build/bench-peers');

/** No Debian package: found by pkg-config or CMake, or at the path given by --peer. */
export const pathPeers = ['argobots', 'massivethreads', 'libfiber', 'libfibre', 'lace', 'libfork'] as const;

/** Peers with a program in bench/peers. */
const programPeers = [...pathPeers, 'boost-fiber', 'go', 'tbb', 'libgomp', 'libomp', 'pthread'] as const;

/** Peers that are commands, with the argument that prints their version. */
const tools: readonly (readonly [string, string])[] = [
  ['uftrace', '--version'],
  ['perf', '--version'],
  ['valgrind', '--version'],
  ['coz', '--version'],
];

/** Whole programs, by their Debian packages. */
export const sources = ['lua5.4', 'sqlite3', 'bzip2', 'zlib'] as const;

/** "NAME=PATH" of --peer and --source. */
export function named(option: string, names: readonly string[], text: string): [string, string] {
  const equals = text.indexOf('=');
  const name = equals < 0 ? text : text.slice(0, equals);
  if (!names.includes(name))
    throw usage(`--${option} knows no "${name}"`, didYouMean(name, [...names], `give one of ${names.join(', ')}`));
  const path = equals < 0 ? '' : text.slice(equals + 1);
  if (path === '') throw usage(`--${option} ${name} needs a path`, `write --${option} ${name}=PATH`);
  if (!existsSync(path))
    throw new Failure(`--${option} ${name}=${path}: there is no ${path}`, 'give a directory that is there');
  return [name, resolve(path)];
}

function version(tool: string, word: string): string | undefined {
  try {
    const text = execFileSync(tool, [word], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    return /\d+\.[\w.]+/.exec(text)?.[0] ?? 'unknown';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : 'unknown';
  }
}

const advice = (name: string): string =>
  pathPeers.some((one) => one === name)
    ? `not found by pkg-config or CMake; --peer ${name}=PATH`
    : 'not installed; --install-peers';

/** Where the program of a peer is, or undefined. */
export const programOf = (name: string): string | undefined => {
  const file = join(work, name);
  return existsSync(file) ? file : undefined;
};

/** All peers, and whether they are available. Programs must have been built before. */
export function peers(): Peer[] {
  const found = new Map<string, Peer>();
  const list = join(work, 'found.txt');
  for (const line of existsSync(list) ? readFileSync(list, 'utf8').trim().split('\n') : []) {
    const [name = '', version = '', ...where] = line.split(' ');
    found.set(name, { name, version, where: where.join(' ') });
  }
  return [
    ...programPeers.map((name): Peer => {
      const one = found.get(name);
      if (!one) return { name, missing: advice(name) };
      return programOf(name) === undefined
        ? { name, missing: `is here (${one.version ?? ''}), but its program does not build` }
        : one;
    }),
    ...tools.map(([name, word]): Peer => {
      const printed = version(name, word);
      return printed === undefined ? { name, missing: advice(name) } : { name, version: printed };
    }),
  ];
}

/**
 * Installs what Debian packages, as scripts/setup.sh does for the build, and fetches the sources of the whole programs.
 */
export function install(): void {
  for (const script of [['scripts/setup.sh', 'peers'], ['bench/peers/fetch_sources.sh']]) {
    try {
      execFileSync('bash', script, { cwd: root, stdio: 'inherit' });
    } catch {
      throw new Failure(`${script.join(' ')} did not succeed`, 'the lines above say why');
    }
  }
}
