/**
 * The order of findings: by what a user gains who acts on them. What waits and idle processors cost follows from the
 * measurement; of code, only an upper bound is known. The rules are in docs/reference/findings.md, "Choice and order".
 * Pure functions.
 */
import { defined, item } from '../profile/columns.js';
import { muchMore } from '../evidence/context.js';
import { ifRemoved } from '../evidence/threads/critical-threads.js';
import type { CodeCompared } from '../evidence/context.js';
import type { Finding, Model } from '../result/types.js';
import { isMostlyOthers } from '../metrics/cpu-wait.js';
import { mayEnd } from './io.js';

/** Time in which nothing ran except that requests of others were awaited: a server at rest, which delays nobody. */
export const atRest = ({ facts }: Finding): number =>
  facts.form === 'io' && facts.waits === 'others' ? facts.restNs : 0;

/**
 * The share of such time that counts in comparison with what the program itself does: it is not known which side sets
 * the pace, and a client that waits for its server has little else to report.
 */
const restCounts = 0.25;
export const promised = (finding: Finding): number =>
  Math.max(
    ofBound(finding, finding.savingNs) - (1 - restCounts) * Math.min(finding.savingNs, atRest(finding)),
    ofCalls(finding),
  );

/** What several small requests at a time save of the server's own work, whoever sets the pace. */
const ofCalls = ({ facts }: Finding): number =>
  facts.form === 'io' && facts.small
    ? Math.max(0, facts.small.savedNs - (1 - 1 / facts.small.atATime) * facts.restNs)
    : 0;

/**
 * The same for a finding about the largest piece of what a thread runs alone beside a team that gains nothing: it
 * stands for all of that, with which other causes are compared, not for that piece.
 */
export const promisedInAll = (finding: Finding): number => {
  const { facts } = finding;
  const all = facts.form === 'serial' && facts.teamNs !== null ? (facts.inAll?.spreadNs ?? 0) : 0;
  return Math.max(promised(finding), Math.min(all, finding.bound?.mostNs ?? Infinity));
};

/** The saving that findings are compared by: serial code may be removed, others save what the change saves. */
export const worthOf = (finding: Finding): number => Math.min(ifRemoved(finding), finding.bound?.mostNs ?? Infinity);

/** Of an upper bound, this share counts: others come first if less than it would have to be removed to save as much. */
const mostEven = 0.5;
const ranked = (finding: Finding): number => {
  const worth = worthOf(finding);
  return Math.max(0, finding.kind === 'optimize' ? mostEven * worth : ofBound(finding, worth) - atRest(finding));
};

/**
 * Likewise for waits that may end sooner and stages that may be faster: of these, some of the saving is known. Of
 * collection that counts alone: that others wait while it collects, which is the rest, is often not the case.
 */
function ofBound(finding: Finding, ns: number): number {
  const { facts } = finding;
  if (facts.form === 'compilation') return mostEven * ns;
  if (facts.form === 'collection') return Math.min(ns, facts.savesNs);
  if (facts.form === 'slowest-stage') return Math.max(Math.min(ns, facts.savesNs), mostEven * worthOf(finding));
  return facts.form === 'io' && mayEnd(facts.waits) ? Math.max(mostEven * ns, Math.min(ns, facts.overlapNs)) : ns;
}

/**
 * Serial code with at least this share of the elapsed time comes first if it would have the largest saving with twice
 * as many processors: code that runs on all processors would then take half as long, all other code as long as now.
 */
const leastGrowing = 0.05;
/** If this share of the processors is busy, all are considered at work, as for code to optimize. */
const onAll = 0.75;
const mostWithTwice = ({ processors }: Model, findings: readonly Finding[]): number =>
  Math.max(
    0,
    ...findings
      .filter(({ kind }) => kind !== 'serial')
      .map((one) => (one.processorUse.busy >= onAll * processors ? ranked(one) / 2 : ranked(one))),
  );

/** Code comes before a finding whose saving is known only if it saves a tenth more: less differs from run to run. */
const close = 1.1;
/** Before serial code, of which an upper bound is compared, too, if it saves this much more: equals are serial. */
const closeToSerial = 1.03;

/**
 * Whether code that runs while the processors are at work comes first (`atWorkNs`: the elapsed time of all such code
 * that no other finding names). What a finding about waiting or idle processors promises is known; of code it is not
 * known how much less time it could take. So half of that time is compared, as for all upper bounds; and half of that,
 * because with twice as many processors code that runs on all of them takes half as long, but waiting and serial code
 * as long as now. That decides which of the two pays, however many procedures the code consists of. The finding must
 * also pay by itself: half of the time of the code that it names (`worthNs`, and no more than what of it is on the time
 * path) is more than any other finding saves. Of all these comparisons, that one is returned in which the code is least
 * ahead, or most behind; null: there are no other findings.
 */
export function codeBeside(
  entity: number,
  worthNs: number,
  others: readonly Finding[],
  atWorkNs: number,
): CodeCompared | null {
  const its = (mostEven * worthNs) / close,
    all = (mostEven * atWorkNs) / 2;
  const clearly = (one: Finding): number => (one.kind === 'serial' ? closeToSerial : close) * ranked(one);
  const compared = others
    .flatMap((one): CodeCompared[] => [
      { entity, ns: its, othersNs: promised(one) },
      { entity, ns: all, othersNs: clearly(one) },
    ])
    .sort((one, other) => one.ns - one.othersNs - (other.ns - other.othersNs));
  return compared[0] ?? null;
}

/**
 * Whether several threads run the code at the same time for most of its time and one thread runs it alone for the rest:
 * the rest remains when the others have ended or other programs have their CPUs, so it does not gain importance with
 * more processors.
 */
const isMostlyTogether = ({ entity, costNs }: Finding, findings: readonly Finding[]): boolean =>
  findings.some(
    (one) =>
      one.facts.form === 'optimize' && one.entity === entity && one.facts.together >= 2 && one.costNs >= 2 * costNs,
  );

/** Code to optimize comes last, unless all other findings are small in comparison. */
function promoteCode(findings: Finding[]): void {
  const last = findings.at(-1);
  if (last?.kind !== 'optimize' || findings.slice(0, -1).some((one) => worthOf(one) >= last.savingNs / muchMore))
    return;
  findings.unshift(defined(findings.pop()));
}

/** Less work in the kernel and in the program are changes of one kind, so they are ordered by savings. */
function orderWork(findings: Finding[]): void {
  for (let k = findings.length - 1; k > 0; k--) {
    const one = item(findings, k),
      before = item(findings, k - 1);
    if (one.kind !== 'optimize' || before.kind !== 'kernel' || ranked(one) <= worthOf(before)) return;
    findings.splice(k - 1, 2, one, before);
  }
}

/** Findings if nearly all processors are busy: shorter waits could then save only little. */
export function orderedIfBusy(model: Model, findings: readonly Finding[]): Finding[] {
  const least = Math.max(leastGrowing * model.elapsedNs, mostWithTwice(model, findings));
  const first = findings.filter(
    (one) => one.kind === 'serial' && one.costNs >= least && !isMostlyTogether(one, findings),
  );
  const clear = (one: Finding): number => (one.kind === 'optimize' ? ranked(one) / close : ranked(one));
  const rest = findings.filter((one) => !first.includes(one)).sort((a, b) => clear(b) - clear(a));
  return [...first, ...rest];
}

/** Findings if processors are idle: what causes that comes first. */
export function orderedIfIdle(sorted: readonly Finding[]): Finding[] {
  const findings = [...sorted];
  promoteCode(findings);
  orderWork(findings);
  return findings;
}

/**
 * While other programs have the CPUs, clients of the same machine lack them, too: that they set the pace is then no
 * finding about the program, and what its own work shows comes before it.
 */
export function clientsLast({ cpuWait, elapsedNs }: Model, findings: readonly Finding[]): Finding[] {
  if (!isMostlyOthers(cpuWait, elapsedNs)) return [...findings];
  const awaits = (one: Finding): boolean =>
    atRest(one) >= onePart * one.costNs && atRest(one) > 0 && ofCalls(one) === 0;
  return [...findings.filter((one) => !awaits(one)), ...findings.filter(awaits)];
}
/** The least share of such a wait in which nothing else of the program ran. */
const onePart = 0.5;
