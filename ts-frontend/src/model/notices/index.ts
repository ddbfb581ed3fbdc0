/**
 * What a reader must know besides the findings, in the order of reports (docs/reference/findings.md, "Notices"). Pure.
 */
import type { FindingContext } from '../evidence/context.js';
import { fewSnapshots } from '../metrics/confidence.js';
import { sleepingIn, waitingAt, waitingAtRest } from '../evidence/waits/waiting-at-rest.js';
import type { Notice } from '../result/notices.js';
import type { Finding, Model } from '../result/types.js';
import { childProcesses } from './child-processes.js';
import { waitingForCpus } from './cpu-wait.js';
import { relatedProcesses } from './related-processes.js';
import { closeFindings } from './close-findings.js';
import { churnedLocks } from './lock-churn.js';
import { callPaths } from './call-paths.js';
import { manyThreads } from './many-threads.js';
import { paces } from './paces.js';
import { losses } from './losses.js';
import { unseen } from './unseen.js';
import { waitingLoops } from './waiting-loops.js';
import { conditionsWaitedAtAgain } from './waits-again.js';

/** Notices about the run: what the findings do not explain. */
export function noticesOf(context: FindingContext, findings: readonly Finding[]): Notice[] {
  const { model } = context;
  const many = manyThreads(context);
  const paced = paces(context);
  const wakeUps = findings.filter(({ kind }) => kind === 'overhead');
  return [
    ...few(model),
    ...closeFindings(context, findings),
    ...waitingForCpus(model, findings, many.length > 0),
    ...many,
    ...paced,
    ...childProcesses(model),
    ...relatedProcesses(model),
    ...waitingLoops(model, findings),
    ...churnedLocks(model, findings),
    ...conditionsWaitedAtAgain(model, new Set(wakeUps.flatMap(({ entity, related }) => [entity, ...related]))),
    ...noProcedure(model),
    // a pace that sets how long the run takes explains what these would say
    ...(paced.some(({ setsTime }) => setsTime)
      ? []
      : [...nothingRan(context, findings), ...nothingStandsOut(context, findings), ...unexplained(model, findings)]),
  ];
}

/** Notices that concern every table: what the run was like, and how it was recorded. They need no findings. */
export function tableNotices(model: Model): Notice[] {
  if (model.samples === 0 || model.elapsedNs === 0) return [{ form: 'no-snapshot' }, ...recordingNotices(model)];
  return [
    ...few(model),
    ...waitingForCpus(model, [], false),
    ...childProcesses(model),
    ...relatedProcesses(model),
    ...noProcedure(model),
    ...recordingNotices(model),
  ];
}

/** Notices about the quality of the recording. */
export const recordingNotices = (model: Model): Notice[] => [...losses(model), ...unseen(model), ...callPaths(model)];

const few = ({ samples }: Model): Notice[] =>
  samples < fewSnapshots ? [{ form: 'few-snapshots', snapshots: samples, margin: 1 / Math.sqrt(samples) }] : [];

function noProcedure({ raw, head }: Model): Notice[] {
  if (raw.entities.some((entity, id) => id > 0 && entity.kind === 'procedure')) return [];
  return [{ form: 'no-procedure', hooks: head.publisher !== 'pthread' }];
}

/** The least share of the elapsed time that is reported. */
const leastRest = 0.2;

function nothingRan(context: FindingContext, findings: readonly Finding[]): Notice[] {
  const { model, levels } = context;
  // and no thread spun: it is not known exactly when a spinning thread continues
  const ns = levels.elapsed.get(0) ?? 0;
  if (ns < leastRest * model.elapsedNs) return [];
  if (findings.some(({ kind, processorUse }) => kind === 'io' || processorUse.busy === 0)) return [];
  let asleepNs = 0;
  for (const { rawKind, members, states } of model.entities)
    if (rawKind === 'sleep' && members.length === 0) asleepNs += states.blocked.ns;
  const waiting = waitingAt(waitingAtRest(context));
  return [{ form: 'nothing-ran', ns, asleep: asleepNs >= ns / 2, waiting, calls: sleepingIn(context) }];
}

function nothingStandsOut({ model, least }: FindingContext, findings: readonly Finding[]): Notice[] {
  if (findings.length > 0 || least >= model.elapsedNs) return [];
  const workShare = model.effortNs > 0 ? model.root.processorTimeNs / model.effortNs : 0;
  return [{ form: 'nothing-stands-out', leastNs: least, workShare }];
}

/** The least share of the elapsed time that is reported. */
const leastUnexplained = 0.05;
/** Findings about the amount of work, not about idle processors. */
const ofWork: ReadonlySet<Finding['kind']> = new Set(['optimize', 'kernel']);

/**
 * Findings about code that runs while processors are idle: their saving is the cost of that; of others it is costNs.
 */
const ofCode: ReadonlySet<Finding['kind']> = new Set(['serial', 'imbalance', 'starvation']);
const aboutOf = ({ kind, bound, costNs, savingNs }: Finding): number =>
  ofWork.has(kind) ? 0 : ofCode.has(kind) && !bound ? savingNs : costNs;

/**
 * What findings together are about. One of them may say how much its thread runs alone in all, which includes the other
 * findings about serial code.
 */
function aboutAll(findings: readonly Finding[]): number {
  const sumOf = (some: readonly Finding[]): number => some.reduce((sum, one) => sum + aboutOf(one), 0);
  const inAll = findings.reduce(
    (most, { facts }) => Math.max(most, facts.form === 'serial' ? (facts.inAll?.spreadNs ?? 0) : 0),
    0,
  );
  return Math.max(sumOf(findings), inAll + sumOf(findings.filter(({ facts }) => facts.form !== 'serial')));
}

/**
 * The cost of idle processors minus that which findings explain. (Costs of findings may overlap, so this is a lower
 * bound.)
 */
function unexplained(
  { root, balance, elapsedNs, samples, cpuWait, head }: Model,
  findings: readonly Finding[],
): Notice[] {
  const about = aboutAll(findings);
  // In models of plain pthread programs, the effect of other programs is already excluded.
  const others = head.publisher === 'pthread' ? 0 : cpuWait.othersNs;
  const ns = root.parallelizeNs + balance.nothingRanNs - about - others;
  return samples >= fewSnapshots && ns >= leastUnexplained * elapsedNs ? [{ form: 'unexplained', ns }] : [];
}
