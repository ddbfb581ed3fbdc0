/**
 * Which threads wait while others run, in the estimate of what a program would show with its CPUs for itself. The
 * sampler has no such pairs for the time in which a delayed thread would have worked, because the thread did not run.
 * Pure functions.
 */
import { addAt, f64, u32 } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import type { RawProfile } from '../../profile/raw-profile.js';
import { State, Waiting } from '../../profile/raw-profile.js';
import { costsBesideIdle } from '../wait-overlap.js';

/** A row that is derived from another one, with a part of its time. */
export interface Row {
  from: number;
  at: number; // the row that its r is taken from
  busy: number;
  spinning: number;
  ns: number;
}
export interface ThreadRow extends Row {
  state: number;
  kernel: number;
  gained: boolean; // whether it is time in which the thread was delayed and would have worked
}

/** Time of waiting threads at one combination of b, s and r, by the object waited for and by thread. */
type Waits = Map<number, Map<number, number>>;

/**
 * `rows`: the threads' states in the estimate; `keyOf` and `nsOf`: b, s and r of a row as one number, and the elapsed
 * time at this combination. For the time in which a stack was seen to run, the share with waiters is kept. For the time
 * it gained, those threads are assumed to wait for it that waited at barriers and similar objects (`meets`) at the
 * time; for other objects, as many as waited while it was seen to run. For a stack that was never seen to run it is not
 * known whether it ends such waits.
 */
export function overlapsOf(
  raw: RawProfile,
  rows: readonly ThreadRow[],
  meets: (object: number) => boolean,
  keyOf: (k: number) => number,
  nsOf: (key: number) => number,
): RawProfile['waitOverlap'] {
  const { waitOverlap, tuples, head } = raw;
  const before = costsBesideIdle(raw);
  const kept = new Float64Array(before.length),
    more = new Float64Array(before.length); // the time that each stack gained
  const gained = new Map<string, { object: number; stack: number; thread: number; ns: number; waitersNs: number }>();
  const waits = waitsOf(raw, meets, keyOf);
  for (const { from, at, state, busy, ns, gained: isGained } of rows) {
    if ((state !== State.useful && state !== State.overhead) || busy === 0 || busy >= head.processors) continue;
    const stack = u32(tuples.stack, from),
      thread = u32(tuples.thread, from);
    if (!isGained) {
      addAt(kept, stack, ns / busy);
      continue;
    }
    addAt(more, stack, ns / busy);
    const key = keyOf(at);
    for (const [object, byThread] of waits.get(key) ?? []) {
      let sum = 0;
      for (const [other, waiting] of byThread) if (other !== thread) sum += waiting;
      const waiters = sum / nsOf(key);
      if (waiters === 0) continue;
      const name = `${object} ${stack} ${thread}`;
      const known = gained.get(name) ?? { object, stack, thread, ns: 0, waitersNs: 0 };
      gained.set(name, known);
      known.ns += (ns / busy) * Math.min(1, waiters);
      known.waitersNs += (ns / busy) * waiters;
    }
  }
  const partOf = (k: number): number => {
    const stack = u32(waitOverlap.stack, k),
      object = u32(waitOverlap.object, k),
      ns = f64(before, stack);
    if (ns === 0) return 0;
    return Math.min(1, f64(kept, stack) / ns) + (object === 0 || meets(object) ? 0 : f64(more, stack) / ns);
  };
  const added = [...gained.values()];
  const scaled = (times: Float64Array): number[] => Array.from(times, (ns, k) => ns * partOf(k));
  const column = (its: Uint32Array, of: (one: (typeof added)[number]) => number): Uint32Array =>
    Uint32Array.from([...its, ...added.map(of)]);
  return {
    ...waitOverlap,
    object: column(waitOverlap.object, ({ object }) => object),
    stack: column(waitOverlap.stack, ({ stack }) => stack),
    thread: column(waitOverlap.thread, ({ thread }) => thread),
    count: column(waitOverlap.count, () => 1),
    ns: Float64Array.from([...scaled(waitOverlap.ns), ...added.map(({ ns }) => ns)]),
    waitersNs: Float64Array.from([...scaled(waitOverlap.waitersNs), ...added.map(({ waitersNs }) => waitersNs)]),
  };
}

/** Waits by b, s and r. */
function waitsOf(
  { tuples, stacks }: RawProfile,
  meets: (object: number) => boolean,
  keyOf: (k: number) => number,
): Map<number, Waits> {
  const all = new Map<number, Waits>();
  for (let k = 0; k < tuples.ns.length; k++) {
    const object = u32(stacks.entity, u32(tuples.stack, k));
    if (tuples.waiting[k] !== Waiting.object || tuples.state[k] === State.useful || !meets(object)) continue;
    const key = keyOf(k);
    let its = all.get(key);
    if (!its) all.set(key, (its = new Map<number, Map<number, number>>()));
    let byThread = its.get(object);
    if (!byThread) its.set(object, (byThread = new Map<number, number>()));
    addTo(byThread, u32(tuples.thread, k), f64(tuples.ns, k));
  }
  return all;
}
