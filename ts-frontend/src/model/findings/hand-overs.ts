/**
 * Findings about locks that threads continually hand to each other: the cost of the calls that wait and wake, of the
 * lock's cache line, and of CPUs that are idle (docs/reference/findings.md, "Hand-overs"). Pure functions.
 */
import { item } from '../profile/columns.js';
import { beyondFree, handOversOf, mostWithoutHandOvers, savedWithout } from '../evidence/locks/hand-overs.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, largerPieces, noAdvice, processorUseOfRun, shownId } from '../evidence/context.js';
import { phaseOf } from '../evidence/phase.js';
import { isAllocators, libraryLockOf } from '../evidence/locks/library-lock.js';
import { withoutWaiting } from '../evidence/waits/own-work.js';
import { takenIn } from '../evidence/locks/taken-in.js';
import { isLock } from '../evidence/wait-kinds.js';
import { futileWakeUps } from '../evidence/locks/woken-together.js';
import { shownPerRun } from '../metrics/cpu-wait.js';
import { addTo } from '../profile/maps.js';
import { besideWaitingOf, heldEach } from '../evidence/locks/holders.js';
import type { HeldFacts } from '../result/lock-facts.js';
import type { Finding } from '../result/types.js';

/** The least share of the processor time for hand-overs: any program with locks has some. */
const leastHanding = 0.05;
/** With more time between two waits, locks are held for long or seldom requested, rather than handed over. */
const mostBetweenNs = 100_000;
/**
 * A thread that gets a lock from another CPU also waits for the protected data. The assumed maximum is 16 cache lines
 * of 100 to 150 ns.
 */
const mostMovedNs = 2000;
/** A call that waits or wakes takes at most this long in the kernel, not counting sleep. */
const mostCallNs = 20_000;
/** Objects with at least this share of the first one's waiting time are named with it. */
const notable = 0.1;

/** Locks, as displayed, by the time that threads waited for them, largest first. */
function locksOf({ model, levels }: FindingContext): number[] {
  const waited = new Map<number, number>();
  for (const [id, { blocked, spinning, woken }] of levels.waits) {
    const entity = item(model.entities, id);
    if (!isLock(entity) || entity.members.length > 0) continue;
    for (const its of [blocked, spinning, woken]) for (const ns of its.values()) addTo(waited, shownId(model, id), ns);
  }
  const sorted = [...waited].sort((a, b) => b[1] - a[1]);
  return sorted.filter(([, ns]) => ns >= notable * (sorted[0]?.[1] ?? 0)).map(([id]) => id);
}

/** From this processor time for each acquisition on, less of it is what helps. */
const longNs = 10_000;

/** `pauses`: how often threads waited. */
function heldOf(context: FindingContext, id: number, pauses: number): HeldFacts | null {
  const { model } = context;
  const lock = item(model.entities, id),
    each = heldEach(model, lock);
  if (each !== null) return each >= longNs ? { ns: each, taker: null } : null;
  const [taker, ...others] = takenIn(model, id);
  if (taker === undefined || others.length > 0 || pauses === 0) return null;
  const holding = besideWaitingOf(context, taker, new Set(lock.members.length > 0 ? lock.members : [id]));
  const ns = (holding?.ns ?? 0) / pauses;
  return ns >= longNs ? { ns, taker } : null;
}

/** The number of counted waits for locks; 0 if they are not counted. */
function waitsFor({ model }: FindingContext): number {
  let waits = 0;
  for (const entity of model.entities)
    if (entity.object?.waitsCounted && entity.members.length === 0 && isLock(entity)) waits += entity.object.contended;
  return waits;
}

export function handOverFindings(context: FindingContext): Finding[] {
  const { model, least } = context,
    { elapsedNs, balance } = model;
  if (model.head.publisher !== 'pthread') return [];
  const objects = locksOf(context).slice(0, 3),
    all = handOversOf(context);
  const waits = waitsFor(context);
  // As recorded, to match the time for hand-overs.
  const processorNs = model.root.processorTimeNs + model.compensation.processorTimeNs + balance.spinningNs;
  const { leastNs, mostNs } = beyondFree(context, all);
  const shown = shownPerRun(model);
  if (objects.length === 0 || leastNs < Math.max(least, leastHanding * processorNs)) return [];
  // For locks that only the kernel knows: how often threads slept, or called it, which many calls leave at once.
  const pauses =
    waits > 0 ? waits : Math.max(model.kernelUsage?.switches?.voluntary ?? 0, all.kernelNs / shown / mostCallNs);
  const { processorShare, elapsedShare } = phaseOf(model, objects);
  const spentNs = Math.max(processorShare * processorNs, elapsedShare * elapsedNs);
  if (pauses > 0 && spentNs / (pauses * shown) > mostBetweenNs) return [];
  // The part by which recording lengthens waits cannot be saved by a change.
  const movedNs = Math.min(waits * shown * mostMovedNs, processorNs - all.handingNs);
  const locks = [...context.levels.waits.keys()].filter((id) => {
    const entity = item(model.entities, id);
    return isLock(entity) && entity.members.length === 0;
  });
  const reach = mostWithoutHandOvers(context, locks, () => false);
  const savesLeastNs = Math.min(reach, Math.max(0, savedWithout(context, all, leastNs) - model.slowdown.waitsNs)),
    idealNs = Math.max(savedWithout(context, all, mostNs + movedNs), withoutWaiting(context).idealNs),
    savesMostNs = Math.min(reach + movedNs, idealNs),
    savingNs = (savesLeastNs + savesMostNs) / 2;
  if (savingNs < least) return [];
  const aloneNs = Math.min(savesMostNs, elapsedNs - (processorNs - leastNs)); // other waits remain
  const again = futileWakeUps(context, item(model.entities, item(objects, 0)));
  return [
    findingOf(model, {
      entity: item(objects, 0),
      kind: 'overhead',
      change: 'coarsen',
      advice: again ? noAdvice : largerPieces, // they wait again at once: the waking is to be changed, not the lock
      costNs: savesMostNs,
      savingNs,
      processorUse: processorUseOfRun(model),
      facts: {
        form: 'hand-overs',
        objects,
        takenIn: takenIn(model, item(objects, 0)),
        allocator: isAllocators(model, item(objects, 0)),
        library: libraryLockOf(model, item(objects, 0)),
        waits: waits > 0 ? { count: waits, workNs: processorNs / waits } : null,
        again,
        handingShare: (leastNs + mostNs) / 2 / processorNs,
        leastNs: savesLeastNs,
        mostNs: savesMostNs,
        aloneNs: aloneNs >= least ? aloneNs : null,
        shortenedBy: null,
        held: again ? null : heldOf(context, item(objects, 0), pauses * shown),
      },
      related: objects.slice(1),
    }),
  ];
}
