/**
 * Computes the results of an experiment from the times of its runs and the models of those that were recorded. Methods:
 * docs/guide/measuring.md. Pure.
 */
import { item } from '../profile/columns.js';
import { isBuilt, rememberTables, tablesOf } from '../metrics/tables.js';
import { interferenceOf } from './interference.js';
import { adviserOf, onOneCpu, remedyOf, type ProgramStart, type Remedy } from './remedies.js';
import { leastForModes, modesOf, type RunForModes } from './modes.js';
import { pairedTimes } from './paired.js';
import type {
  ChangeTrial,
  Experiment,
  ExperimentRun,
  FirstFinding,
  Interference,
  RecordedRuns,
  RecordingCost,
  Verification,
} from '../result/experiment.js';
import type { FindingKind } from '../result/finding-kinds.js';
import type { Finding, Model } from '../result/types.js';

/** The data of a recorded run's model that are kept. */
export interface RecordedRun extends RunForModes {
  first: { kind: FindingKind; name: string } | null; // its first finding
}
export const recordedRun = (number: number, elapsedNs: number, model: Model): RecordedRun => {
  const [first] = model.findings;
  return {
    number,
    elapsedNs,
    othersNs: model.cpuWait.othersNs,
    first: first === undefined ? null : { kind: first.kind, name: first.name },
  };
};

export interface TriedChange {
  text: string;
  start: ProgramStart;
  profile: string | null;
  model: Model | null; // model of the recorded run with the change
}
export interface ExperimentInput {
  rounds: number;
  complete: number;
  ended: Experiment['ended'];
  runs: readonly ExperimentRun[];
  recorded: readonly RecordedRun[]; // at least one
  kept: number;
  original: ProgramStart;
  changes: readonly TriedChange[];
  sharedCores: boolean | null; // whether CPUs that the program may use share a core; null: not known
}

/** Runs of a version in complete rounds, one per round, in order of the rounds. */
const runsOf = ({ runs, complete }: ExperimentInput, version: string, change: number | null = null): ExperimentRun[] =>
  runs
    .filter((run) => run.version === version && run.change === change && run.round > 0 && run.round <= complete)
    .sort((a, b) => a.round - b.round);

function recordingCost(input: ExperimentInput, { slowdown }: Model): RecordingCost | null {
  const before = runsOf(input, 'unrecorded'),
    after = runsOf(input, 'recorded');
  if (before.length === 0 || before.length !== after.length) return null;
  const times = pairedTimes(before, after);
  // if the upper bound of the slowdown is the whole run, it has no upper bound as a share of the rest
  const estimated = { least: slowdown.shareLeast, most: slowdown.share < slowdown.shareLeast ? null : slowdown.share };
  const verdict =
    times.elapsed === null
      ? null
      : estimated.most !== null && times.elapsed.low - 1 > estimated.most
        ? 'more'
        : times.elapsed.high - 1 < estimated.least
          ? 'less'
          : 'as-estimated';
  return { ...times, estimated, verdict };
}

const triedRemedy = ({ original }: ExperimentInput, { start, model }: TriedChange, before: Model): Remedy | null =>
  model === null ? null : remedyOf(original, start, before, model);

/** By what fewer threads ran at the same time; null: the change was another one. */
function apartBy(input: ExperimentInput, tried: TriedChange, before: Model): Interference['by'] | null {
  if (triedRemedy(input, tried, before) === 'fewer-threads') return 'fewer-threads';
  return tried.model !== null && onOneCpu(input.original, tried.start, before, tried.model) ? 'one-cpu' : null;
}

function trialOf(input: ExperimentInput, tried: TriedChange, index: number, model: Model): ChangeTrial | null {
  const before = runsOf(input, 'unrecorded'),
    after = runsOf(input, 'changed', index);
  if (before.length === 0 || before.length !== after.length) return null;
  const times = pairedTimes(before, after);
  const verdict =
    times.elapsed === null || (times.elapsed.low <= 1 && times.elapsed.high >= 1)
      ? 'undecided'
      : times.elapsed.high < 1
        ? 'faster'
        : 'slower';
  const by = apartBy(input, tried, model);
  const interference =
    tried.model === null || by === null
      ? null
      : interferenceOf(by, times.processor, model, tried.model, input.sharedCores);
  return { ...times, change: tried.text, profile: tried.profile, verdict, interference };
}

function firstFindings(recorded: readonly RecordedRun[]): FirstFinding[] {
  const found = new Map<string, FirstFinding>();
  for (const { first } of recorded) {
    const key = JSON.stringify(first);
    const one = found.get(key);
    if (one === undefined) found.set(key, { kind: first?.kind ?? null, name: first?.name ?? '', runs: 1 });
    else one.runs++;
  }
  return [...found.values()].sort((a, b) => b.runs - a.runs);
}

function recordedRuns({ recorded, kept }: ExperimentInput): RecordedRuns {
  const tested = recorded.length >= leastForModes;
  return { runs: recorded.length, kept, first: firstFindings(recorded), tested, modes: modesOf(recorded) };
}

/** `model`: that of the recorded run whose profile is kept. */
export function experimentOf(input: ExperimentInput, model: Model): Experiment {
  return {
    rounds: input.rounds,
    complete: input.complete,
    ended: input.ended,
    runs: [...input.runs],
    recording: recordingCost(input, model),
    changes: input.changes.flatMap((change, k) => trialOf(input, change, k, model) ?? []),
    recorded: recordedRuns(input),
  };
}

/** Lower and upper bound of the saving that a finding promises, as shares of the elapsed time; null if none. */
function promiseOf(
  { savingNs, savingCi95, facts }: Finding,
  remedy: Remedy,
  elapsedNs: number,
): Verification['promised'] {
  if (savingNs <= 0 || elapsedNs <= 0) return null;
  const oversubscribed = facts.form === 'oversubscription';
  const part = oversubscribed && remedy === 'block-instead-of-spin' ? (facts.blocking ?? savingNs) / savingNs : 1;
  const most = oversubscribed ? (facts.fewer.mostNs ?? 0) : 0;
  return {
    share: (part * savingNs) / elapsedNs,
    low: (part * savingCi95.lowNs) / elapsedNs,
    high: Math.max(part * savingCi95.highNs, most) / elapsedNs,
  };
}

function verify(promised: Verification['promised'], change: number, { elapsed }: ChangeTrial): Verification | null {
  if (elapsed === null) return null;
  const gain = { share: 1 - elapsed.ratio, low: 1 - elapsed.high, high: 1 - elapsed.low };
  const lessThanPromised = promised !== null && gain.high < promised.low;
  const verdict =
    gain.low > 0
      ? lessThanPromised
        ? 'less'
        : 'verified'
      : gain.high < 0 || lessThanPromised
        ? 'not-confirmed'
        : 'undecided';
  return { change, promised, gain, verdict };
}

/** The model with the experiment's results; findings whose advised change was tried are marked. */
export function withExperiment(model: Model, experiment: Experiment, input: ExperimentInput): Model {
  const verified = new Map<Finding, Verification[]>();
  if (experiment.changes.length === input.changes.length)
    input.changes.forEach((change, index) => {
      const remedy = triedRemedy(input, change, model);
      const finding = remedy === null ? null : adviserOf(model.findings, remedy);
      if (remedy === null || finding === null) return;
      const promised = promiseOf(finding, remedy, model.elapsedNs);
      const verification = verify(promised, index, item(experiment.changes, index));
      if (verification !== null) verified.set(finding, [...(verified.get(finding) ?? []), verification]);
    });
  const marked: Model = {
    ...model,
    experiment,
    findings: model.findings.map((finding) => {
      const verifications = verified.get(finding);
      return verifications === undefined ? finding : { ...finding, verifications };
    }),
  };
  // needed for findings, focus and views of the marked model
  if (isBuilt(model)) rememberTables(marked, tablesOf(model));
  return marked;
}
