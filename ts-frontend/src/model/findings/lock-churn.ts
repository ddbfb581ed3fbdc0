/**
 * Findings about locks that are acquired so often that acquiring and releasing them is much of the work, although
 * threads hardly wait: the cost of the instructions, and of the lock's cache line, which moves between CPUs even for
 * read locks (docs/reference/findings.md, "Locks taken too often"). Pure functions.
 */
import { Purpose } from '../profile/abi.js';
import { f64, item, u16, u32, u8 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import { KernelWork } from '../profile/raw-profile.js';
import { isBusy } from '../metrics/sums.js';
import { shownPerRun } from '../metrics/cpu-wait.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, largerPieces, processorUseOf, shownId } from '../evidence/context.js';
import { passing, withoutClosures } from '../evidence/threads/goroutines.js';
import { isLock } from '../evidence/wait-kinds.js';
import { isFor } from '../evidence/purposes.js';
import type { LockChurnFacts } from '../result/facts.js';
import type { Finding, Model } from '../result/types.js';

/** The least share of the processor time in lock operations that is reported. */
const leastPart = 0.1;
/** With more processor time between two acquisitions, something else accounts for the cost. */
const mostBetweenNs = 2000;
/** The maximum share of acquisitions with a wait; above it, waiting is the problem. */
const mostWaits = 0.02;
/** The assumed reduction: a tenth of the acquisitions take a tenth of the time. */
const rarer = 10;
/** Locks with at least this share of the first one's acquisitions are named with it, at most three. */
const notable = 0.1;
const mostNamed = 3;
/** A value costs both who sends and who receives it; with less than this at all other ends, hardly any is passed on. */
const leastAtOtherEnds = 0.05;

interface Taken {
  locks: Map<number, number>; // number of acquisitions by lock
  acquisitions: number;
  waits: number;
}

function takenOf(model: Model): Taken {
  const taken: Taken = { locks: new Map(), acquisitions: 0, waits: 0 };
  for (const entity of model.entities) {
    const { object, members } = entity;
    if (!object?.counted || members.length > 0 || !isLock(entity)) continue;
    taken.acquisitions += object.acquisitions;
    taken.waits += object.contended;
    addTo(taken.locks, shownId(model, entity.id), object.acquisitions);
  }
  return taken;
}

interface Spent {
  ns: number; // processor time in code of locks, as recorded, with the cost of recording
  npt: number;
  busy: number;
  spinning: number;
  owners: Map<number, number>; // the callers of that code
  passingNs: number; // part of `ns` in Go's channels, and in switching, waking and parking of goroutines
}

/** `ofLibraries`: locks internal to run-time libraries, which are not counted, and Go's channels. */
function spentOf(context: FindingContext, ofLibraries: boolean): Spent {
  const { model, tables, own } = context;
  const { tuples } = model.raw;
  const spent: Spent = { ns: 0, npt: 0, busy: 0, spinning: 0, owners: new Map(), passingNs: 0 };
  const isPassing = ofLibraries ? passing(context) : new Uint8Array(tables.stacks.count);
  for (let k = 0; k < tuples.ns.length; k++) {
    const b = u16(tuples.busy, k),
      s = u16(tuples.spinning, k),
      node = u32(tuples.stack, k),
      ns = f64(tuples.ns, k);
    if (!isBusy(u8(tuples.state, k)) || b === 0) continue;
    const isPassed = u8(isPassing, node) === 1,
      isLocked = u8(tuples.kernel, k) === KernelWork.lock;
    if (!isPassed && !isLocked) continue;
    if (ofLibraries && !isPassed && !isFor(item(model.entities, u32(tables.stacks.entity, node)), Purpose.libraryLock))
      continue;
    if (isPassed) spent.passingNs += ns;
    spent.ns += ns;
    spent.npt += ns / b;
    spent.busy += ns;
    spent.spinning += (ns / b) * s;
    addTo(spent.owners, shownId(model, u32(own.procedure, node)), ns);
  }
  return spent;
}

/** The procedure that acquires it most often. */
function takerOf(model: Model, lock: number): number | null {
  const { callers, members } = item(model.entities, lock);
  const all = [...callers, ...members.flatMap((one) => item(model.entities, one).callers)];
  const most = all.reduce((best, one) => (one.count > best.count ? one : best), { entity: 0, count: 0 });
  return most.entity !== 0 && item(model.entities, most.entity).kind === 'procedure'
    ? shownId(model, most.entity)
    : null;
}

/** The total cost, and the saving if it happens `rarer` times less often. */
type Found = Pick<Finding, 'entity' | 'related'> & {
  facts: Pick<LockChurnFacts, 'objects' | 'by' | 'counts' | 'passing' | 'oneSided'>;
};

function found(context: FindingContext, spent: Spent, leastNs: number, mostNs: number, what: Found): Finding[] {
  const { model, least } = context;
  const { ns, npt, busy, spinning } = spent;
  const processorNs = model.root.processorTimeNs,
    ownNs = (leastNs + mostNs) / 2;
  const saves = (ofNs: number): number => npt * (ofNs / ns) * (1 - 1 / rarer);
  if (npt === 0 || ownNs < leastPart * processorNs || saves(ownNs) < least) return [];
  return [
    findingOf(model, {
      entity: what.entity,
      kind: 'overhead',
      change: 'coarsen',
      advice: largerPieces,
      costNs: npt * (mostNs / ns),
      savingNs: saves(ownNs),
      processorUse: processorUseOf(model.processors, busy / npt, spinning / npt),
      facts: {
        form: 'lock-churn',
        ...what.facts,
        share: Math.min(1, ownNs / processorNs),
        leastNs: saves(leastNs),
        mostNs: saves(mostNs),
        rarer,
      },
      related: what.related,
    }),
  ];
}

function countedLocks(context: FindingContext): Finding[] {
  const { model } = context;
  const { head } = model.raw;
  const { locks, acquisitions: times, waits } = takenOf(model);
  if (times === 0 || waits > mostWaits * times) return [];
  const acquisitions = times * shownPerRun(model);
  if (model.root.processorTimeNs / acquisitions > mostBetweenNs) return [];
  const spent = spentOf(context, false);
  // Subtracts what recording adds to each acquisition.
  const without = (addedPs: number): number => Math.max(0, spent.ns - (acquisitions * addedPs) / 1000);
  const leastNs = without(head.lockMostPs),
    mostNs = without(head.lockLeastPs);
  const sorted = [...locks].sort((a, b) => b[1] - a[1]);
  const named = sorted.filter(([, its]) => its >= notable * (sorted[0]?.[1] ?? 0)).slice(0, mostNamed);
  const [first] = named;
  if (!first) return [];
  const by = takerOf(model, first[0]);
  const objects = named.map(([id]) => id);
  const eachNs = (leastNs + mostNs) / 2 / acquisitions;
  return found(context, spent, leastNs, mostNs, {
    entity: first[0],
    facts: {
      objects,
      by,
      passing: false,
      oneSided: false,
      counts: { times, waits, eachNs, freeNs: head.freeLockPs / 1000 },
    },
    related: [...objects.slice(1), ...(by === null ? [] : [by])],
  });
}

function uncountedLocks(context: FindingContext): Finding[] {
  const { model } = context;
  const spent = spentOf(context, true);
  const owners = [...withoutClosures(model, spent.owners)].sort((a, b) => b[1] - a[1]);
  const isProgram = ([id, ns]: readonly [number, number]): boolean => {
    const its = item(model.entities, id);
    const isOfProgram = its.kind === 'procedure' && its.origin !== 'runtime' && !isFor(its, Purpose.threadStart);
    return ns >= notable * spent.ns && isOfProgram;
  };
  const first = owners.find(isProgram) ?? owners[0];
  if (!first) return [];
  const by = isProgram(first) ? first[0] : null;
  const passing = spent.passingNs > spent.ns / 2;
  const mostOfOne = Math.max(...[...spent.owners].filter(isProgram).map(([, ns]) => ns)); // closures apart
  const oneSided = passing && by !== null && mostOfOne > (1 - leastAtOtherEnds) * spent.ns;
  const facts = { objects: [], by, counts: null, passing, oneSided };
  return found(context, spent, spent.ns, spent.ns, { entity: first[0], facts, related: [] });
}

export function lockChurnFindings(context: FindingContext): Finding[] {
  if (context.model.head.publisher !== 'pthread') return [];
  const [best] = [...countedLocks(context), ...uncountedLocks(context)].sort((a, b) => b.savingNs - a.savingNs);
  return best ? [best] : [];
}

/**
 * Whether an acquisition takes much longer than that of a lock used by one CPU: the cache line comes from other CPUs.
 */
export const lineMoves = ({ counts }: Pick<LockChurnFacts, 'counts'>): boolean =>
  counts === null || (counts.freeNs > 0 && counts.eachNs >= 2 * counts.freeNs);
