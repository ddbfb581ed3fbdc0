/**
 * What the processors did, at each level of activity (b busy, s spinning), and which threads waited for what. A level
 * is b * (P + 1) + s. Findings join the two sides of lost parallelism through levels: who ran (busy tuples) and who
 * waited (waiting tuples) in the same snapshots. Pure.
 */
import { f64, u16, u32, u8 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import type { RawProfile } from '../profile/raw-profile.js';
import { State, Waiting } from '../profile/raw-profile.js';
import type { Stacks } from '../profile/stack-tree.js';

export interface Waits {
  blocked: Map<number, number>; // thread time by level
  spinning: Map<number, number>;
  // thread time of threads that have been woken but have not continued yet: they wait for a CPU, or retry without
  // success
  woken: Map<number, number>;
  wokenBusy: Map<number, number>; // the part of it in which they count as busy
  spinningReady: number; // elapsed time in which ready threads could have used the processors of spinning ones
}

export const noWaits = (): Waits => ({
  blocked: new Map(),
  spinning: new Map(),
  woken: new Map(),
  wokenBusy: new Map(),
  spinningReady: 0,
});

export interface Levels {
  P: number;
  elapsed: Map<number, number>; // level -> elapsed time
  waits: Map<number, Waits>; // waits by object (or group)
}

export const busyOf = (levels: Levels, level: number): number => Math.floor(level / (levels.P + 1));
export const spinningOf = (levels: Levels, level: number): number => level % (levels.P + 1);

export function measureLevels(
  raw: {
    head: RawProfile['head'];
    balance: RawProfile['balance'];
    tuples: Omit<RawProfile['tuples'], 'torn' | 'kernel'>;
  },
  stacks: Pick<Stacks, 'entity'>,
  groupOf: Uint32Array,
  isLeftOut: (tuple: number) => boolean = () => false,
): Levels {
  const P = raw.head.processors;
  const { balance, tuples } = raw;
  const elapsed = new Map<number, number>();
  for (let k = 0; k < balance.ns.length; k++)
    addTo(elapsed, u16(balance.busy, k) * (P + 1) + u16(balance.spinning, k), f64(balance.ns, k));

  const waits = new Map<number, Waits>();
  for (let k = 0; k < tuples.ns.length; k++) {
    const state = u8(tuples.state, k);
    const isWoken = tuples.waiting[k] === Waiting.woken;
    if (
      tuples.stack[k] === 0 ||
      isLeftOut(k) ||
      !(isWoken || (tuples.waiting[k] === Waiting.object && (state === State.blocked || state === State.spinning)))
    )
      continue;
    const entity = u32(stacks.entity, u32(tuples.stack, k));
    const b = u16(tuples.busy, k),
      s = u16(tuples.spinning, k),
      ns = f64(tuples.ns, k);
    const level = b * (P + 1) + s;
    for (const object of groupOf[entity] !== 0 ? [entity, u32(groupOf, entity)] : [entity]) {
      let row = waits.get(object);
      if (!row) waits.set(object, (row = noWaits()));
      if (isWoken) {
        addTo(row.woken, level, ns);
        if (state === State.useful) addTo(row.wokenBusy, level, ns);
      } else if (state === State.blocked) addTo(row.blocked, level, ns);
      else {
        addTo(row.spinning, level, ns);
        const ready = ns > 0 ? Math.max(0, f64(tuples.runnableNs, k) / ns - b - s) : 0;
        const width = Math.min(Math.max(1, s), ready);
        if (width > 0) row.spinningReady += (ns / Math.max(1, s)) * (width / (b + width));
      }
    }
  }
  return { P, elapsed, waits };
}

/** Elapsed time at one level in which threads waited, and their mean number. */
export interface Wait {
  time: number;
  width: number;
}

/**
 * Converts thread time spent waiting to elapsed time. `meanQueue`: the mean number of waiters while there were any, if
 * it is known; otherwise waits are assumed to follow one another as far as the level's elapsed time allows.
 */
export function waitAt(threadNs: number, elapsedNs: number, meanQueue: number): Wait {
  if (threadNs <= 0 || elapsedNs <= 0) return { time: 0, width: 0 };
  const time = Math.min(elapsedNs, threadNs / Math.max(1, meanQueue));
  return { time, width: threadNs / time };
}

/**
 * Elapsed time saved if the waiting threads had run on idle processors: the same work would have been done by min(P, b
 * + waiters) processors instead of b.
 */
export function savedByRunning(wait: Wait, b: number, idle: number): number {
  const width = Math.min(wait.width, idle);
  return width > 0 ? wait.time * (width / (b + width)) : 0;
}

/**
 * Elapsed time in which nothing runs and threads wait at these objects; at a level at which threads wait at several
 * objects, each gets its part. `wanted` is called for objects and for groups.
 */
export function waitedAlone(
  levels: Levels,
  wanted: (object: number) => boolean,
): { at: Map<number, number>; spinningNs: number } {
  const byLevel = new Map<number, { object: number; ns: number }[]>();
  for (const [object, { blocked, spinning }] of levels.waits) {
    if (!wanted(object)) continue;
    for (const waits of [blocked, spinning])
      for (const [level, ns] of waits)
        if (busyOf(levels, level) === 0) byLevel.set(level, [...(byLevel.get(level) ?? []), { object, ns }]);
  }
  const at = new Map<number, number>();
  let spinningNs = 0;
  for (const [level, waits] of byLevel) {
    const threadNs = waits.reduce((sum, { ns }) => sum + ns, 0);
    const elapsed = Math.min(threadNs, levels.elapsed.get(level) ?? 0);
    for (const { object, ns } of waits) addTo(at, object, threadNs > 0 ? elapsed * (ns / threadNs) : 0);
    if (spinningOf(levels, level) > 0) spinningNs += elapsed;
  }
  return { at, spinningNs };
}
