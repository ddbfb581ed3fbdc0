/**
 * quartz run --measure, --try, --runs: several runs of a program and what their times and profiles show together
 * (docs/guide/measuring.md). This file runs the program and keeps the profiles; model/experiment evaluates them.
 */
import { copyFileSync, constants, mkdtempSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { constants as system } from 'node:os';
import { dirname, join } from 'node:path';
import {
  defined,
  experimentOf,
  item,
  middleOf,
  orderOf,
  recordedRun,
  type Experiment,
  type ExperimentInput,
  type ExperimentRun,
  type Mode,
  type Model,
  type ProgramStart,
  type RecordedRun,
  type Version,
  withExperiment,
} from '../../model/index.js';
import { experimentTexts } from '../../render/index.js';
import { changeOf, checkProgram } from './change.js';
import { shareCores } from './cpu-cores.js';
import type { Arguments } from '../command.js';
import { exitCodes, Failure, reportFailure, usage } from '../failure.js';
import { loadModel } from '../profile.js';
import { samplerOptions } from './recording.js';
import { checkInput } from './replayed-input.js';
import { showModel } from '../show/show.js';
import { display } from '../terminal.js';
import { timedRun, type TimedRun } from './timed-run.js';

interface Change {
  text: string;
  start: ProgramStart;
}
interface Plan {
  original: ProgramStart;
  changes: Change[];
  rounds: number;
  versions: { version: Version; change: number | null }[]; // each version runs once in each round
  firstCounts: boolean; // whether the first, visible run is part of the first round; otherwise it is not counted
}
interface Recorded extends RecordedRun {
  file: string;
}
/** Rounds with --try if --measure does not give a number. */
const usualRounds = 5;

/** Throws a usage failure before anything has run if the experiment cannot be done. */
function planOf(args: Arguments): Plan {
  if (args.has('children')) throw usage('--children does not go with runs that are compared', 'leave one of them out');
  checkInput();
  const original: ProgramStart = { words: args.words, environment: {} };
  const changes = args.texts('try').map((text) => ({ text, start: changeOf(text, args.words) }));
  for (const { text, start } of changes) if (start.words !== args.words) checkProgram(text, start);
  const runs = args.number('runs');
  const recorded = { version: 'recorded', change: null } as const;
  if (runs !== undefined) return { original, changes, rounds: runs, versions: [recorded], firstCounts: true };
  return {
    original,
    changes,
    rounds: args.number('measure') ?? usualRounds,
    versions: [
      { version: 'unrecorded', change: null },
      ...(args.has('measure') ? [recorded] : []),
      ...changes.map((_, change) => ({ version: 'changed', change }) as const),
    ],
    firstCounts: false,
  };
}

/** Ends the experiment early; what has been measured so far is reported. */
class Ended extends Error {
  constructor(
    readonly how: 'interrupted' | 'failed',
    what: string,
    readonly status: number,
  ) {
    super(what);
  }
}

const names: Record<Version, string> = {
  unrecorded: 'without Quartz',
  recorded: 'recorded',
  changed: 'changed',
  'changed-recorded': 'changed, recorded',
};

/** Runs the program again and again and collects the results. */
class Course {
  readonly runs: ExperimentRun[] = [];
  readonly recorded: Recorded[] = [];
  readonly tried: { file: string; model: Model }[] = [];
  readonly total: number;
  complete = 0;
  signal: NodeJS.Signals | null = null;
  /** Holds profiles that may have to be deleted. */
  private folder: string | undefined;

  constructor(
    private readonly args: Arguments,
    readonly plan: Plan,
  ) {
    const later = plan.firstCounts ? plan.rounds - 1 : plan.rounds;
    this.total = 1 + plan.changes.length + later * plan.versions.length;
  }

  /** The first run, whose output the user sees as with `quartz run`. */
  async first(): Promise<TimedRun> {
    const run = await timedRun(this.plan.original, { record: samplerOptions(this.args), shown: true });
    if (run.file === undefined) return run;
    this.folder = mkdtempSync(join(dirname(run.file), '.quartz-'));
    if (run.status === 0 && run.times !== null && this.signal === null) {
      this.add(run, this.plan.firstCounts ? 1 : 0, 'recorded', null);
      if (this.plan.firstCounts) this.complete = 1;
    }
    return run;
  }

  /** All other runs. Throws Ended. */
  async rest(): Promise<void> {
    const { changes, rounds, versions, firstCounts } = this.plan;
    for (let change = 0; change < changes.length; change++) await this.next(0, 'changed-recorded', change);
    for (const order of orderOf(firstCounts ? rounds - 1 : rounds, versions.length, Math.random)) {
      for (const which of order) {
        const { version, change } = item(versions, which);
        await this.next(this.complete + 1, version, change);
      }
      this.complete++;
    }
  }

  private async next(round: number, version: Version, change: number | null): Promise<void> {
    const number = this.runs.length + 1;
    const what = `run ${number} of ${this.total} (${names[version]}${
      change === null ? '' : `: ${item(this.plan.changes, change).text}`
    })`;
    this.endIfAsked(`before ${what}`, 0);
    this.progress(number);
    const records = version === 'recorded' || version === 'changed-recorded';
    const run = await timedRun(change === null ? this.plan.original : item(this.plan.changes, change).start, {
      record: records ? this.hiddenOptions(number) : null,
      shown: false,
    });
    this.progress(0);
    this.endIfAsked(`in ${what}`, run.status);
    if (run.status !== 0 || run.times === null || (records && run.file === undefined)) {
      process.stderr.write(run.said);
      const why =
        run.status !== 0 ? `ended with status ${run.status}` : run.times === null ? 'was not timed' : 'has no profile';
      throw new Ended('failed', `${what} ${why}`, run.status || exitCodes.failed);
    }
    this.add(run, round, version, change);
  }

  private endIfAsked(when: string, status: number): void {
    if (this.signal !== null)
      throw new Ended('interrupted', `interrupted ${when}`, status || 128 + system.signals[this.signal]);
  }

  /** Adds the result of a successful run. */
  private add({ times, file }: TimedRun, round: number, version: Version, change: number | null): void {
    const number = this.runs.length + 1;
    if (times === null) return;
    if (file !== undefined) {
      const model = loadModel(file, { raw: this.args.has('raw') });
      if (version === 'recorded') this.recorded.push({ ...recordedRun(number, times.elapsedNs, model), file });
      else this.tried.push({ file, model });
    }
    this.runs.push({ ...times, number, round, version, change });
  }

  /** The sampler's options of the first run, with a temporary output file. */
  private hiddenOptions(number: number): string[] {
    const options = samplerOptions(this.args, ['output', 'quiet']);
    return [...options, '--quiet', '--output', join(defined(this.folder), `${number}.quartz`).replaceAll('%', '%%')];
  }

  private progress(number: number): void {
    if (!process.stderr.isTTY || this.args.has('quiet')) return;
    process.stderr.write(number === 0 ? '\r\u001b[K' : `\rquartz: run ${number} of ${this.total}`);
  }

  tidy(): void {
    if (this.folder !== undefined) rmSync(this.folder, { recursive: true, force: true });
  }
}

/** FILE.fast.quartz for FILE.quartz. */
const beside = (file: string, what: string): string => `${file.replace(/\.quartz$/, '')}.${what}.quartz`;

/** Keeps one profile of each version beside the first one and builds the model for the report. */
function experimentModel(course: Course, file: string, ended: Experiment['ended'], raw: boolean): Model {
  const { plan, runs, complete } = course;
  const inRounds = course.recorded.filter(({ number }) => item(runs, number - 1).round > 0);
  const recorded = inRounds.length > 0 ? inRounds : course.recorded;
  const kept = middleOf(recorded);
  const changes = plan.changes.map(({ text, start }, k) => {
    const one = course.tried[k];
    const profile = one === undefined ? null : beside(file, `try${k + 1}`);
    if (one !== undefined && profile !== null) renameSync(one.file, profile);
    return { text, start, profile, model: one?.model ?? null };
  });
  const input: ExperimentInput = {
    rounds: plan.rounds,
    complete,
    ended,
    runs,
    recorded,
    kept: kept.number,
    original: plan.original,
    changes,
    sharedCores: shareCores(),
  };
  const fileOf = (number: number): string => defined(recorded.find((one) => one.number === number)).file;
  const model = loadModel(fileOf(kept.number), { raw });
  const experiment = experimentOf(input, model);
  const { modes } = experiment.recorded;
  const keep = (mode: Mode, what: string): void => {
    const name = beside(file, what);
    const { number } = middleOf(recorded.filter((one) => mode.runs.includes(one.number)));
    try {
      copyFileSync(fileOf(number), name, constants.COPYFILE_FICLONE);
      mode.profile = name;
    } catch (error) {
      rmSync(name, { force: true });
      const why = error instanceof Error ? error.message : String(error);
      reportFailure(new Failure(`${name} cannot be kept: ${why}`, 'make room there'));
    }
  };
  if (modes !== null) {
    keep(modes.fast, 'fast');
    keep(modes.slow, 'slow');
  }
  if (fileOf(kept.number) !== file) renameSync(fileOf(kept.number), file);
  utimesSync(file, new Date(), new Date()); // commands without a file name read the newest profile: this one
  return withExperiment(model, experiment, input);
}

/**
 * Shows the report. If its form has no place for the experiment's result, or if it fails, the result goes to stderr.
 */
async function show(args: Arguments, model: Model): Promise<number> {
  const reportBeside = (): void => {
    const texts = model.experiment === undefined ? [] : experimentTexts(model.experiment, display(args));
    for (const text of texts) process.stderr.write(`quartz: ${text}\n`);
  };
  if (args.has('csv')) reportBeside();
  try {
    return await showModel(args, 'procedures', model);
  } catch (error) {
    if (!args.has('csv')) reportBeside();
    throw error;
  }
}

/** Returns the exit status: the program's, or that of the run that ended the experiment. */
export async function experiment(args: Arguments): Promise<number> {
  const course = new Course(args, planOf(args));
  const interrupt = (signal: NodeJS.Signals): void => {
    course.signal = signal;
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
  for (const signal of signals) process.on(signal, interrupt);
  try {
    const first = await course.first();
    const { file } = first;
    let { status } = first;
    if (file === undefined) {
      // runChild has reported that the program does not exist; if only the profile is missing, say what follows from
      // that
      if (first.times !== null) process.stderr.write('quartz: nothing is measured, since there is no profile\n');
      return status;
    }
    if (course.runs.length === 0) {
      const why = course.signal === null ? `the program ended with status ${status}` : 'interrupted';
      process.stderr.write(`quartz: ${why}: nothing is measured, and the report is of that run\n`);
      const code = await reported(() => show(args, loadModel(file, { raw: args.has('raw') })));
      return status === 0 ? code : status;
    }
    if (!args.has('quiet'))
      process.stderr.write(
        `quartz: ${course.total - 1} more runs, whose output is dropped; ` +
          'Ctrl-C ends them, and what was measured is reported\n',
      );
    let ended: Experiment['ended'] = 'done';
    try {
      await course.rest();
    } catch (error) {
      const isEnd = error instanceof Ended;
      ended = isEnd ? error.how : 'failed';
      // for example a profile that cannot be read, or no memory for another process
      status = isEnd ? error.status : reportFailure(error);
      const what = isEnd ? error.message : `run ${course.runs.length + 1} of ${course.total} was not made or not read`;
      process.stderr.write(`quartz: ${what}: the experiment ends there; what was measured is reported\n`);
    }
    const code = await reported(() => show(args, experimentModel(course, file, ended, args.has('raw'))));
    return status === 0 ? code : status;
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
    course.tidy();
  }
}

/** Returns the program's status even if the report fails. */
async function reported(body: () => Promise<number>): Promise<number> {
  try {
    return await body();
  } catch (error) {
    return reportFailure(error);
  }
}
