/**
 * Estimates what the program would show if it had the CPUs to itself: threads that other programs kept from running
 * count as at work, as far as there are CPUs. Findings use it, because they are about the program, however long others
 * keep it waiting; the numbers of the report remain those of this run. Formulas: docs/reference/findings.md, "Beside
 * other programs". Pure functions.
 */
import { f64, u16, u32, u8 } from '../../profile/columns.js';
import type { RawProfile } from '../../profile/raw-profile.js';
import { KernelWork, State, Waiting } from '../../profile/raw-profile.js';
import { waitedOf } from '../../metrics/cpu-wait.js';
import type { Model } from '../../result/types.js';
import { lockBoundOf, type LockBound } from './lock-bound.js';
import { overlapsOf, type Row, type ThreadRow } from './undisturbed-overlap.js';
import { usualWorkOf, type Usual } from './usual-work.js';

/** The least share of the program's own time that others must have taken to change a finding. */
const leastOthers = 0.05;

/**
 * Other programs certainly had CPUs when more threads were runnable than there are CPUs, yet not all CPUs executed
 * them.
 */
export function isDisturbed({ raw, cpuWait, cpuLimits }: Pick<Model, 'raw' | 'cpuWait' | 'cpuLimits'>): boolean {
  const {
    balance,
    head: { publisher, processors },
  } = raw;
  if (publisher !== 'pthread') return false;
  const { runNs, othersNs, limitNs } = cpuWait;
  const confinedNs = cpuLimits?.confined?.ns ?? 0;
  const withheldNs = balance.ns.reduce(
    (sum, ns, k) =>
      sum +
      (u32(balance.runnable, k) > processors
        ? ns * Math.max(0, processors - u16(balance.busy, k) - u16(balance.spinning, k))
        : 0),
    0,
  );
  // While its threads are confined to few CPUs, it is not others that keep it from the rest.
  const withheld = Math.max(othersNs + limitNs, withheldNs - confinedNs * processors);
  return runNs > 0 && withheld >= leastOthers * runNs;
}

/**
 * One way in which the missing CPUs might have been used: for the share `part` of the time, by `work` working and
 * `spin` spinning threads.
 */
interface Way {
  part: number;
  work: number;
  spin: number;
}
interface Group {
  filled: number; // CPUs that would be used
  ready: number; // threads
  working: number; // number of `filled` CPUs with work
  released: number; // share of the ready spinning threads whose wait is over
  ways: Way[];
  bound: boolean; // the ready threads that have no CPU wait for a lock
}

/**
 * What the ready threads at one combination of b, s and r would have done: spin or work, in proportion to their
 * numbers. `least`: the number of them that certainly work; `most`: that a lock lets work, if none of them spins.
 */
function groupOf(free: number, ready: number, spinners: number, least: number, most: number): Group {
  const filled = Math.min(free, Math.round(ready));
  if (filled <= 0)
    return { filled: 0, ready, working: 0, released: 0, ways: [{ part: 1, work: 0, spin: 0 }], bound: false };
  if (most < filled && spinners === 0) {
    const working = Math.max(most, least),
      low = Math.floor(working),
      more = working - low;
    const ways = [
      { part: 1 - more, work: low, spin: 0 },
      { part: more, work: low + 1, spin: 0 },
    ];
    return { filled: working, ready, working, released: 0, ways: ways.filter(({ part }) => part > 1e-9), bound: true };
  }
  const seen = (filled * (ready - spinners)) / ready,
    working = Math.min(filled, Math.max(seen, least)),
    low = Math.min(filled, Math.floor(working + 1e-9)),
    more = Math.max(0, working - low);
  const ways = [{ part: 1 - more, work: low, spin: filled - low }];
  if (more > 1e-9) ways.push({ part: more, work: low + 1, spin: filled - low - 1 });
  const released = working > seen ? (working - seen) / (filled - seen) : 0;
  return { filled, ready, working, released, ways, bound: false };
}

/** Executed time by kernel reason (0 is the program's own), and in how many snapshots it was seen. */
interface Executed {
  ns: number;
  seen: number;
  byReason: Map<number, number>;
}
function see(sums: Map<number, Executed>, key: number, reason: number, ns: number, seen: number): void {
  let its = sums.get(key);
  if (!its) sums.set(key, (its = { ns: 0, seen: 0, byReason: new Map<number, number>() }));
  its.ns += ns;
  its.seen += seen;
  add(its.byReason, reason, ns);
}

/** A thread's own mean counts as much as so many snapshots of the stack, which may have been seen once. */
const meanCounts = 4;

/** How the executed time on each stack divides by kernel reason. */
function kernelParts({ tuples }: RawProfile): (k: number) => ReadonlyMap<number, number> {
  const stacks = new Map<number, Executed>(),
    threads = new Map<number, Executed>();
  for (let k = 0; k < tuples.ns.length; k++) {
    if (tuples.state[k] !== State.useful || tuples.ns[k] === 0) continue;
    const reason = u8(tuples.kernel, k);
    see(stacks, u32(tuples.stack, k), reason, f64(tuples.ns, k), f64(tuples.count, k));
    see(threads, u32(tuples.thread, k), reason, f64(tuples.ns, k), f64(tuples.count, k));
  }
  const partsOf = (weighted: readonly (readonly [Executed | undefined, number])[]): Map<number, number> => {
    const present = weighted.filter(([its, weight]) => its !== undefined && its.ns > 0 && weight > 0);
    if (present.length === 0) return new Map([[KernelWork.none, 1]]);
    const all = present.reduce((sum, [, weight]) => sum + weight, 0);
    const parts = new Map<number, number>();
    for (const [its, weight] of present)
      for (const [reason, ns] of its?.byReason ?? []) add(parts, reason, (ns / (its?.ns ?? 1)) * (weight / all));
    return parts;
  };
  return (k) => {
    const stack = stacks.get(u32(tuples.stack, k));
    return partsOf([
      [stack, stack?.seen ?? 0],
      [threads.get(u32(tuples.thread, k)), meanCounts],
    ]);
  };
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

/**
 * The number of threads that certainly work at one combination of b, s and r, if the program's threads wait only for
 * each other: one of them must have been released, or all would wait forever. `enders`: the number of threads that
 * input, output, sleep, another process or something unknown may release.
 */
const leastAtWork = (b: number, enders: number): number => (b > 0 ? 0 : Math.max(0, 1 - enders));

/**
 * Properties of the objects that threads wait for. `endsWithin`: only threads of the program release the waiting
 * threads.
 */
export interface Kinds {
  isLock: (id: number) => boolean;
  endsWithin: (id: number) => boolean;
  meets: (id: number) => boolean; // threads that share work wait there for the other threads' shares
}

export function undisturbed(raw: RawProfile, { isLock, endsWithin, meets }: Kinds): RawProfile {
  const { tuples, stacks, balance, head } = raw;
  const key = (b: number, s: number, r: number): number => (b * (head.processors + 1) + s) * 2 ** 32 + r;
  const keyOf = (k: number): number => key(u16(tuples.busy, k), u16(tuples.spinning, k), u32(tuples.runnable, k));
  const readyNs = new Map<number, number>(),
    spinnersNs = new Map<number, number>(),
    endersNs = new Map<number, number>(), // by b, s and r
    elapsedNs = new Map<number, number>();
  for (let k = 0; k < tuples.ns.length; k++) {
    const isKeptWaiting = isKept(raw, isLock, k),
      isWaiting = tuples.waiting[k] === Waiting.object;
    if (isWaiting ? !endsWithin(u32(stacks.entity, u32(tuples.stack, k))) : isEnder(raw, k) && !isKeptWaiting)
      add(endersNs, keyOf(k), f64(tuples.ns, k));
    if (!isKeptWaiting) continue;
    add(readyNs, keyOf(k), f64(tuples.ns, k));
    if (isWaiting) add(spinnersNs, keyOf(k), f64(tuples.ns, k));
  }
  const groups = new Map<number, Group>();
  const unchanged = groupOf(0, 0, 0, 0, 0);
  const lock = lockBoundOf(raw);
  const rows: Row[] = [];
  for (let k = 0; k < balance.ns.length; k++) {
    const b = u16(balance.busy, k),
      s = u16(balance.spinning, k),
      ns = f64(balance.ns, k),
      at = key(b, s, u32(balance.runnable, k));
    const on = (of: ReadonlyMap<number, number>): number => (of.get(at) ?? 0) / ns;
    const group =
      ns > 0
        ? groupOf(
            head.processors - b - s,
            on(readyNs),
            on(spinnersNs),
            leastAtWork(b, on(endersNs)),
            Math.max(0, (lock?.most ?? Infinity) - b),
          )
        : unchanged;
    groups.set(at, group);
    add(elapsedNs, at, ns);
    for (const { part, work, spin } of group.ways)
      rows.push({ from: k, at: k, busy: b + work, spinning: s + spin, ns: ns * part });
  }
  const its = threadRows(raw, isLock, lock, (k) => groups.get(keyOf(k)) ?? unchanged);
  const waitOverlap = overlapsOf(raw, its, meets, keyOf, (at) => elapsedNs.get(at) ?? Infinity);
  return {
    ...raw,
    head: { ...head, cpuWaitNs: waitedOf(raw) }, // how long they really waited
    tuples: {
      ...pick(tuples, its),
      state: Uint8Array.from(its, (row) => row.state),
      kernel: Uint8Array.from(its, (row) => row.kernel),
    },
    balance: pick(balance, rows),
    waitOverlap,
  };
}

/**
 * Whether the thread may continue without another one of the program: after sleep, input or output, or because it has
 * been woken for a lock that may be free.
 */
const isEnder = ({ tuples }: RawProfile, k: number): boolean =>
  tuples.state[k] === State.io || tuples.waiting[k] === Waiting.woken;

/** The threads' states in each of the ways in which the CPUs would have been used. */
function threadRows(
  raw: RawProfile,
  isLock: (id: number) => boolean,
  lock: LockBound | null,
  groupAt: (k: number) => Group,
): ThreadRow[] {
  const its: ThreadRow[] = [];
  const partsOf = kernelParts(raw);
  const usual = usualWorkOf(raw);
  for (let k = 0; k < raw.tuples.ns.length; k++)
    addRows(its, raw, k, groupAt(k), isKept(raw, isLock, k), lock, partsOf, usual);
  return its;
}

function addRows(
  its: ThreadRow[],
  { tuples }: RawProfile,
  k: number,
  { filled, ready, working, released, ways, bound }: Group,
  isReady: boolean,
  lock: LockBound | null,
  partsOf: ReturnType<typeof kernelParts>,
  usual: Usual,
): void {
  // the share of a ready thread's time in which it has a CPU in the estimate
  const attributed = isReady && ready > 0 ? Math.min(1, filled / ready) : 0;
  const pieces = usual.piecesOf(u32(tuples.thread, k));
  const spins = tuples.waiting[k] === Waiting.object;
  const goesOn = spins ? released : 1; // the share in which it works instead of waiting
  // the share of that work that is on other stacks
  const elsewhere = spins && pieces.length > 0 ? 1 : usual.wokenPart(k);
  for (const { part, work, spin } of ways) {
    const row = { at: k, busy: u16(tuples.busy, k) + work, spinning: u16(tuples.spinning, k) + spin };
    const emit = (from: number, state: number, ns: number, kernel: number, gained: boolean): void => {
      if (ns > 0) its.push({ ...row, from, state, kernel, ns, gained });
    };
    const ns = f64(tuples.ns, k) * part;
    const waitsAt = bound && isReady ? lock?.waitsAt(u32(tuples.thread, k)) : undefined;
    if (waitsAt === undefined) emit(k, u8(tuples.state, k), ns * (1 - attributed), u8(tuples.kernel, k), false);
    else emit(waitsAt, State.blocked, ns * (1 - attributed), 0, false);
    if (attributed === 0) continue;
    if (spins && filled > working)
      emit(k, State.spinning, (ns * attributed * (1 - released) * spin) / (filled - working), 0, false);
    const workNs = working > 0 ? (ns * attributed * goesOn * work) / working : 0;
    for (const [kernel, of] of partsOf(k)) emit(k, State.useful, workNs * (1 - elsewhere) * of, kernel, true);
    for (const { row: from, part: of } of pieces)
      emit(from, State.useful, workNs * elsewhere * of, u8(tuples.kernel, from), true);
  }
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
          : name === 'runnable'
            ? f64(column, row.at)
            : name === 'spinning'
              ? row.spinning
              : name === 'ns'
                ? row.ns
                : name === 'runnableNs' && row.at !== row.from
                  ? (row.ns * f64(column, row.at)) / f64(table.ns, row.at)
                  : parts.has(name) && whole > 0
                    ? (value * row.ns) / whole
                    : value;
    });
    return [name, made] as const;
  });
  return Object.fromEntries(columns) as unknown as Table;
}
