/**
 * How many threads a lock would let work at a time, in the estimate of what a program would show with its CPUs for
 * itself: threads without a CPU stand outside of a lock that they will soon need (docs/reference/findings.md, "Other
 * programs on the CPUs"). Pure functions.
 */
import { f64, item, u32, u8 } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import type { EntityKind, RawProfile } from '../../profile/raw-profile.js';
import { State, Waiting } from '../../profile/raw-profile.js';

/** Locks that one thread at a time holds. */
const exclusive: ReadonlySet<EntityKind> = new Set<EntityKind>(['mutex', 'spinlock']);
/** The least share of the time that a thread works for which it must have been seen to wait for the lock. */
const leastWaits = 0.05;

export interface LockBound {
  /** Threads that can work at a time: if a part p of all work is done while the lock is held, 1 / p. */
  most: number;
  /** A tuple of the thread in which it is blocked at the lock; undefined: it was never seen to wait for it. */
  waitsAt: (thread: number) => number | undefined;
}

/** The lock that bounds the threads most; null: none lets fewer threads work than there are processors. */
export function lockBoundOf(raw: RawProfile): LockBound | null {
  const { tuples, stacks, entities, head } = raw;
  const isExclusive = (id: number): boolean => {
    const { kind, instances } = item(entities, id);
    return exclusive.has(kind) && instances <= 1;
  };
  const held = new Map<number, number>(),
    waited = new Map<number, number>(); // by lock
  let workNs = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    const stack = u32(tuples.stack, k),
      ns = f64(tuples.ns, k);
    if (isAtWait(raw, k)) addTo(waited, u32(stacks.entity, stack), ns);
    if (tuples.state[k] !== State.useful || tuples.waiting[k] !== Waiting.none) continue;
    workNs += ns;
    const locks = new Set<number>();
    for (let node = stack; node !== 0; node = u32(stacks.parent, node))
      if (isExclusive(u32(stacks.entity, node))) locks.add(u32(stacks.entity, node));
    for (const lock of locks) addTo(held, lock, ns);
  }
  const [most] = [...held]
    .filter(([lock, ns]) => ns * head.processors > workNs && (waited.get(lock) ?? 0) >= leastWaits * workNs)
    .sort((a, b) => b[1] - a[1]);
  if (!most) return null;
  const [lock, heldNs] = most;
  const rows = new Map<number, number>();
  for (let k = 0; k < tuples.ns.length; k++)
    if (isAtWait(raw, k) && u32(stacks.entity, u32(tuples.stack, k)) === lock) rows.set(u32(tuples.thread, k), k);
  return { most: workNs / heldNs, waitsAt: (thread) => rows.get(thread) };
}

const isAtWait = ({ tuples }: RawProfile, k: number): boolean =>
  u8(tuples.state, k) === State.blocked && u8(tuples.waiting, k) === Waiting.object;
