/**
 * Limits by locks that threads hand to each other all the time: the calls that wait and wake, the lock's cache line,
 * and CPUs without work at that time (docs/reference/findings.md, "Hand-overs"). Pure.
 */
import { item } from '../profile/columns.js';
import { beyondFree, handOversOf, savedWithout } from '../evidence/hand-overs.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, largerPieces, processorUseOf, shownId } from '../evidence/context.js';
import { isAllocators } from '../evidence/allocator-lock.js';
import { withoutWaiting } from '../evidence/own-work.js';
import { takenIn } from '../evidence/taken-in.js';
import { isLock } from '../evidence/wait-kinds.js';
import { shownPerRun } from '../metrics/cpu-wait.js';
import { addTo } from '../profile/maps.js';
import type { Finding } from '../result/types.js';

/** Less of the processor time goes into handing on in any program with locks. */
const leastHanding = 0.05;
/** Where more time goes by between two waits, locks are held for long, or seldom wanted, rather than handed on. */
const mostBetweenNs = 100_000;
/**
 * Who gets a lock from another CPU waits for the data that it protects, too: some 16 cache lines of 100 to 150 ns are
 * taken to be the most.
 */
const mostMovedNs = 2000;
/** Objects for which threads wait for so much of what they wait for the first one are named with it. */
const notable = 0.1;

/** Locks by how long threads waited for them, most first, as they are shown. */
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

/** Waits for locks that are counted; 0: those of none are. */
function waitsFor({ model }: FindingContext): number {
  let waits = 0;
  for (const entity of model.entities)
    if (entity.object?.counted && entity.members.length === 0 && isLock(entity)) waits += entity.object.contended;
  return waits;
}

export function handOverFindings(context: FindingContext): Finding[] {
  const { model, least } = context;
  const { elapsedNs, balance } = model;
  if (model.head.publisher !== 'pthread') return [];
  const objects = locksOf(context).slice(0, 3);
  const all = handOversOf(context);
  const waits = waitsFor(context);
  // As recorded, like the time for handing on.
  const processorNs = model.root.processorTimeNs + model.compensation.processorTimeNs + balance.spinningNs;
  const { leastNs, mostNs } = beyondFree(context, all);
  const shown = shownPerRun(model);
  if (objects.length === 0 || leastNs < Math.max(least, leastHanding * processorNs)) return [];
  // Of a lock that only the kernel knows of, how often threads slept.
  const pauses = waits > 0 ? waits : (model.kernelUsage?.switches?.voluntary ?? 0);
  if (pauses > 0 && Math.max(processorNs, elapsedNs) / (pauses * shown) > mostBetweenNs) return [];
  // Waits that recording makes longer are none that a change could save.
  const movedNs = Math.min(waits * shown * mostMovedNs, processorNs - all.handingNs);
  const savesLeastNs = Math.max(0, savedWithout(context, all, leastNs) - model.slowdown.waitsNs),
    savesMostNs = Math.max(savedWithout(context, all, mostNs + movedNs), withoutWaiting(context).idealNs),
    savingNs = (savesLeastNs + savesMostNs) / 2;
  if (savingNs < least) return [];
  const aloneNs = elapsedNs - (processorNs - leastNs);
  return [
    findingOf(model, {
      entity: item(objects, 0),
      kind: 'overhead',
      change: 'coarsen',
      advice: largerPieces,
      costNs: savesMostNs,
      savingNs,
      processorUse: processorUseOf(model.processors, balance.meanBusy, balance.spinningNs / Math.max(1, elapsedNs)),
      facts: {
        form: 'hand-overs',
        objects,
        takenIn: takenIn(model, item(objects, 0)),
        allocator: isAllocators(model, item(objects, 0)),
        waits: waits > 0 ? { count: waits, workNs: processorNs / waits } : null,
        handingShare: (leastNs + mostNs) / 2 / processorNs,
        leastNs: savesLeastNs,
        mostNs: savesMostNs,
        aloneNs: aloneNs >= least ? aloneNs : null,
      },
      related: objects.slice(1),
    }),
  ];
}
