/** What a figure depends on besides the code: the machine, its kernel, its compilers, and the load. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';

export interface Machine {
  cpu: string;
  cpus: number;
  virtual: string; // "no", or the hypervisor's name, or "yes"
  memoryGB: number;
  caches?: string; // "32K, 1024K, 32768K": of the first CPU, data or unified caches, nearest first
  /** Latencies by name, ns (bench/peers/machine.c); absent: not measured. */
  latencies?: Record<string, number>;
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

function caches(): string | undefined {
  const at = '/sys/devices/system/cpu/cpu0/cache';
  try {
    const sizes = readdirSync(at)
      .filter((name) => /^index\d+$/.test(name))
      .sort()
      .map((name) => (file: string) => readFileSync(`${at}/${name}/${file}`, 'utf8').trim())
      .filter((of) => of('type') !== 'Instruction')
      .map((of) => of('size'));
    return sizes.length > 0 ? sizes.join(', ') : undefined;
  } catch {
    return undefined;
  }
}

/** `latencies`: the output of the program bench/peers/machine.c. */
export function machine(latencies?: Readonly<Record<string, number>>): Machine {
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
  const sizes = caches();
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cpus: availableParallelism(),
    virtual: virtual(),
    memoryGB: Math.round(totalmem() / 2 ** 30),
    ...(sizes === undefined ? {} : { caches: sizes }),
    ...(latencies === undefined ? {} : { latencies }),
    kernel: release(),
    compilers,
    node: process.versions.node,
    load: { begin: load, end: load },
  };
}

export const loadNow = (): number => Math.round(loadavg()[0]! * 100) / 100;

/** Whether figures of the two may be compared. If not, ratios to peers may be. */
export const sameMachine = (a: Machine, b: Machine): boolean =>
  a.cpu === b.cpu && a.cpus === b.cpus && (a.caches === undefined || b.caches === undefined || a.caches === b.caches);

/** One line for people. */
export function machineLine(of: Machine): string {
  const compilers = Object.entries(of.compilers)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');
  return (
    `${of.cpus} CPUs (${of.cpu}${of.virtual === 'no' ? '' : `, virtual: ${of.virtual}`}` +
    `${of.caches === undefined ? '' : `, caches ${of.caches}`}), ${of.memoryGB} GB, ` +
    `Linux ${of.kernel}, ${compilers}; load average ${of.load.begin} at the begin, ${of.load.end} at the end`
  );
}

/** The meaning of each latency, in the order in which they are shown. */
const latencyNames: readonly (readonly [string, string])[] = [
  ['clock', 'clock'],
  ['ticks', 'counter'],
  ['near', 'load from 16 KiB'],
  ['middle', '256 KiB'],
  ['far', '64 MiB'],
  ['forward', 'load after store'],
  ['parts', 'load after two stores of its halves'],
  ['fence', 'fence'],
  ['locked', 'compare-and-swap'],
  ['transfer', 'line to the other CPU'],
  ['wake', 'wake of a sleeper there'],
];
/** "Latencies, ns: clock 23.1, ..."; "" where none were measured. */
export function latencyLine(of: Machine): string {
  const { latencies = {} } = of;
  const text = latencyNames.flatMap(([name, what]) => {
    const value = latencies[name];
    return value === undefined ? [] : [`${what} ${value >= 1000 ? Math.round(value) : value.toPrecision(3)}`];
  });
  return text.length > 0 ? `Latencies, ns: ${text.join(', ')}` : '';
}

/** " (commit abc1234)" if the sources are a checkout, with "+" if they differ from it. */
export function commit(): string {
  const name = firstLine('git', ['describe', '--always', '--dirty=+', '--abbrev=7', '--exclude=*']);
  return name === undefined || name === '' ? '' : ` (commit ${name})`;
}
