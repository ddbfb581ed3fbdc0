/**
 * What a thread usually does when it has a CPU: if it has been released by others and waits for a CPU, its stack shows
 * the wait, not what comes next (docs/reference/findings.md, "Beside other programs"). Pure functions.
 */
import { f64, item, u32, u8 } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import { objectKinds, Purpose } from '../../profile/abi.js';
import type { RawEntity, RawProfile } from '../../profile/raw-profile.js';
import { State, Waiting } from '../../profile/raw-profile.js';
import { isFor } from '../purposes.js';

/** A row of the thread, and its share of the thread's work. */
export interface Piece {
  row: number;
  part: number;
}
export interface Usual {
  /** A thread's work on stacks that do not end where threads meet; empty: it has none. */
  piecesOf: (thread: number) => readonly Piece[];
  /**
   * The share of a ready row during which the thread is on this stack because it was woken there, and not because it
   * ran there.
   */
  wokenPart: (k: number) => number;
}

/** The maximum number of a thread's stacks that are used, largest share first. */
const most = 32;

export function usualWorkOf(raw: RawProfile): Usual {
  const { tuples, stacks, entities } = raw;
  const meets = (k: number): boolean => isMeeting(item(entities, u32(stacks.entity, u32(tuples.stack, k))));
  const rows = new Map<number, Map<string, { row: number; ns: number }>>(); // by thread; by stack and kernel
  const executed = new Map<number, number>(),
    executedInside = new Map<number, number>(),
    ready = new Map<number, number>(),
    readyInside = new Map<number, number>(); // by thread; inside: where threads meet
  for (let k = 0; k < tuples.ns.length; k++) {
    const thread = u32(tuples.thread, k),
      ns = f64(tuples.ns, k),
      inside = meets(k);
    if (isStanding(raw, k)) {
      addTo(ready, thread, ns);
      if (inside) addTo(readyInside, thread, ns);
    }
    if (tuples.state[k] !== State.useful || ns === 0) continue;
    addTo(executed, thread, ns);
    if (inside) {
      addTo(executedInside, thread, ns);
      continue;
    }
    let its = rows.get(thread);
    if (!its) rows.set(thread, (its = new Map<string, { row: number; ns: number }>()));
    const key = `${tuples.stack[k]} ${u8(tuples.kernel, k)}`;
    const known = its.get(key);
    if (known) known.ns += ns;
    else its.set(key, { row: k, ns });
  }
  const pieces = new Map([...rows].map(([thread, its]) => [thread, piecesOf([...its.values()])]));
  const none: Piece[] = [];
  const partOf = (all: ReadonlyMap<number, number>, its: ReadonlyMap<number, number>, thread: number): number =>
    (its.get(thread) ?? 0) / (all.get(thread) ?? Infinity);
  return {
    piecesOf: (thread) => pieces.get(thread) ?? none,
    wokenPart: (k) => {
      const thread = u32(tuples.thread, k);
      if (!isStanding(raw, k) || !meets(k) || !pieces.has(thread)) return 0;
      return Math.max(0, 1 - partOf(executed, executedInside, thread) / partOf(ready, readyInside, thread));
    },
  };
}

/**
 * Whether threads meet there: in OpenMP's library, in a call that waits or wakes, or in code that holds a lock. A
 * thread may stand there because it was woken (also by a call that wakes others: `pthread_cond_signal` waits for those
 * that it woke before), or because the one that it woke took its CPU.
 */
const isMeeting = (entity: RawEntity): boolean =>
  entity.origin === 'openmp' || entity.kind in objectKinds || isFor(entity, Purpose.waitOrWake);

/** Whether the thread is runnable, and it is not known that it waits for anything. */
const isStanding = ({ tuples }: RawProfile, k: number): boolean =>
  tuples.state[k] === State.ready && tuples.waiting[k] === Waiting.none;

function piecesOf(rows: { row: number; ns: number }[]): Piece[] {
  const kept = rows.sort((a, b) => b.ns - a.ns).slice(0, most);
  const all = kept.reduce((sum, { ns }) => sum + ns, 0);
  return kept.map(({ row, ns }) => ({ row, part: ns / all }));
}
