/**
 * Determines whether threads wait in the middle of their work: below procedures that themselves do some of the work. A
 * thread that waits for work waits outside it, in the loop that distributes it; a thread that must let others run waits
 * inside its work, wherever it happens to be (docs/reference/findings.md, "Exclusion"). Pure.
 */
import { f64, u32, u8 } from '../profile/columns.js';
import { addTo, total } from '../profile/maps.js';
import type { RawProfile } from '../profile/raw-profile.js';
import { KernelWork, State, Waiting } from '../profile/raw-profile.js';

/** Stacks with less than this share of the waiting are ignored in determining where all of it occurs. */
const leastWait = 0.001;
/** A procedure with at least this share of the threads' work does some of the work. */
const leastWork = 0.05;
/** Calls that wait and wake, and code of locks: part of the waiting, wherever they are made. */
const hands: ReadonlySet<number> = new Set([KernelWork.futex, KernelWork.lock]);
/** The least share of the waiting that must be in the middle of work. */
const mostly = 0.5;

export function waitInTheirWork(
  { tuples, stacks }: RawProfile,
  among: ReadonlySet<number>,
  objects: ReadonlySet<number>,
): boolean {
  const waits = new Map<number, number>(), // by stack
    work = new Map<number, number>(); // by innermost entity
  for (let k = 0; k < tuples.ns.length; k++) {
    const node = u32(tuples.stack, k),
      entity = u32(stacks.entity, node);
    if (!among.has(u32(tuples.thread, k))) continue;
    if (tuples.waiting[k] === Waiting.none) {
      if (u8(tuples.state, k) === State.useful && !hands.has(u8(tuples.kernel, k)))
        addTo(work, entity, f64(tuples.ns, k));
    } else if (objects.has(entity)) addTo(waits, node, f64(tuples.ns, k));
  }
  const [workNs, waitNs] = [total(work), total(waits)];
  const outer = commonOf(
    stacks.parent,
    [...waits].filter(([, ns]) => ns >= leastWait * waitNs).map(([node]) => node),
  );
  let inside = 0;
  for (const [node, ns] of waits)
    for (let n = u32(stacks.parent, node); n !== 0 && !outer.has(n); n = u32(stacks.parent, n))
      if ((work.get(u32(stacks.entity, n)) ?? 0) >= leastWork * workNs) {
        inside += ns;
        break;
      }
  return inside >= mostly * waitNs;
}

/** The nodes that are ancestors of, or equal to, all of these nodes. */
function commonOf(parent: ArrayLike<number>, nodes: readonly number[]): Set<number> {
  const counts = new Map<number, number>();
  for (const node of nodes) for (let n = node; n !== 0; n = parent[n] ?? 0) addTo(counts, n, 1);
  return new Set([...counts].filter(([, count]) => count === nodes.length).map(([node]) => node));
}
