/** The results of an experiment with several runs, in sentences (docs/guide/measuring.md). */
import type {
  ChangeTrial,
  Experiment,
  FirstFinding,
  Interference,
  Modes,
  PairedTimes,
  Ratio,
  RecordedRuns,
  RecordingCost,
} from '../../model/index.js';
import type { RenderOptions } from '../format/options.js';
import { clean } from '../format/text.js';
import { count, figure, fine, signedPercent, signedRange, time } from '../format/units.js';
import { counted } from '../wording/phrases.js';

type Letters = Pick<RenderOptions, 'ascii'>;

/** By how much a ratio exceeds 1, with its interval: "1.2 % (95 % interval 0.4 to 2.0 %)". */
const excess = ({ ratio, low, high }: Ratio): string => interval(ratio - 1, low - 1, high - 1);
/** A ratio as "1.2 % more" or "1.2 % less", with its interval. */
const difference = (its: Ratio): string =>
  its.ratio >= 1 ? `${excess(its)} more` : `${interval(1 - its.ratio, 1 - its.high, 1 - its.low)} less`;

function interval(share: number, low: number, high: number): string {
  return `${signedPercent(share)} (95 % interval ${signedRange(low, high)})`;
}

const pairs = ({ rounds }: PairedTimes): string => counted(count(rounds), 'pair');

function processorText({ processor }: PairedTimes): string {
  return processor === null ? '' : `; processor time: ${difference(processor)}`;
}

function recordingText(cost: RecordingCost, letters: Letters): string {
  const { elapsed, estimated, verdict, beforeNs, afterNs } = cost;
  const times = `${time(beforeNs, letters)} without Quartz, ${time(afterNs, letters)} recorded`;
  if (elapsed === null)
    return `${pairs(cost)} of runs cannot show by how much recording slows the program: it took ${times}.`;
  const { least, most } = estimated;
  const model =
    most === null
      ? `${signedPercent(least)} or more`
      : signedPercent(least) === signedPercent(most)
        ? signedPercent(most)
        : signedRange(least, most);
  const against =
    verdict === 'more'
      ? `Quartz estimated only ${model}, without the program's later start and effects on caches`
      : verdict === 'less'
        ? `Quartz estimated more: ${model}`
        : `Quartz estimated ${model}, which this does not contradict`;
  const unsure = elapsed.low <= 1 && elapsed.high >= 1 ? ', so it is not certain that it does so at all' : '';
  return (
    `Recording slows the program by ${excess(elapsed)} in ${pairs(cost)} of runs${unsure}; ${against}. ` +
    `Elapsed time (medians): ${times}${processorText(cost)}.`
  );
}

function causeText({ cause, procedures, variable, sharedCores }: Interference, letters: Letters): string {
  const arrow = letters.ascii ? '->' : '→';
  const where = procedures
    .map(({ name, beforeNs, afterNs }) => `${name} (${time(beforeNs, letters)} ${arrow} ${time(afterNs, letters)})`)
    .join(', ');
  const cores = sharedCores === true ? ', or for the cores, which some of the CPUs share' : '';
  const lines = variable === '' ? 'they write the same cache lines' : `they write the same cache lines (${variable})`;
  switch (cause) {
    case 'lines':
      return ` in ${where}, where ${lines}: give each thread data of its own, on lines of its own.`;
    case 'memory':
      return (
        ` in ${where}, where no cache lines were seen that several of them write: they compete for memory bandwidth ` +
        `or for a cache${cores}. Access less memory there (smaller types, blocks that fit into the caches).`
      );
    case 'waiting':
      return ', by spinning for each other.';
    case 'kernel':
      return ', most of it in the kernel.';
    default:
      return '; where, the recorded runs do not show.';
  }
}

/** What it says about the threads if the same work takes less processor time with fewer of them, or with one CPU. */
function interferenceText({ interference, processor }: ChangeTrial, letters: Letters): string {
  if (interference === null || processor === null) return '';
  const same =
    interference.by === 'one-cpu'
      ? ' On one CPU threads never run at the same time; if they do the same work there, they'
      : ' If it does the same work with fewer threads, they';
  if (interference.cause === 'none') return `${same} hardly slow each other down.`;
  const less = interval(1 - processor.ratio, 1 - processor.high, 1 - processor.low);
  return (
    `${same} slow each other down: ${less} of the processor time is due to that` + causeText(interference, letters)
  );
}

function changeText(trial: ChangeTrial, letters: Letters): string {
  const { change, elapsed, verdict, beforeNs, afterNs, profile } = trial;
  const arrow = letters.ascii ? '->' : '→';
  const times = `${time(beforeNs, letters)} ${arrow} ${time(afterNs, letters)}`;
  const recorded = profile === null ? '' : ` A recorded run of it is in ${profile}.`;
  if (elapsed === null)
    return `${pairs(trial)} of runs cannot show what ${change} changes: elapsed time ${times}.${recorded}`;
  const unsure = verdict === 'undecided' ? ', so no difference can be shown' : '';
  return (
    `With ${change} the program takes ${difference(elapsed)} time in ${pairs(trial)} of runs${unsure}. ` +
    `Elapsed time (medians): ${times}${processorText(trial)}.${interferenceText(trial, letters)}${recorded}`
  );
}

const firstText = ({ kind, name }: FirstFinding): string => (kind === null ? 'no finding' : `${kind} ${name}`);

function agreementText({ runs, first }: RecordedRuns): string {
  const [most, ...others] = first;
  if (most === undefined || runs < 2) return '';
  if (others.length === 0)
    return most.kind === null
      ? `None of ${count(runs)} recorded runs has a finding.`
      : `All ${count(runs)} recorded runs have the same first finding: ${firstText(most)}.`;
  const rest = others.map((one) => `${firstText(one)} in ${count(one.runs)}`).join(', ');
  return `The first finding is ${firstText(most)} in ${count(most.runs)} of ${count(runs)} recorded runs, ${rest}.`;
}

function modesText(modes: Modes, letters: Letters): string {
  const { fast, slow, dip, critical, gap, apart, inOrder, othersMayCause } = modes;
  const evidence = apart
    ? `between them is a gap of ${gap >= 100 ? 'more than 100' : figure(gap)} times the spread of either group`
    : `dip ${fine(dip)}; with a single mode, it is above ${fine(critical)} in at most 5 % of cases`;
  const compare =
    fast.profile === null || slow.profile === null
      ? ''
      : ` What differs between them: quartz compare ${fast.profile} ${slow.profile}`;
  const order = inOrder
    ? ' All runs of one mode came before those of the other, so the machine may have changed rather than the program.'
    : '';
  const others = othersMayCause
    ? ' Other programs may be the cause: they kept the slow runs waiting for CPUs longer.'
    : '';
  return (
    `The recorded runs fall into two modes: ${count(fast.runs.length)} took ${time(fast.medianNs, letters)}, ` +
    `${count(slow.runs.length)} took ${time(slow.medianNs, letters)} (medians; ${evidence}).` +
    `${order}${others}${compare}`
  );
}

function spreadText({ runs, recorded: { tested } }: Experiment, letters: Letters): string {
  const times = runs
    .filter(({ version, round }) => version === 'recorded' && round > 0)
    .map(({ elapsedNs }) => elapsedNs);
  if (times.length < 2) return '';
  const bounds = `${time(Math.min(...times), letters)} to ${time(Math.max(...times), letters)}`;
  const modes = tested ? 'no two modes can be shown' : 'too few to test for two modes';
  return `Elapsed time of recorded runs: ${bounds}; ${modes}.`;
}

function endText({ ended, rounds, complete }: Experiment): string {
  if (ended === 'done') return '';
  const why = ended === 'interrupted' ? 'It was interrupted' : 'A run failed';
  return `${why}: ${count(complete)} of ${count(rounds)} rounds were complete, and only these count.`;
}

/** One or more sentences for each result. */
export function experimentTexts(experiment: Experiment, letters: Letters): string[] {
  const { recording, changes, recorded, runs } = experiment;
  return [
    endText(experiment),
    recording === null ? '' : recordingText(recording, letters),
    ...changes.map((trial) => changeText(trial, letters)),
    agreementText(recorded),
    recorded.modes === null ? spreadText(experiment, letters) : modesText(recorded.modes, letters),
    `The rest of this report describes run ${count(recorded.kept)} of ${count(runs.length)}.`,
  ]
    .filter((text) => text !== '')
    .map((text) => clean(text, letters));
}
