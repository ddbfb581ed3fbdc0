/**
 * Threads that have work but no CPU, and what that means for waits beside them: a wait costs nothing while others of
 * the process could work, whether they have CPUs or not. How many threads are ready is known of each instant; which
 * ones, only on average over the instants with equal numbers of busy, spinning and runnable threads. Pure.
 */
import { f64, item, u16, u32, u8 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import { State, Waiting, type RawProfile } from '../profile/raw-profile.js';

type Columns = 'busy' | 'spinning' | 'runnable';
interface Counted {
  balance: Pick<RawProfile['balance'], Columns | 'ns'>;
  tuples: Pick<RawProfile['tuples'], Columns | 'ns' | 'state' | 'waiting' | 'stack' | 'thread'>;
  stacks: Pick<RawProfile['stacks'], 'entity'>;
}

export interface WithoutCpu {
  /** Elapsed time in which no thread ran, though one could have worked. */
  starvedNs: number;
  /** The share of a tuple's time in which another thread could have worked, but had no CPU. */
  shareAt: (tuple: number) => number;
  /** By object: elapsed time in which threads wait there, while no thread works or could work. */
  aloneNs: ReadonlyMap<number, number>;
}

/** Thread time of ready threads. One that spins and has lost its CPU is ready, too, but has no work. */
interface Ready {
  working: number;
  spinning: number;
}

/** The instants with equal numbers of busy, spinning and runnable threads. */
interface Level {
  busy: number;
  ready: number; // threads that are ready at each of these instants
  elapsedNs: number;
  all: Ready;
  byThread: Map<number, Ready>;
  alone: Map<number, number>; // thread time of waiting while nothing else works or could, by object
}

/** The level of each tuple. */
function levelsOf({ balance, tuples }: Counted): Level[] {
  const levels = new Map<number, Level>();
  const levelAt = (of: Pick<RawProfile['balance'], Columns>, k: number): Level => {
    const [busy, spinning, runnable] = [u16(of.busy, k), u16(of.spinning, k), u32(of.runnable, k)];
    const key = (busy * 2 ** 16 + spinning) * 2 ** 20 + runnable;
    let level = levels.get(key);
    if (!level) {
      const ready = Math.max(0, runnable - busy - spinning);
      const all = { working: 0, spinning: 0 };
      levels.set(key, (level = { busy, ready, elapsedNs: 0, all, byThread: new Map(), alone: new Map() }));
    }
    return level;
  };
  for (let k = 0; k < balance.ns.length; k++) levelAt(balance, k).elapsedNs += f64(balance.ns, k);
  const found: Level[] = [];
  for (let k = 0; k < tuples.ns.length; k++) {
    const level = levelAt(tuples, k);
    found.push(level);
    if (u8(tuples.state, k) !== State.ready) continue;
    let its = level.byThread.get(u32(tuples.thread, k));
    if (!its) level.byThread.set(u32(tuples.thread, k), (its = { working: 0, spinning: 0 }));
    const what = u8(tuples.waiting, k) === Waiting.object ? 'spinning' : 'working';
    its[what] += f64(tuples.ns, k);
    level.all[what] += f64(tuples.ns, k);
  }
  return found;
}

/** `wanted`: the objects that `aloneNs` is about; several at the same time share it by the time of their threads. */
export function withoutCpu(counted: Counted, wanted: (entity: number) => boolean): WithoutCpu {
  const { tuples, stacks } = counted;
  const levels = levelsOf(counted);
  const shareAt = (k: number): number => {
    const { ready, all, byThread } = item(levels, k);
    const others = ready - Number(u8(tuples.state, k) === State.ready);
    if (others <= 0) return 0;
    const own = byThread.get(u32(tuples.thread, k));
    const working = all.working - (own?.working ?? 0),
      spinning = all.spinning - (own?.spinning ?? 0);
    return working + spinning > 0 ? Math.min(1, (others * working) / (working + spinning)) : 0;
  };
  const idle = new Set<Level>();
  for (let k = 0; k < tuples.ns.length; k++) {
    const level = item(levels, k);
    if (level.busy > 0) continue;
    idle.add(level);
    const entity = u32(stacks.entity, u32(tuples.stack, k));
    if (u8(tuples.waiting, k) === Waiting.object && wanted(entity))
      addTo(level.alone, entity, f64(tuples.ns, k) * (1 - shareAt(k)));
  }
  const aloneNs = new Map<number, number>();
  let starvedNs = 0;
  for (const { elapsedNs, all, alone } of idle) {
    const threadNs = [...alone.values()].reduce((sum, ns) => sum + ns, 0);
    const ns = Math.min(threadNs, elapsedNs);
    if (threadNs > 0) for (const [object, its] of alone) addTo(aloneNs, object, ns * (its / threadNs));
    starvedNs += Math.min(all.working, elapsedNs - ns);
  }
  return { starvedNs, shareAt, aloneNs };
}
