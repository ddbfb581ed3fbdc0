/**
 * One cause is reported once: findings that only show the effects of what another one names are dropped, and those
 * about small parts of one thing are merged. Pure functions.
 */
import { item } from '../profile/columns.js';
import type { Facts } from '../result/facts.js';
import type { Finding, Model } from '../result/types.js';

/** The findings without those that only show effects of what another one names. */
export const withoutEffects = ({ entities }: Model, findings: Finding[]): Finding[] =>
  findings
    .filter(isNotHanded(entities))
    .filter(isNotWoken)
    .filter(isNotYielded)
    .filter(isNotDelayedBySpinning)
    .filter(isNotOfLock)
    .filter(isNotFlush);

/**
 * If a lock is handed on all the time, only the finding about it that saves most is kept. Waking and handing on are two
 * sides of that, which save about the same, now one more and now the other: of a mutex, handing on is what is kept
 * unless the other saves this much more; of what passes data, waking.
 */
const aboutAsMuch = 1.25;
const isNotHanded =
  (entities: Model['entities']) =>
  (finding: Finding, _: number, all: readonly Finding[]): boolean => {
    if (finding.facts.form === 'lock-churn') return !all.some((one) => one.facts.form === 'hand-overs');
    const others = all.filter((one) => areOfOneLock(one, finding));
    return finding.facts.form === 'hand-overs'
      ? others.every((one) => keepsHanding(entities, finding, one))
      : !others.some((one) => one.facts.form === 'hand-overs' && keepsHanding(entities, one, finding));
  };

function keepsHanding(entities: Model['entities'], { entity, savingNs }: Finding, other: Finding): boolean {
  if (other.facts.form !== 'wake-ups') return savingNs >= other.savingNs;
  return item(entities, entity).rawKind === 'mutex'
    ? savingNs * aboutAsMuch >= other.savingNs
    : savingNs >= other.savingNs * aboutAsMuch;
}

/** If less is left than this share of what a wait saves, the wait is part of what saves that. */
const nearlyAll = 0.8;

/** While threads wake each other by reading and writing, a thread that waits for events or replies waits for these. */
function isNotWoken({ facts, savingNs }: Finding, _: number, all: readonly Finding[]): boolean {
  if (facts.form !== 'io' || (facts.waits !== 'events' && facts.waits !== 'replies')) return true;
  return !all.some(
    ({ facts: its }) => its.form === 'kernel-work' && its.wakes !== null && its.leastNs >= nearlyAll * savingNs,
  );
}

/**
 * If threads wait by yielding, or take turns by busy-waiting, work may seem unevenly divided, or serial while others
 * spin, because each thread has a piece while the other one looks for its next; such findings are dropped. Where they
 * take turns, there is no stage of a pipeline that works all the time, either.
 */
function isNotYielded({ facts, processorUse }: Finding, _: number, all: readonly Finding[]): boolean {
  const isPiece =
    facts.form === 'uneven-division' ||
    facts.form === 'mutual-wait' ||
    (facts.form === 'serial' && processorUse.spinning > processorUse.idle);
  if (isPiece && all.some((one) => one.facts.form === 'yields')) return false;
  return !((isPiece || facts.form === 'slowest-stage') && all.some((one) => one.facts.form === 'spin-turns'));
}

/**
 * If threads have no CPU because others spin for the object that they work on, it looks as if they ran their code one
 * at a time; the cause is that there are more threads than CPUs.
 */
function isNotDelayedBySpinning({ facts }: Finding, _: number, all: readonly Finding[]): boolean {
  if (facts.form !== 'serial' || facts.oneAtATime === null || facts.waiting === null) return true;
  const object = facts.waiting.entity;
  return !all.some((one) => one.facts.form === 'oversubscription' && one.facts.spinners?.object === object);
}

/**
 * If threads hand a lock on, each of them is alone at work for moments, mostly in the lock's own code: their work seems
 * serial or unevenly divided because of the lock.
 */
function isNotOfLock({ facts, entity, savingNs }: Finding, _: number, all: readonly Finding[]): boolean {
  if (facts.form !== 'uneven-division' && facts.form !== 'serial') return true;
  const about = [entity, ...facts.parts, ...(facts.form === 'uneven-division' ? [facts.code] : [])];
  return !all.some(
    (one) =>
      (one.facts.form === 'hand-overs' || one.facts.form === 'lock') &&
      about.includes(one.entity) &&
      one.savingNs >= savingNs,
  );
}

/** Serial code that only writes changes to the disk: that cannot be done in parallel, but less often. */
function isNotFlush({ facts }: Finding, _: number, all: readonly Finding[]): boolean {
  if (facts.form !== 'serial' || facts.parts.length !== 1) return true;
  const [part] = facts.parts;
  return !all.some(({ facts: its }) => its.form === 'kernel-work' && its.work === 'flush' && its.called === part);
}

function areOfOneLock(one: Finding, other: Finding): boolean {
  const forms = new Set([one.facts.form, other.facts.form]);
  const isPair = forms.has('hand-overs') && (forms.has('lock') || forms.has('wake-ups'));
  return isPair && (one.entity === other.entity || forms.has('wake-ups'));
}

/** Findings of kind `overhead` that are not about the grain of the work. */
const ofOneSort: ReadonlySet<Facts['form']> = new Set([
  'collection',
  'compilation',
  'process-starts',
  'serialization',
  'short-threads',
]);

/** Too fine a grain causes overhead, and ready threads beside idle processors: only the first such finding is kept. */
export function isFirstOfKind(finding: Finding, at: number, all: readonly Finding[]): boolean {
  const isGrain = ({ kind, facts }: Finding): boolean => kind === 'overhead' && !ofOneSort.has(facts.form);
  return !isGrain(finding) || all.findIndex(isGrain) === at;
}

/** Merges findings about serial code whose cost is below `least` into the one about the most expensive serial code. */
export function gatherSmall(limits: readonly Finding[], least: number): Finding[] {
  const serial = limits.filter((one) => one.kind === 'serial').sort((a, b) => b.costNs - a.costNs);
  const small = serial.filter((one, k) => k > 0 && one.costNs < least);
  const facts = serial[0]?.facts;
  if (small.length > 0 && facts?.form === 'serial') {
    facts.smaller = small.slice(0, 3).map(({ entity, costNs }) => ({ entity, costNs }));
    item(serial, 0).related.push(...facts.smaller.map(({ entity }) => entity));
  }
  return limits.filter((one) => !small.includes(one));
}

/**
 * Memory that the allocator gives back to the kernel and requests again is part of what allocating costs. The finding
 * about the kernel's part is kept if that is more than twice as much as the rest: its remedy is simpler.
 */
export function joinAllocation(findings: Finding[]): Finding[] {
  const allocation = findings.find(({ facts }) => facts.form === 'allocation');
  const kernel = findings.find(({ facts }) => facts.form === 'kernel-work' && facts.allocator);
  if (allocation?.facts.form !== 'allocation' || kernel?.facts.form !== 'kernel-work') return findings;
  if (kernel.costNs > kernelsOwn * allocation.costNs) return findings.filter((one) => one !== allocation);
  allocation.costNs += kernel.costNs;
  allocation.savingNs += kernel.savingNs;
  allocation.facts.mostNs += kernel.savingNs;
  allocation.facts.kernel = { ns: kernel.costNs, again: kernel.facts.again ?? 0 };
  return findings.filter((one) => one !== kernel);
}
const kernelsOwn = 2;
