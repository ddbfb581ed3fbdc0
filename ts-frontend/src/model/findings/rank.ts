/**
 * Selects and ranks the findings: what limits the program, in at most three of them. Lost parallelism has two sides,
 * the code that ran and the threads that waited. Each part of the loss is explained only once: first by locks and by
 * input and output, whose waiters could have run, then by the code that ran. The formulas are in
 * docs/reference/findings.md. Pure functions.
 */
import { Purpose } from '../profile/abi.js';
import { item } from '../profile/columns.js';
import { collectionFindings } from './collection.js';
import { cpuLimitFindings, cpuLimitFirst } from './cpu-limits.js';
import { reconciled } from '../evidence/advice.js';
import { backgroundOf } from '../evidence/threads/background.js';
import { prepareContexts } from '../evidence/code/loss-contexts.js';
import { caution } from '../metrics/cpu-wait.js';
import { independentSnapshots, shareInterval } from '../metrics/confidence.js';
import { unexplainedOf } from '../evidence/waits/loss-attribution.js';
import { measureLevels } from '../evidence/activity-levels.js';
import { codeFindings } from './code.js';
import { ioLoss, type IoLoss } from '../evidence/waits/io-loss.js';
import { ioFindings, mayEnd } from './io.js';
import { lockLosses, savingOf } from '../evidence/locks/lock-loss.js';
import { mostWaited } from '../evidence/locks/most-waited.js';
import { busySeen, isSeenBusy, nearlyBusy } from '../evidence/seen-busy.js';
import { lockFindings, spinningFindings } from './lock.js';
import { lineMoves, lockChurnFindings } from './lock-churn.js';
import { joinGoroutines } from './goroutines.js';
import { handOverFindings } from './hand-overs.js';
import { joinHeldWork } from './held-work.js';
import { atWorkNs, hotCodeFindings, type HotScope } from './hot-code.js';
import { reasonsOf, kernelWorkFindings } from './kernel-work.js';
import { overheadFindings, wakeUpFindings } from './overhead.js';
import { processStarts } from './process-starts.js';
import { processesFindings } from './processes.js';
import { compilationFindings } from './compilation.js';
import { serializationFindings } from './serialization.js';
import { nothingRunsFindings } from './nothing-runs.js';
import { joinExclusion, openmpFindings } from './openmp.js';
import {
  atRest,
  clientsLast,
  codeBeside,
  orderedIfBusy,
  orderedIfIdle,
  promised,
  promisedInAll,
  worthOf,
} from './order.js';
import { isOversubscription, oversubscriptionFinding, oversubscriptionFirst } from './oversubscription.js';
import type { Background, FindingContext, Unseen } from '../evidence/context.js';
import { leastObservations, leastSerial, leastShare, muchMore } from '../evidence/context.js';
import { bound, leftBy, longestThreads, type Longest } from '../evidence/threads/critical-threads.js';
import { mostOnPath } from '../evidence/code/path-bound.js';
import { prepareWaitOverlap } from '../evidence/wait-overlap.js';
import { cover, workBelow } from '../evidence/code/work-below.js';
import { gatherSmall, isFirstOfKind, joinAllocation, withoutEffects } from './same-cause.js';
import { nameSharedLocks, sharingFindings } from './sharing.js';
import { unseenSystem } from '../evidence/threads/short-lived.js';
import { shortThreadFindings } from './short-threads.js';
import { joinThreadLocks } from './thread-locks.js';
import { spinTurnFindings } from './spin-turns.js';
import { yieldFindings } from './yields.js';
import type { Tables } from '../metrics/tables.js';
import { housekeepingWaits } from '../metrics/housekeeping.js';
import { ThreadRoles } from '../metrics/thread-roles.js';
import { ownOf } from '../evidence/code-origin.js';
import { KernelWork } from '../profile/raw-profile.js';
import type { Facts, OptimizeFacts } from '../result/facts.js';
import type { Finding, Model } from '../result/types.js';

const findingsKept = 3;

/** The context that all searches share; the profile must have at least one snapshot. */
export function findingContextOf(model: Model, tables: Tables): FindingContext {
  const { raw, samples, elapsedNs } = model;
  let roles: ThreadRoles | undefined, unseen: Unseen | undefined, background: Background | undefined;
  return {
    model,
    tables,
    levels: measureLevels(raw, tables.stacks, tables.groupOf, housekeepingWaits(raw)),
    waitOverlap: prepareWaitOverlap(raw),
    own: ownOf(raw, tables.stacks),
    get roles() {
      return (roles ??= new ThreadRoles(tables.measured, tables.groupOf));
    },
    get unseen() {
      return (unseen ??= unseenSystem(model, tables, this.roles));
    },
    get background() {
      return (background ??= backgroundOf(this));
    },
    least: Math.max(leastShare, leastObservations / samples) * elapsedNs,
    covered: new Uint8Array(raw.tuples.ns.length),
    compared: null,
  };
}

/** Findings about work of one kind, wherever in the program it is. */
const sums = (context: FindingContext): Finding[] => [
  ...cpuLimitFindings(context),
  ...spinningFindings(context),
  ...processesFindings(context),
  ...overheadFindings(context),
  ...kernelWorkFindings(context),
  ...openmpFindings(context),
  ...wakeUpFindings(context),
  ...handOverFindings(context),
  ...lockChurnFindings(context),
  ...nothingRunsFindings(context),
  ...yieldFindings(context),
  ...spinTurnFindings(context),
  ...collectionFindings(context),
  ...sharingFindings(context),
];

/** All findings that are worth reporting, unordered. */
function searched(context: FindingContext, longest: Longest, oversubscription: Finding | undefined): Finding[] {
  const { model, tables } = context;
  cover(context, workBelow(context, Purpose.mpiStart)); // no change of the program makes it take less
  const losses = lockLosses(context);
  const io = ioLoss(context, losses);
  // Counts, unlike samples, need no minimum number of observations.
  const short = shortThreadFindings(context);
  // A lock whose removal would save nothing, because a longer thread runs beside it, explains no loss: the code of that
  // thread does.
  const costing = losses.filter(
    (loss) =>
      savingOf(loss) < context.least ||
      (leftBy(context, longest, [loss.entity], savingOf(loss))?.most ?? Infinity) >= context.least,
  );
  const waits = ioFindings(context, io);
  const { starts, ofIo } = processStarts(context, waits);
  const sorted = [...starts, ...serializationFindings(context), ...compilationFindings(context)];
  const ofOthers = explainedBy(context, longest, io, waits);
  const { shareOf } = context.unseen;
  const unexplained = unexplainedOf(model, tables, context.waitOverlap, costing, ofOthers, context.covered);
  const contexts = prepareContexts(
    model.raw,
    tables,
    context.own,
    unexplained.map((part, k) => part * shareOf(k)),
    (k) => context.background.busyOf(k),
  );
  const sampled = [
    ...(oversubscription ? [oversubscription] : []),
    ...lockFindings(context, losses),
    ...ofIo,
    ...codeFindings(context, contexts),
    ...sorted,
    ...sums(context),
  ].filter(
    (finding) => worthOf(finding) >= leastFor(finding, context) && !isOversubscription(finding, oversubscription),
  );
  const joined = joinThreadLocks(model, joinExclusion(model, [...sampled, ...short]));
  return withoutEffects(model, joinGoroutines(context, joined));
}

export function findingsOf(context: FindingContext): Finding[] {
  const { model } = context;
  const longest = longestThreads(context);
  const oversubscription = oversubscriptionFinding(context);
  const all = searched(context, longest, oversubscription);
  for (const finding of all) bound(context, longest, finding);
  const sorted = all.filter(isLeft).sort((a, b) => promisedInAll(b) - promisedInAll(a) || b.costNs - a.costNs);
  const limits = cpuLimitFirst(oversubscriptionFirst(sorted, promised), promised);
  const isGuess = isBusyByGuess(context, all, sorted[0]) || all.some(keepsMainWaiting);
  const isHanded = areHandedOn(context, all);
  const isBusy = isBusyAtWork(context, all) && !isHanded && !isGuess;
  let findings = chosen(gatherSmall(limits.filter(isFirstOfKind), context.least));
  const said = subjectsOf(model, findings);
  if (oversubscription && findings.length < findingsKept && !findings.includes(oversubscription))
    findings = reconciled([...findings, oversubscription]);
  const scope = { ...said, factor: isBusy ? 2 : muchMore, spread: isBusy ? 'if-none' : 'no' } as const;
  if (isBusy || findings.length < findingsKept) findings.push(...optimizeWithin(context, longest, scope));
  findings = joinAllocation(findings);
  findings = isBusy ? orderedIfBusy(model, findings) : orderedIfIdle(findings);
  if (!isHanded && !isGuess) findings = withPayingCode(context, longest, findings, said);
  findings = clientsLast(model, findings).slice(0, findingsKept);
  findings = joinHeldWork(context, findings);
  nameSharedLocks(model, findings);
  describeCode(findings, isHanded, isGuess, isSeenBusy(context) || isGuess ? null : mostWaited(context));
  for (const finding of findings) setIntervals(finding, model);
  caution(model, findings);
  return findings;
}

/** Waits beside a thread that works all the time explain no more loss than that thread leaves, as for locks. */
function explainedBy(context: FindingContext, longest: Longest, io: IoLoss, found: readonly Finding[]): IoLoss {
  const most = found.map(
    ({ entity, related, savingNs }) => leftBy(context, longest, [entity, ...related], savingNs)?.most ?? Infinity,
  );
  return { ...io, saving: Math.min(io.saving, ...most) };
}

/** The least share of what a wait could save that a thread that works all the time must leave. */
const leastLeft = 0.1;
const isLeft = ({ facts, bound: its }: Finding): boolean =>
  facts.form !== 'io' || its === null || its.mostNs >= leastLeft * facts.goesNs;

/** Findings about the cost of acquiring and releasing locks. */
const ofLocks: ReadonlySet<Facts['form']> = new Set(['hand-overs', 'lock-churn']);

type Said = Pick<HotScope, 'named' | 'ofKernel' | 'kernelWork'>;
/** What findings already cover (entities, kinds of kernel work), for the search for code to optimize. */
function subjectsOf({ entities }: Model, findings: readonly Finding[]): Said {
  const named = new Map<number, number>(),
    ofKernel = new Map<number, number>();
  const addMost = (to: Map<number, number>, id: number, one: Finding): void => {
    to.set(id, Math.max(to.get(id) ?? 0, worthOf(one)));
  };
  for (const one of findings) {
    const isKernels = one.facts.form === 'kernel-work';
    const withRelated = one.kind === 'pipeline' || one.facts.form === 'collection';
    for (const id of withRelated ? [one.entity, ...one.related] : [one.entity])
      // code to optimize is named after the exported procedure that it runs for
      for (const its of new Set([id, item(entities, id).runsFor || id]))
        addMost(isKernels ? ofKernel : named, its, one);
  }
  const kernelWork = findings.flatMap(({ facts }) =>
    facts.form === 'kernel-work'
      ? reasonsOf(facts)
      : facts.form === 'short-threads'
        ? [KernelWork.thread]
        : ofLocks.has(facts.form)
          ? [KernelWork.lock]
          : [],
  );
  return { named, ofKernel, kernelWork: new Set(kernelWork) };
}

/** Whether the processors are busy nearly all the time, not counting time at rest. */
function isBusyAtWork({ model, background }: FindingContext, findings: readonly Finding[]): boolean {
  const { balance, processors, elapsedNs } = model;
  const rest = findings.reduce((sum, one) => sum + atRest(one), 0);
  return balance.meanBusy * elapsedNs - background.ns >= nearlyBusy * processors * Math.max(0, elapsedNs - rest);
}

/**
 * Beside other programs, threads without a CPU are taken to be at work. If threads also wait for a lock, some of these
 * would have waited, too; how many is not known. If they waited as much as those that were seen do, the lock would save
 * as much more as there are more of them: below this share of the elapsed time, that decides nothing, unless the lock
 * saves most of all (`first`: the finding that promises most).
 */
const leastGuessed = 0.1;
function isBusyByGuess(context: FindingContext, findings: readonly Finding[], first?: Finding): boolean {
  if (isSeenBusy(context)) return false;
  const { model } = context;
  const seen = Math.min(1, busySeen(context) / Math.max(1, model.balance.meanBusy * model.elapsedNs));
  return findings.some(
    (one) =>
      (one.facts.form === 'lock' || one.facts.form === 'goroutine-lock') &&
      (one === first || promised(one) >= leastGuessed * seen * model.elapsedNs),
  );
}

/**
 * The findings, with code that keeps the processors busy first if that pays most: the procedure with most of it, or if
 * that does not pay, the one that has half of it with all that it calls. Where processors are idle as well, neither may
 * be among the findings yet.
 */
function withPayingCode(
  context: FindingContext,
  longest: Longest,
  findings: readonly Finding[],
  said: Said,
): Finding[] {
  const scope: HotScope = { ...said, factor: 2, spread: 'if-none' };
  const others = findings.filter(({ kind }) => kind !== 'optimize');
  const atWork = atWorkNs(context, scope);
  const pays = (code: Finding): boolean => {
    const worthNs = Math.min(worthOf(code), mostOnPath(context, code.entity));
    const its = codeBeside(code.entity, worthNs, others, atWork);
    const isAhead = its === null || its.ns > its.othersNs;
    if (isAhead || context.compared === null) context.compared = its;
    return isAhead;
  };
  const known = findings.filter(({ kind }) => kind === 'optimize');
  const found = known.length > 0 ? known : optimizeWithin(context, longest, scope);
  const code = found.find(pays) ?? optimizeWithin(context, longest, { ...scope, spread: 'only' }).find(pays);
  return code ? [code, ...others] : [...findings];
}

/** What keeps the processors busy meanwhile may not be needed. */
const keepsMainWaiting = ({ facts }: Finding): boolean => facts.form === 'lock' && facts.keptWaiting !== null;

/** The first findings whose advice does not contradict that of an earlier one. */
function chosen(limits: readonly Finding[]): Finding[] {
  let findings: Finding[] = [];
  for (const limit of limits) if (findings.length < findingsKept) findings = reconciled([...findings, limit]);
  return findings;
}

/**
 * If waiting and waking in the kernel take at least this share of the processor time, threads hand something to each
 * other.
 */
const leastHandedOn = 0.05;

/**
 * Whether threads hand locks to each other all the time, or spin for them: then code may seem slow because its data
 * comes from another CPU together with the lock. Or threads run one at a time, but hand over between two snapshots, so
 * that both are seen running at the same time.
 */
function areHandedOn({ model, tables }: FindingContext, findings: readonly Finding[]): boolean {
  const { tuples } = model.raw;
  let handing = 0;
  for (let k = 0; k < tuples.ns.length; k++)
    if (tuples.kernel[k] === KernelWork.futex || tuples.kernel[k] === KernelWork.yield)
      handing += item(tables.weights, k);
  return (
    handing >= leastHandedOn * model.root.processorTimeNs ||
    findings.some(
      ({ kind, facts }) =>
        kind === 'spinning' ||
        facts.form === 'hand-overs' ||
        (facts.form === 'lock-churn' && lineMoves(facts)) ||
        (facts.form === 'oversubscription' && facts.harmful) ||
        (facts.form === 'lock' && facts.exclusion !== null),
    )
  );
}

/** Candidates for code to optimize that are tried; those that only run beside a longer thread are skipped. */
const tried = 3;
function optimizeWithin(context: FindingContext, longest: Longest, { named, ...scope }: HotScope): Finding[] {
  const passed = new Map(named);
  for (let k = 0; k < tried; k++) {
    const [next] = hotCodeFindings(context, { ...scope, named: passed });
    if (!next) break;
    bound(context, longest, next);
    if (next.savingNs >= context.least) return [next];
    passed.set(next.entity, Infinity);
  }
  return [];
}

function leastFor({ kind }: Finding, { least, model }: FindingContext): number {
  return kind === 'serial'
    ? Math.max(leastSerial * leastShare, leastObservations / model.samples) * model.elapsedNs
    : least;
}

/** Adds to findings on code to optimize the best saving of the others, and whether locks are handed on. */
function describeCode(
  findings: readonly Finding[],
  handedOn: boolean,
  guessed: boolean,
  waited: OptimizeFacts['waited'],
): void {
  for (const { facts, costNs, kind } of findings) {
    if (facts.form !== 'optimize' || kind !== 'optimize') continue;
    facts.handedOn = handedOn;
    facts.guessed = guessed || waited !== null;
    facts.waited = waited;
    const others = findings.map((one, finding) => ({
      finding,
      ns: one.kind === kind ? 0 : worthOf(one) - atRest(one),
    }));
    const best = others.reduce((most, one) => (one.ns > most.ns ? one : most), { finding: -1, ns: 0 });
    if (best.ns > 0 && best.ns < costNs) facts.even = { part: best.ns / costNs, finding: best.finding };
  }
}

/** Findings for which only an upper bound of the saving is known. */
const isBound: ReadonlySet<Facts['form']> = new Set([
  'optimize',
  'allocation',
  'sharing',
  'serialization',
  'compilation',
  'serial',
  'too-few-threads',
]);

/** The saving is a part of the cost, so its interval is that of the cost, scaled. */
function setIntervals(finding: Finding, { elapsedNs, raw }: Model): void {
  const { costNs, savingNs, facts } = finding;
  const { low, high } = shareInterval(costNs / elapsedNs, independentSnapshots(raw.head));
  const part = (ns: number): number => (costNs > 0 ? ns / costNs : 0);
  const [least, most] =
    facts.form === 'hand-overs' || facts.form === 'lock-churn' || facts.form === 'wake-ups'
      ? [facts.leastNs, facts.mostNs]
      : facts.form === 'openmp' || facts.form === 'collection' || facts.form === 'short-threads'
        ? [facts.savesNs, facts.mostNs]
        : facts.form === 'kernel-work'
          ? [facts.leastNs, facts.savesNs]
          : facts.form === 'process-starts'
            ? [facts.leastNs, facts.oneNs ?? facts.savesNs]
            : facts.form === 'io' && mayEnd(facts.waits)
              ? [Math.min(facts.overlapNs, savingNs), savingNs]
              : [isBound.has(facts.form) ? 0 : savingNs, savingNs];
  finding.costCi95 = { lowNs: low * elapsedNs, highNs: high * elapsedNs };
  finding.savingCi95 = { lowNs: low * elapsedNs * part(least), highNs: high * elapsedNs * part(most) };
}
