/**
 * Generated programs with known answers: drawn from a seed, with the gain of each change measured by the program
 * itself. What is asked and how it is judged: docs/testing.md, "Generated programs".
 *
 *   npm run truth -- --generated N --seed S [--from K] [--rounds R] [--recordings R] [--keep DIR] [--list]
 *   --from K:   programs K, K + 1, ... K + N - 1 of the seed in place of the first N
 *   --keep DIR: programs and profiles stay there; what is there already is not run again, but judged again
 *   --list:     says of each program what its changes gain and what the reports say, before the totals
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildModel, type Model } from '../../../ts-frontend/src/model/index.js';
import { openProfile } from '../../../ts-frontend/src/reader/profile.js';
import { median } from '../measure.js';
import { generated, wordsOf, type Generated } from './draw.js';
import { isSure, judge, placesOf, type Gain, type Judged } from './judge.js';
import { compile, gainsOf, measured, profileOf } from './measure.js';
import { totalsOf, type Case } from './totals.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../../..');
const programs = join(root, 'bench/truth/generated/programs');
const kindAt = placesOf(
  new Map(readdirSync(programs).map((file) => [file, readFileSync(join(programs, file), 'utf8')])),
);
const sampler = join(root, 'build/sampler/quartz-sampler');

const { values } = parseArgs({
  options: {
    generated: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    rounds: { type: 'string', default: '5' },
    recordings: { type: 'string', default: '2' },
    keep: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});

const percent = (part: number): string => (100 * part).toFixed(0);

/** Processor time of the report, compared with the kernel's count. */
const beyondKernel = ({ kernelUsage, root, balance }: Model): number =>
  kernelUsage ? (root.processorTimeNs + balance.spinningNs) / (kernelUsage.userNs + kernelUsage.systemNs) - 1 : NaN;

function listed({ program, slower, slowerCpu, reported, orMore, judged, cpu }: Case, gains: readonly Gain[]): string {
  const gainText = gains.map(
    ({ part, fix, gain, low, high }) =>
      `${program.parts[part]!.component.kind}/${fix} ${percent(gain)} (${percent(low)} to ${percent(high)})`,
  );
  const promiseText = ({ part, form, low, high, gain, miss }: Judged['promises'][number]): string =>
    `${program.parts[part]!.component.kind}/${gain.fix} ${form} ${percent(low)} to ${percent(high)}` +
    (Math.abs(miss) > 0.1 ? ` MISSED by ${percent(miss)}` : '');
  return [
    `${program.name}: ${wordsOf(program).join(' ')}`,
    `  gains: ${gainText.join(', ')}`,
    ...judged.map(
      ({ first, firstName, promises, silent, falsely }) =>
        `  ${first}: ${firstName}; ${promises.map(promiseText).join('; ')}` +
        (silent.length > 0
          ? `; SILENT ${silent.map(({ part }) => program.parts[part]!.component.kind).join(' ')}`
          : '') +
        (falsely.length > 0 ? '; FALSE' : ''),
    ),
    `  slower by ${percent(slower)} % (processor time: ${percent(slowerCpu)} %), reported ${percent(reported)} %` +
      (orMore ? ' or more' : '') +
      `; processor time beyond the kernel's: ${cpu.map((part) => `${(100 * part).toFixed(1)} %`).join(', ')}`,
  ].join('\n');
}

function caseOf(program: Generated, under: string): Case {
  const recordings = Number(values.recordings);
  const rounds = measured(under, sampler, program, Number(values.rounds), recordings);
  const gains = gainsOf(program, rounds);
  const recorded = rounds.map((one) => one.recorded).filter((one) => one !== undefined);
  const models = recorded.map((_, k) => buildModel(openProfile(profileOf(under, program, k + 1))));
  const one: Case = {
    program,
    sure: isSure(gains),
    judged: models.map((model) => judge(model, program, gains, kindAt)),
    slower: median(recorded) / median(rounds.map(({ alone }) => alone)) - 1,
    slowerCpu: median(rounds.flatMap(({ cpu }) => cpu.recorded ?? [])) / median(rounds.map(({ cpu }) => cpu.alone)) - 1,
    reported: Math.max(...models.map(({ slowdown }) => slowdown.share)),
    orMore: models.some(({ slowdown }) => slowdown.waitsMayChange || slowdown.linesMayMove || slowdown.othersMayChange),
    close: models.some(({ notices }) => notices.some(({ form }) => form === 'close-findings')),
    cpu: models.map(beyondKernel),
  };
  if (values.list) console.log((one.sure ? '' : 'LEFT OUT ') + listed(one, gains));
  return one;
}

const under = values.keep === undefined ? mkdtempSync(join(tmpdir(), 'quartz-generated-')) : resolve(values.keep);
try {
  compile(programs, under);
  const from = Number(values.from);
  const cases: Case[] = [];
  for (let index = from; index < from + Number(values.generated); index++)
    try {
      cases.push(caseOf(generated(Number(values.seed), index), under));
    } catch (error) {
      console.log(`${index}: failed: ${String(error)}`);
    }
  console.log(totalsOf(cases.filter(({ sure }) => sure)));
  const out = cases.filter(({ sure }) => !sure).map(({ program }) => program.name);
  console.log(`Left out, since the quartiles of a gain are more than 15 points apart: ${out.join(' ') || 'none'}.`);
} finally {
  if (values.keep === undefined) rmSync(under, { recursive: true });
}
