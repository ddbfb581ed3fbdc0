/**
 * Estimates what the program would show if it had the CPUs to itself: threads that other programs kept from running
 * count as at work, as far as there are CPUs. Findings use it, because they are about the program, however long others
 * keep it waiting; the numbers of the report remain those of this run. Formulas: docs/reference/findings.md, "Beside
 * other programs". Pure functions.
 */
import { f64, u16, u32, u8 } from '../profile/columns.js';
import type { RawProfile } from '../profile/raw-profile.js';
import { KernelWork, State, Waiting } from '../profile/raw-profile.js';
import { cpuWaitOf } from '../metrics/cpu-wait.js';
import { costsBesideIdle } from './wait-overlap.js';

/** The least share of the program's own time that others must have taken to change a finding. */
const leastOthers = 0.05;

/**
 * Other programs certainly had CPUs when more threads were runnable than there are CPUs, yet not all CPUs executed
 * them.
 */
export function isDisturbed(raw: RawProfile): boolean {
  const {
    balance,
    head: { publisher, processors },
  } = raw;
  if (publisher !== 'pthread') return false;
  const { runNs, othersNs } = cpuWaitOf(raw);
  const withheldNs = balance.ns.reduce(
    (sum, ns, k) =>
      sum +
      (u32(balance.runnable, k) > processors
        ? ns * Math.max(0, processors - u16(balance.busy, k) - u16(balance.spinning, k))
        : 0),
    0,
  );
  return runNs > 0 && Math.max(othersNs, withheldNs) >= leastOthers * runNs;
}

/**
 * One way in which the missing CPUs would have been used: for the share `part` of the time, by so many working and
 * spinning threads.
 */
interface Way {
  part: number;
  work: number;
  spin: number;
}
interface Group {
  filled: number;
  ready: number;
  working: number;
  ways: Way[];
} // ready: threads; working: of `filled` CPUs

/** What ready threads at one b, s and r would have done: spinning and working threads, in proportion. */
function groupOf(free: number, ready: number, spinners: number): Group {
  const filled = Math.min(free, Math.round(ready));
  if (filled <= 0) return { filled: 0, ready, working: 0, ways: [{ part: 1, work: 0, spin: 0 }] };
  const working = (filled * (ready - spinners)) / ready,
    low = Math.min(filled, Math.floor(working + 1e-9)),
    more = Math.max(0, working - low);
  const ways = [{ part: 1 - more, work: low, spin: filled - low }];
  if (more > 1e-9) ways.push({ part: more, work: low + 1, spin: filled - low - 1 });
  return { filled, ready, working, ways };
}

/** How the executed time on each stack, or else of that thread, divides by kernel reason; 0 is the program's own. */
function kernelParts({ tuples }: RawProfile): (k: number) => ReadonlyMap<number, number> {
  const sums = new Map<string, Map<number, number>>();
  const keysOf = (k: number): string[] => [`stack ${tuples.stack[k]}`, `thread ${tuples.thread[k]}`];
  for (let k = 0; k < tuples.ns.length; k++) {
    if (tuples.state[k] !== State.useful || tuples.ns[k] === 0) continue;
    for (const key of keysOf(k)) {
      let its = sums.get(key);
      if (!its) sums.set(key, (its = new Map<number, number>()));
      its.set(u8(tuples.kernel, k), (its.get(u8(tuples.kernel, k)) ?? 0) + f64(tuples.ns, k));
    }
  }
  for (const its of sums.values()) {
    const all = [...its.values()].reduce((sum, ns) => sum + ns, 0);
    for (const [reason, ns] of its) its.set(reason, ns / all);
  }
  const own = new Map([[KernelWork.none, 1]]);
  return (k) =>
    keysOf(k)
      .map((key) => sums.get(key))
      .find((its) => its !== undefined) ?? own;
}

/** A row derived from another one, with a share of its time. */
interface Row {
  from: number;
  busy: number;
  spinning: number;
  ns: number;
}
interface ThreadRow extends Row {
  state: number;
  kernel: number;
}

const add = (to: Map<number, number>, at: number, ns: number): void => {
  to.set(at, (to.get(at) ?? 0) + ns);
};

/**
 * A thread that was woken for a lock may find it taken, and would not have worked beside its holder. `isLock`: includes
 * objects that are used as locks.
 */
function isKept({ tuples, stacks }: RawProfile, isLock: (id: number) => boolean, k: number): boolean {
  if (tuples.state[k] !== State.ready) return false;
  return tuples.waiting[k] !== Waiting.woken || !isLock(u32(stacks.entity, u32(tuples.stack, k)));
}

export function undisturbed(raw: RawProfile, isLock: (id: number) => boolean): RawProfile {
  const { tuples, balance, head } = raw;
  const key = (b: number, s: number, r: number): number => (b * (head.processors + 1) + s) * 2 ** 32 + r;
  const keyOf = (k: number): number => key(u16(tuples.busy, k), u16(tuples.spinning, k), u32(tuples.runnable, k));
  const readyNs = new Map<number, number>(),
    spinnersNs = new Map<number, number>(); // by b, s and r
  for (let k = 0; k < tuples.ns.length; k++) {
    if (!isKept(raw, isLock, k)) continue;
    add(readyNs, keyOf(k), f64(tuples.ns, k));
    if (tuples.waiting[k] === Waiting.object) add(spinnersNs, keyOf(k), f64(tuples.ns, k));
  }
  const groups = new Map<number, Group>();
  const unchanged = groupOf(0, 0, 0);
  const rows: Row[] = [];
  for (let k = 0; k < balance.ns.length; k++) {
    const b = u16(balance.busy, k),
      s = u16(balance.spinning, k),
      ns = f64(balance.ns, k),
      at = key(b, s, u32(balance.runnable, k));
    const group =
      ns > 0
        ? groupOf(head.processors - b - s, (readyNs.get(at) ?? 0) / ns, (spinnersNs.get(at) ?? 0) / ns)
        : unchanged;
    groups.set(at, group);
    for (const { part, work, spin } of group.ways)
      rows.push({ from: k, busy: b + work, spinning: s + spin, ns: ns * part });
  }
  const its = threadRows(raw, isLock, (k) => groups.get(keyOf(k)) ?? unchanged);
  const changed = {
    ...raw,
    tuples: {
      ...pick(tuples, its),
      state: Uint8Array.from(its, (row) => row.state),
      kernel: Uint8Array.from(its, (row) => row.kernel),
    },
    balance: pick(balance, rows),
  };
  return { ...changed, waitOverlap: waitOverlapOf(raw, changed) };
}

/** While a stack runs beside idle processors, the share of its time with waiters is the same as before. */
function waitOverlapOf(raw: RawProfile, changed: RawProfile): RawProfile['waitOverlap'] {
  const before = costsBesideIdle(raw);
  const after = costsBesideIdle(changed);
  const partOf = Float64Array.from(before, (ns, stack) => (ns > 0 ? Math.min(1, f64(after, stack) / ns) : 0));
  const scaled = (times: Float64Array): Float64Array =>
    times.map((ns, k) => ns * f64(partOf, u32(raw.waitOverlap.stack, k)));
  return { ...raw.waitOverlap, ns: scaled(raw.waitOverlap.ns), waitersNs: scaled(raw.waitOverlap.waitersNs) };
}

/** The threads' states in each of the ways in which the CPUs would have been used. */
function threadRows(raw: RawProfile, isLock: (id: number) => boolean, groupAt: (k: number) => Group): ThreadRow[] {
  const { tuples } = raw;
  const its: ThreadRow[] = [];
  const partsOf = kernelParts(raw);
  for (let k = 0; k < tuples.ns.length; k++) {
    const { filled, ready, working, ways } = groupAt(k);
    const state = u8(tuples.state, k),
      isReady = isKept(raw, isLock, k),
      spins = tuples.waiting[k] === Waiting.object;
    // the share of a ready thread's time in which it is now assigned a CPU
    const attributed = isReady && ready > 0 ? Math.min(1, filled / ready) : 0;
    for (const { part, work, spin } of ways) {
      const emit = (as: number, ns: number, kernel = u8(tuples.kernel, k)): void => {
        const busy = u16(tuples.busy, k) + work,
          spinning = u16(tuples.spinning, k) + spin;
        if (ns > 0) its.push({ from: k, state: as, kernel, busy, spinning, ns });
      };
      emit(state, f64(tuples.ns, k) * (1 - attributed) * part);
      if (attributed > 0 && spins)
        emit(
          State.spinning,
          filled > working ? (f64(tuples.ns, k) * attributed * spin * part) / (filled - working) : 0,
        );
      else if (attributed > 0 && working > 0)
        for (const [kernel, of] of partsOf(k))
          emit(State.useful, (f64(tuples.ns, k) * attributed * work * part * of) / working, kernel);
    }
  }
  return its;
}

/** Rows of a table, each scaled by its share of the time of the original row. */
function pick<Table extends { ns: Float64Array; busy: ArrayLike<number>; spinning: ArrayLike<number> }>(
  table: Table,
  rows: readonly Row[],
): Table {
  const parts = new Set(['ns', 'runnableNs', 'overheadNs']);
  const columns = Object.entries(table as unknown as Record<string, Float64Array>).map(([name, column]) => {
    const made = new (column.constructor as new (length: number) => Float64Array)(rows.length);
    rows.forEach((row, n) => {
      const value = f64(column, row.from),
        whole = f64(table.ns, row.from);
      made[n] =
        name === 'busy'
          ? row.busy
          : name === 'spinning'
            ? row.spinning
            : name === 'ns'
              ? row.ns
              : parts.has(name) && whole > 0
                ? (value * row.ns) / whole
                : value;
    });
    return [name, made] as const;
  });
  return Object.fromEntries(columns) as unknown as Table;
}
