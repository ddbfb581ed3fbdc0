/** Converts findings to sentences. Each kind of evidence has one function; no other code edits its sentences. */
import { fewSnapshots, isMostlyOthers, item, onPathOf } from '../../model/index.js';
import type { Finding, Kind, Model, Verification } from '../../model/index.js';
import type { RenderOptions } from '../format/options.js';
import { allocation } from './allocation.js';
import { tooFewThreads, unevenDivision } from './division.js';
import { io, nothingRuns } from './io.js';
import { kernelWork } from './kernel-work.js';
import { lock, spinning } from './lock.js';
import { goroutineLock } from './goroutines.js';
import { lockChurn } from './lock-churn.js';
import { optimize } from './optimize.js';
import { handOvers, openMp, packageWork, shortThreads, smallThreads, wakeUps } from './overhead.js';
import { oversubscription } from './oversubscription.js';
import { signedPercent, signedRange } from '../format/units.js';
import { type Phrases, phrases, type Sentences } from '../wording/phrases.js';
import { collection } from './collection.js';
import { compilation } from './compilation.js';
import { cpuLimit } from './cpu-limits.js';
import { sharing } from './sharing.js';
import { spinTurns } from './spin-turns.js';
import { yields } from './yields.js';
import { processStarts, serialization } from './process-starts.js';
import { processes } from './processes.js';
import { mutualWait, passedData, slowestStage } from './pipeline.js';
import { serial } from './serial.js';

function sentencesOf(finding: Finding, say: Phrases): Sentences {
  const { facts } = finding;
  switch (facts.form) {
    case 'serial':
      return serial(finding, facts, say);
    case 'too-few-threads':
      return tooFewThreads(finding, facts, say);
    case 'uneven-division':
      return unevenDivision(finding, facts, say);
    case 'small-threads':
      return smallThreads(finding, facts, say);
    case 'slowest-stage':
      return slowestStage(finding, facts, say);
    case 'passed-data':
      return passedData(finding, facts, say);
    case 'mutual-wait':
      return mutualWait(finding, facts, say);
    case 'nothing-runs':
      return nothingRuns(finding, facts, say);
    case 'lock':
      return lock(finding, facts, say);
    case 'spinning':
      return spinning(finding, facts, say);
    case 'io':
      return io(finding, facts, say);
    case 'processes':
      return processes(finding, facts, say);
    case 'package-work':
      return packageWork(finding, facts, say);
    case 'wake-ups':
      return wakeUps(finding, facts, say);
    case 'hand-overs':
      return handOvers(finding, facts, say);
    case 'goroutine-lock':
      return goroutineLock(finding, facts, say);
    case 'lock-churn':
      return lockChurn(finding, facts, say);
    case 'short-threads':
      return shortThreads(finding, facts, say);
    case 'openmp':
      return openMp(finding, facts, say);
    case 'confined':
    case 'throttled':
      return cpuLimit(finding, facts, say);
    case 'oversubscription':
      return oversubscription(finding, facts, say);
    case 'kernel-work':
      return kernelWork(finding, facts, say);
    case 'collection':
      return collection(finding, facts, say);
    case 'compilation':
      return compilation(finding, facts, say);
    case 'process-starts':
      return processStarts(finding, facts, say);
    case 'serialization':
      return serialization(finding, facts, say);
    case 'yields':
      return yields(finding, facts, say);
    case 'spin-turns':
      return spinTurns(finding, facts, say);
    case 'sharing':
      return sharing(finding, facts, say);
    case 'allocation':
      return allocation(finding, facts, say);
    case 'optimize':
      return optimize(finding, facts, say);
  }
}

/** Kinds of findings about something that other threads wait for, so that it can be on the critical path. */
const waitedFor: ReadonlySet<Finding['kind']> = new Set(['serial', 'imbalance', 'lock-contention']);
/** Kinds of entities that use processor time. An object at which threads only wait is never on the path. */
const runs: ReadonlySet<Kind> = new Set(['procedure', 'lock']);

/** The least share of the critical path that is reported: below this it does not support the finding. */
const leastOnPath = 0.01;
/** More than so many times the cost: it is mostly there at other times than those that the finding is about. */
const mostOnPath = 2;

function onPathText({ entity, kind, facts, costNs }: Finding, { model, share }: Phrases): string {
  const onPath = onPathOf(model);
  if (onPath === null || entity === 0 || !waitedFor.has(kind) || !runs.has(item(model.entities, entity).kind))
    return '';
  // what it calls would be on the path, too
  if (facts.form === 'serial' && facts.itself) return '';
  const part = (onPath.get(entity) ?? 0) / model.head.pathNs;
  // A small share is no evidence against the finding: the path may go through a callee or through a waiting thread.
  return part < leastOnPath || part * model.elapsedNs > mostOnPath * costNs
    ? ''
    : ` It is on ${share(part)} of the critical path.`;
}

/** How uncertain the cost is, if that matters, and whether other programs may be the cause. */
function uncertaintyText({ costCi95, othersMayCause }: Finding, { model, time }: Phrases): string {
  return (
    (model.samples < fewSnapshots
      ? ` There are few snapshots, so the cost is uncertain: ${time(costCi95.lowNs)} to ${time(costCi95.highNs)} ` +
        '(95 % interval).'
      : '') +
    (othersMayCause && !isMostlyOthers(model.cpuWait, model.elapsedNs) // then the report begins with that
      ? ` Other programs may be the cause: they kept this program waiting for CPUs for ${time(model.cpuWait.othersNs)}.`
      : '')
  );
}

/** Which thread limits the saving: the run cannot be shorter than its work. */
function boundText({ bound }: Finding, { model, title, time, share }: Phrases): string {
  return bound === null
    ? ''
    : ` But ${title(bound.thread)} does other work for ${time(bound.outsideNs)} ` +
        `(${share(bound.outsideNs / model.elapsedNs)} of the elapsed time): ` +
        `unless that becomes less, no change there saves more than ${time(bound.mostNs)}.`;
}

/** The prediction of "what if", if the recording has one for this entity. */
function freeText({ whatIf, kind }: Finding, { time }: Phrases): string {
  if (whatIf === undefined || !whatIf.tighter) return '';
  const free = kind === 'lock-contention' ? 'nobody had to wait for it' : 'it took no time at all';
  return (
    ` If ${free}, the span would be ${time(whatIf.spanNs)} and the work ${time(whatIf.workNs)}: ` +
    `no change there saves more than ${time(whatIf.mostNs)}.`
  );
}

const verdicts: Record<Verification['verdict'], string> = {
  verified: 'Verified by experiment',
  less: 'The experiment shows a gain, but less than promised',
  'not-confirmed': 'Not confirmed by experiment',
  undecided: 'The experiment is inconclusive',
};

/** What an experiment that made the advised change has shown. */
function verificationText({ change, promised, gain, verdict }: Verification, { model }: Phrases): string {
  const name = model.experiment?.changes[change]?.change ?? 'it';
  const saved =
    `with ${name} the program takes ` +
    (gain.share >= 0
      ? `${signedPercent(gain.share)} (95 % interval ${signedRange(gain.low, gain.high)}) less time`
      : `${signedPercent(-gain.share)} (95 % interval ${signedRange(-gain.high, -gain.low)}) more time`);
  const said =
    promised === null
      ? 'nothing was promised'
      : `promised: ${signedPercent(promised.share)} (${signedRange(promised.low, promised.high)})`;
  return ` ${verdicts[verdict]}: ${saved}; ${said}.`;
}

export function findingSentences(model: Model, finding: Finding, options: Pick<RenderOptions, 'ascii'>): Sentences {
  const say = phrases(model, options);
  const { text, remedy } = sentencesOf(finding, say);
  const tried = (finding.verifications ?? []).map((one) => verificationText(one, say)).join('');
  return {
    text: text + onPathText(finding, say) + uncertaintyText(finding, say),
    remedy: remedy + boundText(finding, say) + freeText(finding, say) + tried,
  };
}
export type { Sentences } from '../wording/phrases.js';
