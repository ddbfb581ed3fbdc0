/**
 * Whether promises hold: programs run alone, recorded, and changed, in turn; what the reports promised beside what the
 * change saved, the reported slowdown beside the real one, and whether recorded runs agree. Times are kept beside the
 * profiles, so that other versions of the model can judge the same runs.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildModel, type Model } from '../../ts-frontend/src/model/index.js';
import { openProfile } from '../../ts-frontend/src/reader/profile.js';
import { accountOf, directoryOf, median, type Times } from './measure.js';
import type { Program } from './program.js';
import { missBy, promiseOf, type Promise } from './promise.js';

interface Round {
  alone: Times;
  recorded: Times;
  changed: Times;
}
const versions = ['alone', 'recorded', 'changed'] as const;

/** Versions in one order in each odd round, in the opposite one in each even one, so that what drifts cancels out. */
export function measureRounds(program: Program, under: string, sampler: string, rounds: number): void {
  const directory = directoryOf(program, under);
  const file = join(directory, 'rounds.json');
  if (existsSync(file)) return;
  accountOf(program.run, directory, sampler, ['--plain']); // files are in memory from now on
  const taken: Round[] = [];
  for (let k = 1; k <= rounds; k++) {
    const round: Partial<Round> = {};
    for (const version of k % 2 === 1 ? versions : [...versions].reverse())
      round[version] = accountOf(
        version === 'changed' ? program.fixed : program.run,
        directory,
        sampler,
        version === 'recorded' ? ['-q', '-o', `profile-${k}.quartz`] : ['--plain'],
      );
    taken.push(round as Round);
  }
  writeFileSync(file, JSON.stringify(taken, null, 1));
}

export interface Kept {
  program: Program;
  gain: number;
  /** Of a change that spreads the work, and makes it less too: by spreading alone. That is what was promised. */
  spreading: number | undefined;
  spread: [number, number]; // quartiles of the rounds
  promises: Promise[];
  miss: number | undefined; // of the middle run
  slower: number;
  slowerSpread: [number, number];
  slowerCpu: number;
  reported: [number, number];
  orMore: boolean;
  firsts: string[];
  close: boolean[];
}

const quartiles = (values: readonly number[]): [number, number] => {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part: number): number => sorted[Math.round(part * (sorted.length - 1))]!;
  return [at(0.25), at(0.75)];
};

const firstOf = ({ findings: [first] }: Model): string => (first ? `${first.kind} ${first.name}` : 'none');

/** Processor time of a changed program, over that without: it does less work, below this. */
const lessWork = 0.9;

/** Part of the processor time in which threads only wait: it goes with the waiting. */
const spinning = ({ root, balance }: Model): number =>
  balance.spinningNs / Math.max(1, root.processorTimeNs + balance.spinningNs);

export function judgeRounds(program: Program, under: string): Kept | undefined {
  const directory = join(under, program.name);
  const file = join(directory, 'rounds.json');
  if (!existsSync(file)) return undefined;
  const rounds = JSON.parse(readFileSync(file, 'utf8')) as Round[];
  const models = rounds.map((_, k) => buildModel(openProfile(join(directory, `profile-${k + 1}.quartz`))));
  const promises = models.map((model) => promiseOf(model, program.registered));
  const of = (version: keyof Round, what: keyof Times = 'elapsed'): number =>
    median(rounds.map((round) => round[version][what]));
  const gain = 1 - of('changed') / of('alone');
  const work = of('changed', 'cpu') / (of('alone', 'cpu') * (1 - median(models.map(spinning))));
  const spreading = program.registered.spreads && work < lessWork ? 1 - of('changed') / of('alone') / work : undefined;
  const misses = promises.map((one) => missBy(one, spreading ?? gain)).filter((one) => one !== undefined);
  return {
    program,
    gain,
    spreading,
    spread: quartiles(rounds.map(({ alone, changed }) => 1 - changed.elapsed / alone.elapsed)),
    promises,
    miss: misses.length > 0 ? median(misses) : undefined,
    slower: of('recorded') / of('alone') - 1,
    slowerSpread: quartiles(rounds.map(({ alone, recorded }) => recorded.elapsed / alone.elapsed - 1)),
    slowerCpu: of('recorded', 'cpu') / of('alone', 'cpu') - 1,
    reported: [
      median(models.map(({ slowdown }) => slowdown.shareLeast)),
      median(models.map(({ slowdown }) => slowdown.share)),
    ],
    orMore: models.some(({ slowdown }) => slowdown.waitsMayChange || slowdown.linesMayMove || slowdown.othersMayChange),
    firsts: models.map(firstOf),
    close: models.map(({ notices }) => notices.some(({ form }) => form === 'close-findings')),
  };
}

const percent = (part: number): string => (100 * part).toFixed(0);
const range = ([low, high]: readonly [number, number]): string =>
  percent(low) === percent(high) ? percent(low) : `${percent(low)} to ${percent(high)}`;

function promiseText(promises: readonly Promise[]): string {
  const promised = promises.filter((one) => one.form !== 'none');
  if (promised.length === 0) return '-';
  const form = promised[0]!.form;
  const high = median(promised.map((one) => one.high)),
    low = median(promised.map((one) => one.low));
  const text =
    form === 'bound' ? `up to ${percent(high)}` : form === 'more' ? `${percent(low)} or more` : range([low, high]);
  return promised.length < promises.length ? `${text} (${promised.length} of ${promises.length})` : text;
}

/** Pairs of runs with the same first finding, and such where one says that it is close to another. */
function pairs({ firsts, close }: Kept): { agree: number; said: number; all: number } {
  let agree = 0,
    said = 0,
    all = 0;
  for (let k = 0; k < firsts.length; k++)
    for (let n = 0; n < k; n++) {
      all++;
      if (firsts[k] === firsts[n]) agree++;
      else if (close[k] === true || close[n] === true) said++;
    }
  return { agree, said, all };
}

/** A promise holds where the gain is no more than this from it. */
const near = 0.1;

function row(kept: Kept): string {
  const { program, gain, spread, spreading, promises, miss, reported, slower, slowerSpread, slowerCpu, orMore } = kept;
  const forms = [...new Set(promises.map(({ of }) => of?.facts.form ?? '-'))].join(', ');
  const { agree, said, all } = pairs(kept);
  return `| ${[
    program.name,
    program.registered.fix,
    forms,
    promiseText(promises),
    `${percent(gain)} (${range(spread)})${spreading === undefined ? '' : `, ${percent(spreading)} of it by spreading`}`,
    miss === undefined ? '-' : percent(miss),
    range(reported) + (orMore ? ' or more' : ''),
    `${percent(slower)} (${range(slowerSpread)})`,
    percent(slowerCpu),
    `${agree}${said > 0 ? ` + ${said}` : ''} of ${all}`,
  ].join(' | ')} |`;
}

export function promiseTable(all: readonly Kept[]): string {
  const promised = all.filter(({ miss }) => miss !== undefined);
  const isOpen = ({ promises }: Kept): boolean => promises.some(({ form }) => form === 'bound' || form === 'more');
  const holding = (those: readonly Kept[]): string =>
    `${those.filter(({ miss }) => Math.abs(miss ?? 1) <= near).length} of ${those.length}`;
  const covered = all.filter(
    ({ reported: [, most], slowerSpread: [low], orMore }) => low <= most + 0.005 || (orMore && low <= 1),
  );
  const sums = all.map(pairs);
  const sum = (of: (one: ReturnType<typeof pairs>) => number): number => sums.reduce((s, one) => s + of(one), 0);
  return [
    '| program | change | finding | promised, % | gain, % (quartiles) | beyond it, points | reported slower, % ' +
      '| really, % (quartiles) | CPU, % | same first finding |',
    '|---|---|---|---|---|---|---|---|---|---|',
    ...all.map(row),
    '',
    `Values and intervals within ${100 * near} points of the gain: ` +
      `${holding(promised.filter((one) => !isOpen(one)))}; of "up to" and "or more" the gain is on the right side, ` +
      `or within ${100 * near} points of it, in ${holding(promised.filter(isOpen))}; nothing is promised in ` +
      `${all.length - promised.length}. Reported slowdown reaches the real one's lower quartile: ` +
      `${covered.length} of ${all.length}. Pairs of runs with one first finding: ${sum((s) => s.agree)}, ` +
      `said to be close ${sum((s) => s.said)}, of ${sum((s) => s.all)}.`,
    '',
  ].join('\n');
}
