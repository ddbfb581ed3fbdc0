/**
 * Whether a change that the user tried is the one that a finding advises. It matches only if both the form of the
 * change and the behaviour of the changed program show it, and exactly one finding advises it (docs/guide/measuring.md,
 * "Findings that are verified"). Pure functions.
 */
import { item } from '../profile/columns.js';
import type { Finding, Model } from '../result/types.js';

/** How a program is started: command line and environment variables. */
export interface ProgramStart {
  words: readonly string[];
  environment: Readonly<Record<string, string>>;
}

export type Remedy = 'fewer-threads' | 'keep-memory' | 'block-instead-of-spin';

/**
 * Variables for the number of threads of run-time libraries: OpenMP, BLAS libraries, Rayon, Go, Julia, Quartz's own
 * package.
 */
const setsThreads = new RegExp(
  '^((OMP|MKL|OPENBLAS|BLIS|GOTO|NUMEXPR|RAYON|JULIA)_NUM_THREADS|OMP_THREAD_LIMIT|GOMAXPROCS|QUARTZ_PROCESSORS)$',
);
/** Variables for when glibc's allocator returns memory, and for the number of its arenas. */
const setsMalloc = /^MALLOC_(TRIM_THRESHOLD_|MMAP_THRESHOLD_|MMAP_MAX_|TOP_PAD_|ARENA_MAX|ARENA_TEST)$/;
/** Settings by which waiters of OpenMP's libraries block at once. */
const blocks: Readonly<Record<string, RegExp>> = {
  OMP_WAIT_POLICY: /^passive$/i,
  GOMP_SPINCOUNT: /^0$/,
  KMP_BLOCKTIME: /^0$/,
};

const onlyMalloc = (name: string, value: string): boolean =>
  setsMalloc.test(name) ||
  (name === 'GLIBC_TUNABLES' && value !== '' && value.split(':').every((one) => one.startsWith('glibc.malloc.')));

/** Whether the command lines differ in one word only, by a smaller number at its end. */
function oneSmallerNumber(before: readonly string[], after: readonly string[]): boolean {
  const differ = before.flatMap((word, k) => (word === after[k] ? [] : [k]));
  const [at] = differ;
  if (before.length !== after.length || differ.length !== 1 || at === undefined || at === 0) return false;
  const number = /^(.*?)(\d+)$/s;
  const [, name, many] = number.exec(item(before, at)) ?? [],
    [, same, fewer] = number.exec(item(after, at)) ?? [];
  return name !== undefined && name === same && Number(fewer) < Number(many);
}

const sameWords = (before: ProgramStart, after: ProgramStart): boolean =>
  before.words.length === after.words.length && before.words.every((word, k) => word === after.words[k]);

const fewerThreads = (before: Model, after: Model): boolean =>
  (after.kernelUsage?.threadsAtOnce ?? 0) < (before.kernelUsage?.threadsAtOnce ?? 0);
/** Requires a tenth less, because runs of one version differ, too. */
const fewerFaults = (before: Model, after: Model): boolean =>
  (after.kernelUsage?.faults.minor ?? Infinity) < 0.9 * (before.kernelUsage?.faults.minor ?? 0);
const spinningShare = ({ balance, elapsedNs, processors }: Model): number =>
  elapsedNs > 0 ? balance.spinningNs / elapsedNs / processors : 0;
const spinsLess = (before: Model, after: Model): boolean => spinningShare(after) < 0.5 * spinningShare(before);

/** Classifies a change by its form and by what both programs were observed to do; null if unknown. */
export function remedyOf(original: ProgramStart, changed: ProgramStart, before: Model, after: Model): Remedy | null {
  const set = Object.entries(changed.environment);
  if (set.length === 0)
    return oneSmallerNumber(original.words, changed.words) && fewerThreads(before, after) ? 'fewer-threads' : null;
  if (!sameWords(original, changed)) return null;
  if (set.every(([name]) => setsThreads.test(name))) return fewerThreads(before, after) ? 'fewer-threads' : null;
  if (set.every(([name, value]) => onlyMalloc(name, value))) return fewerFaults(before, after) ? 'keep-memory' : null;
  if (set.every(([name, value]) => blocks[name]?.test(value) === true))
    return spinsLess(before, after) ? 'block-instead-of-spin' : null;
  return null;
}

/** Whether the change is to run the same program on one CPU (`taskset -c 0 PROGRAM`), which had several before. */
export function onOneCpu(original: ProgramStart, changed: ProgramStart, before: Model, after: Model): boolean {
  const [tool, option, cpu, ...words] = changed.words;
  return (
    /(^|\/)taskset$/.test(tool ?? '') &&
    option === '-c' &&
    /^\d+$/.test(cpu ?? '') &&
    sameWords(original, { words, environment: {} }) &&
    Object.keys(changed.environment).length === 0 &&
    (before.cpuLimits?.allowed ?? 0) > 1 &&
    after.cpuLimits?.allowed === 1
  );
}

function advises({ change, facts }: Finding, remedy: Remedy): boolean {
  switch (remedy) {
    case 'keep-memory':
      return facts.form === 'kernel-work' && facts.work === 'memory';
    case 'fewer-threads':
      return change === remedy;
    case 'block-instead-of-spin': // beside fewer threads, the alternative remedy for the same finding
      return change === remedy || (facts.form === 'oversubscription' && facts.harmful);
  }
}

/** The only finding that advises it; null if there is none, or several. */
export function adviserOf(findings: readonly Finding[], remedy: Remedy): Finding | null {
  const [only, another] = findings.filter((finding) => advises(finding, remedy));
  return only !== undefined && another === undefined ? only : null;
}
