/**
 * Locks that the program does not know of: of the memory allocator, and those that procedures of the C library take for
 * state that all threads share (random numbers, streams, the time zone). Threads wait for them within these procedures,
 * which the sampler and the reader recognize. The advice differs from that for locks of the program. Pure functions.
 */
import { Purpose } from '../../profile/abi.js';
import { item, u32 } from '../../profile/columns.js';
import { addTo, total } from '../../profile/maps.js';
import type { LibraryLockFacts } from '../../result/fact-parts.js';
import type { Entity, Model, PathTime } from '../../result/types.js';
import { isRuntime } from '../code-origin.js';
import type { FindingContext } from '../context.js';
import { isFor } from '../purposes.js';

/** The least share of the waiting time within such procedures. */
const mostly = 0.5;

function waitersOf({ entities }: Model, lock: number): PathTime[] {
  const { object, members } = item(entities, lock);
  return [...(object?.waiters ?? []), ...members.flatMap((one) => item(entities, one).object?.waiters ?? [])];
}

export function isAllocators(model: Model, lock: number): boolean {
  let within = 0,
    all = 0;
  for (const { path, ns } of waitersOf(model, lock)) {
    all += ns;
    if (path.some((id) => isFor(item(model.entities, id), Purpose.allocator))) within += ns;
  }
  return all > 0 && within >= mostly * all;
}

/** Whether a procedure of the C library takes such a lock. */
const takesLibraryLock = (entity: Entity): boolean =>
  entity.kind === 'procedure' && isRuntime(entity) && entity.libraryLock !== 'none';

/**
 * The procedure with most of the work that the C library does under locks of its own, if this is at least half of the
 * work; else null. `work`: time by stack.
 */
export function libraryLockIn(
  { model, tables }: FindingContext,
  work: ReadonlyMap<number, number>,
): LibraryLockFacts | null {
  const { stacks } = tables;
  const by = new Map<number, number>();
  for (const [node, ns] of work) {
    let taker = 0;
    for (let n = node; n !== 0; n = u32(stacks.parent, n)) {
      const entity = item(model.entities, u32(stacks.entity, n));
      if (entity.kind !== 'procedure') continue;
      if (!isRuntime(entity)) break;
      if (takesLibraryLock(entity)) taker = entity.id;
    }
    if (taker !== 0) addTo(by, taker, ns);
  }
  const [first] = [...by].sort((a, b) => b[1] - a[1]);
  return first && total(by) >= mostly * total(work)
    ? { of: item(model.entities, first[0]).libraryLock, taker: first[0] }
    : null;
}

/** The procedure within which threads mostly wait for the lock, if it is the C library's; else null. */
export function libraryLockOf(model: Model, lock: number): LibraryLockFacts | null {
  const by = new Map<number, number>();
  let all = 0;
  for (const { path, ns } of waitersOf(model, lock)) {
    all += ns;
    const taker = path.findLast((id) => takesLibraryLock(item(model.entities, id)));
    if (taker !== undefined) addTo(by, taker, ns);
  }
  const { libraryLock: itself, rawKind } = item(model.entities, lock);
  const [first] = [...by].sort((a, b) => b[1] - a[1]);
  const within = [...by.values()].reduce((sum, ns) => sum + ns, 0);
  if (first && within >= mostly * all) return { of: item(model.entities, first[0]).libraryLock, taker: first[0] };
  // where stacks are not known, the object is named after the call
  return itself !== 'none' && rawKind === 'futex' ? { of: itself, taker: null } : null;
}
