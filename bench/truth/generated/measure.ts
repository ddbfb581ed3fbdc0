/** Generated programs alone, with each change, and recorded, in turn; what they took stays beside the profiles. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../measure.js';
import { variantsOf, wordsOf, type Generated, type Variant } from './draw.js';
import type { Gain } from './judge.js';

const limitMs = 60_000;

export interface Round {
  alone: number; // s, elapsed, by the program's own clock
  recorded: number | undefined; // in rounds that were
  changed: number[]; // in the order of variantsOf
  cpu: { alone: number; recorded: number | undefined }; // s, processor time, by the program's own clock
}

/** Compiles both programs, once for a directory. */
export function compile(sources: string, under: string): void {
  mkdirSync(under, { recursive: true });
  const files = readdirSync(sources).filter((name) => name.endsWith('.c'));
  for (const [name, option, its] of [
    ['plain', '-pthread', files.filter((file) => file !== 'openmp.c')],
    ['openmp', '-fopenmp', files],
  ] as const)
    if (!existsSync(join(under, name)))
      execFileSync('gcc', ['-std=gnu17', '-O2', '-g', option, '-o', join(under, name), ...its], { cwd: sources });
}

interface Took {
  elapsed: number; // s
  cpu: number;
}

function tookOf(under: string, program: Generated, variant: Variant | undefined, before: readonly string[]): Took {
  const words = [...before, join(under, program.openmp ? 'openmp' : 'plain'), ...wordsOf(program, variant)];
  const ran = spawnSync(words[0]!, words.slice(1), { timeout: limitMs, encoding: 'utf8' });
  if (ran.error) throw ran.error;
  if (ran.status !== 0) throw new Error(`${words.join(' ')}: exit ${ran.status}: ${ran.stderr.slice(-400)}`);
  const [elapsed, cpu] = ran.stdout.split(' ').map((ns) => Number(ns) / 1e9);
  return { elapsed: elapsed!, cpu: cpu! };
}

export const profileOf = (under: string, { name }: Generated, recording: number): string =>
  join(under, name, `profile-${recording}.quartz`);

/** Versions in one order in each odd round, in the opposite one in each even one, so that what drifts cancels out. */
export function measured(
  under: string,
  sampler: string,
  program: Generated,
  rounds: number,
  recordings: number,
): Round[] {
  const file = join(under, program.name, 'rounds.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Round[];
  mkdirSync(join(under, program.name), { recursive: true });
  const variants = variantsOf(program);
  const taken: Round[] = [];
  for (let k = 1; k <= rounds; k++) {
    const round: Round = { alone: 0, recorded: undefined, changed: [], cpu: { alone: 0, recorded: undefined } };
    const record = ['record', '-q', '-o', profileOf(under, program, k), '--'];
    const steps = [
      () => ({ elapsed: round.alone, cpu: round.cpu.alone } = tookOf(under, program, undefined, [])),
      ...(k <= recordings
        ? [
            () =>
              ({ elapsed: round.recorded, cpu: round.cpu.recorded } = tookOf(under, program, undefined, [
                sampler,
                ...record,
              ])),
          ]
        : []),
      ...variants.map((variant, at) => () => (round.changed[at] = tookOf(under, program, variant, []).elapsed)),
    ];
    for (const step of k % 2 === 1 ? steps : steps.reverse()) step();
    taken.push(round);
  }
  writeFileSync(file, JSON.stringify(taken));
  return taken;
}

export function gainsOf(program: Generated, rounds: readonly Round[]): Gain[] {
  const alone = median(rounds.map((one) => one.alone));
  return variantsOf(program).map((variant, k) => {
    const each = rounds.map((one) => 1 - one.changed[k]! / one.alone).sort((a, b) => a - b);
    const at = (part: number): number => each[Math.round(part * (each.length - 1))]!;
    return {
      ...variant,
      gain: 1 - median(rounds.map(({ changed }) => changed[k]!)) / alone,
      low: at(0.25),
      high: at(0.75),
    };
  });
}
