/**
 * The bench of truth: real programs, each with a cause that was registered, and a change whose gain was measured,
 * before Quartz ran on it for the first time. Says how often the first finding is right.
 *
 *   npm run truth -- --register [NAME...]    measures the changes of programs that are not registered yet, without
 *                                            Quartz
 *   npm run truth -- [--runs N] [NAME...]    runs Quartz on registered programs; without names, writes
 *                                            docs/evidence/truth.md
 *   npm run truth -- --promises --keep DIR [--runs N] [NAME...]
 *                                            alternate runs, alone, recorded, changed: promised beside real gains,
 *                                            reported beside real slowdown; what is in DIR already is not run again
 *   --keep DIR: inputs and profiles (DIR/NAME/profile-K.quartz) stay there
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { verdictOf, promised } from './verdict.js';
import type { Gain, Outcome } from './outcome.js';
import { directoryOf, median, missing, record, timeOf, type Recorded, type Times } from './measure.js';
import type { Program } from './program.js';
import { programs } from './programs.js';
import { judgeRounds, measureRounds, promiseTable } from './promises.js';
import { tableOf } from './table.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const registry = join(root, 'bench/truth/registered.json');
const page = join(root, 'docs/evidence/truth.md');
const sampler = join(root, 'build/sampler/quartz-sampler');

function alternated(program: Program, directory: string, runs: number): { before: Times[]; after: Times[] } {
  const before: Times[] = [],
    after: Times[] = [];
  timeOf(program.run, directory); // files are in memory from now on
  for (let k = 0; k < runs; k++) {
    before.push(timeOf(program.run, directory));
    after.push(timeOf(program.fixed, directory));
  }
  return { before, after };
}

const elapsed = (times: readonly Times[]): number => median(times.map((one) => one.elapsed));

/** What people wrote below the table stays. */
function written(file: string): string {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const from = text.indexOf('\n## ');
  return from < 0 ? '' : text.slice(from);
}

/** A program that fails here is reported, and the others go on. */
function attempt<Result>({ name }: Program, what: () => Result): Result | undefined {
  try {
    return what();
  } catch (error) {
    console.log(`${name}: failed: ${String(error)}`);
    return undefined;
  }
}

function register(chosen: readonly Program[], known: Record<string, Gain>, under: string, runs: number): void {
  for (const program of chosen.filter(({ name }) => known[name] === undefined)) {
    const measured = attempt(program, () => alternated(program, directoryOf(program, under), runs));
    if (!measured) continue;
    const { before, after } = measured;
    const gain = { on: new Date().toISOString().slice(0, 10), runs, before: elapsed(before), after: elapsed(after) };
    known[program.name] = gain;
    console.log(`${program.name}: ${gain.before} s, changed ${gain.after} s`);
    writeFileSync(registry, `${JSON.stringify(known, null, 2)}\n`);
  }
}

/** Runs without Quartz, with it, and of the change, alternately. */
function run(program: Program, gain: Gain, under: string, runs: number): Outcome {
  const directory = directoryOf(program, under);
  const before: Times[] = [],
    after: Times[] = [],
    recorded: Recorded[] = [];
  timeOf(program.run, directory); // files are in memory from now on
  for (let k = 1; k <= runs; k++) {
    before.push(timeOf(program.run, directory));
    recorded.push(record(program, directory, sampler, `profile-${k}.quartz`));
    after.push(timeOf(program.fixed, directory));
  }
  const reported = recorded
    .map(({ model }) => promised(model, program.registered))
    .filter((part) => part !== undefined);
  const firsts = recorded.map(({ model: { findings } }) =>
    findings[0] ? `${findings[0].kind} ${findings[0].name}` : 'none',
  );
  return {
    program,
    gain,
    verdicts: recorded.map(({ model }) => verdictOf(model, program.registered)),
    first: [...new Set(firsts)].join('; '),
    before,
    after,
    recorded,
    promised: reported.length > 0 ? median(reported) : undefined,
  };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    register: { type: 'boolean', default: false },
    promises: { type: 'boolean', default: false },
    runs: { type: 'string', default: '3' },
    keep: { type: 'string' },
  },
});
const runs = Number(values.runs);
const known = (existsSync(registry) ? JSON.parse(readFileSync(registry, 'utf8')) : {}) as Record<string, Gain>;
const wanted = programs.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const chosen = wanted.filter((program) => {
  const lacks = missing(program);
  if (lacks !== undefined)
    console.log(`${program.name}: left out, ${lacks} is not there (${program.packages.join(' ')})`);
  return lacks === undefined;
});
const under = values.keep === undefined ? mkdtempSync(join(tmpdir(), 'quartz-truth-')) : resolve(values.keep);
try {
  if (values.register) register(chosen, known, under, runs);
  else if (values.promises) {
    for (const program of chosen)
      attempt(program, () => {
        measureRounds(program, under, sampler, runs);
      });
    const kept = chosen.flatMap((program) => attempt(program, () => judgeRounds(program, under)) ?? []);
    console.log(promiseTable(kept));
  } else {
    const outcomes: Outcome[] = [];
    for (const program of chosen) {
      const gain = known[program.name];
      if (!gain) console.log(`${program.name}: left out, not registered (--register)`);
      else {
        const outcome = attempt(program, () => run(program, gain, under, runs));
        if (!outcome) continue;
        outcomes.push(outcome);
        console.log(`${program.name}: ${outcome.verdicts.join(' ')}; first: ${outcome.first}`);
      }
    }
    if (positionals.length === 0) writeFileSync(page, tableOf(outcomes) + written(page));
    else console.log(tableOf(outcomes));
  }
} finally {
  if (values.keep === undefined) rmSync(under, { recursive: true });
}
