/** What a figure depends on beside the code: the machine, its kernel, its compilers, and what else ran. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';

export interface Machine {
  cpu: string;
  cpus: number;
  virtual: string; // "no", or the hypervisor's name, or "yes"
  memoryGB: number;
  kernel: string;
  compilers: Record<string, string>; // name, version
  node: string;
  load: { begin: number; end: number }; // load average of the last minute
}

function firstLine(file: string, args: readonly string[]): string | undefined {
  try {
    return execFileSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .split('\n')[0]!
      .trim();
  } catch {
    return undefined;
  }
}

function virtual(): string {
  const name = firstLine('systemd-detect-virt', ['--vm']);
  if (name !== undefined && name !== '' && name !== 'none') return name;
  try {
    return /^flags\s*:.*\bhypervisor\b/m.test(readFileSync('/proc/cpuinfo', 'utf8')) ? 'yes' : 'no';
  } catch {
    return 'unknown';
  }
}

export function machine(): Machine {
  const compilers: Record<string, string> = {};
  for (const [name, args] of [
    ['gcc', ['-dumpfullversion']],
    ['clang', ['-dumpversion']],
    ['go', ['env', 'GOVERSION']],
  ] as const) {
    const version = firstLine(name, args);
    if (version !== undefined) compilers[name] = version.replace(/^go/, '');
  }
  const load = Math.round(loadavg()[0]! * 100) / 100;
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cpus: availableParallelism(),
    virtual: virtual(),
    memoryGB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    compilers,
    node: process.versions.node,
    load: { begin: load, end: load },
  };
}

export const loadNow = (): number => Math.round(loadavg()[0]! * 100) / 100;

/** One line for people. */
export function machineLine(of: Machine): string {
  const compilers = Object.entries(of.compilers)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');
  return (
    `${of.cpus} CPUs (${of.cpu}${of.virtual === 'no' ? '' : `, virtual: ${of.virtual}`}), ${of.memoryGB} GB, ` +
    `Linux ${of.kernel}, ${compilers}; load average ${of.load.begin} at the begin, ${of.load.end} at the end`
  );
}

/** " (commit abc1234)" where the sources are a checkout, with "+" where they differ from it. */
export function commit(): string {
  const name = firstLine('git', ['describe', '--always', '--dirty=+', '--abbrev=7', '--exclude=*']);
  return name === undefined || name === '' ? '' : ` (commit ${name})`;
}
