/**
 * Statistics of synchronization objects: waiting (exact), holding, queues, waiters and holders. Computed on demand.
 * Pure.
 */
import { addAt, f64, item, u32, u8 } from '../profile/columns.js';
import type { ObjectKind, RawObject, RawProfile } from '../profile/raw-profile.js';
import { noObject } from '../profile/empty-columns.js';
import { Waiting } from '../profile/raw-profile.js';
import { queueDistribution, timeDistribution } from '../profile/buckets.js';
import { isLockKind } from '../profile/lock-kinds.js';
import type { Tables } from './tables.js';
import type { RowsBy } from '../profile/row-index.js';
import { rowsBy, rowsOfKey } from '../profile/row-index.js';
import { pathOf } from '../profile/stack-tree.js';
import { isWaiting, stateCount } from './sums.js';
import type { ObjectStats, PathTime } from '../result/types.js';

/** The maximum number of paths per object, longest time first. */
const pathsKept = 100;
/** Kinds of objects for which one thread can be held responsible for the waiting of others. */
const hasOwner = (kind: ObjectKind): boolean => isLockKind(kind) || kind === 'once' || kind === 'join';

function addInto(into: RawObject, from: RawObject): RawObject {
  return {
    entity: into.entity,
    capacity: Math.max(into.capacity, from.capacity),
    instances: into.instances + from.instances,
    acquisitions: into.acquisitions + from.acquisitions,
    contended: into.contended + from.contended,
    waitNs: into.waitNs + from.waitNs,
    waitMaxNs: Math.max(into.waitMaxNs, from.waitMaxNs),
    spinNs: into.spinNs + from.spinNs,
    holdNs: into.holdNs + from.holdNs,
    holdMaxNs: Math.max(into.holdMaxNs, from.holdMaxNs),
    observedNs: into.observedNs + from.observedNs,
    queueLengthNs: into.queueLengthNs + from.queueLengthNs,
    queueNs: into.queueNs.map((ns, k) => ns + f64(from.queueNs, k)),
    waitHist: into.waitHist.map((n, k) => n + u32(from.waitHist, k)),
    holdHist: into.holdHist.map((n, k) => n + u32(from.holdHist, k)),
  };
}

export class Objects {
  readonly #rows = new Map<number, RawObject[]>(); // by entity
  readonly waitNs: Float64Array; // by entity, including groups
  #waiting: RowsBy | undefined;
  #blame: RowsBy | undefined;
  #waitOverlap: RowsBy | undefined;

  constructor(
    private readonly raw: RawProfile,
    private readonly tables: Tables,
  ) {
    const { groupOf } = tables;
    this.waitNs = new Float64Array(tables.entities);
    for (const row of raw.objects) {
      addAt(this.waitNs, row.entity, row.waitNs);
      if (u32(groupOf, row.entity) !== 0) addAt(this.waitNs, u32(groupOf, row.entity), row.waitNs);
      const known = this.#rows.get(row.entity);
      if (known) known.push(row);
      else this.#rows.set(row.entity, [row]);
    }
  }

  /**
   * `members`: the entity itself, or the members if it is a group. If holding times are not exact: a lock is on the
   * stack while a thread waits for it and while it holds it, so the holding time is the time on the stack minus the
   * waiting time.
   */
  statsOf(entity: number, kind: ObjectKind, members: readonly number[]): ObjectStats {
    const {
      raw,
      tables: { sums },
    } = this;
    const rows = members.flatMap((member) => this.#rows.get(member) ?? []);
    const row = rows.length === 1 ? item(rows, 0) : rows.reduce(addInto, noObject(entity));
    const exact = raw.head.exactHold;
    let onStack = 0;
    for (let state = 0; state < stateCount; state++) onStack += f64(sums.stateNs, entity * stateCount + state);
    const sampled = isLockKind(kind) ? Math.max(0, onStack - f64(sums.waitingNs, entity)) : 0;
    const holdNs = exact ? row.holdNs : sampled;
    const isOwned = hasOwner(kind);
    // of loops, only those that the program marked are counted; in a program watched from outside, nothing is
    const counted = !raw.head.outside && kind !== 'futex' && (kind !== 'loop' || row.acquisitions > 0);
    const { waiters, holders, waitOverlap } = this;
    return {
      capacity: row.capacity,
      instances: row.instances,
      counted,
      // of futexes, those that the pthread layer saw: its count of calls that may have had to wait
      waitsCounted: counted || (kind === 'futex' && row.acquisitions > 0),
      acquisitions: row.acquisitions,
      contended: row.contended,
      waitNs: row.waitNs,
      waitMeanNs: row.contended > 0 ? row.waitNs / row.contended : 0,
      waitMaxNs: row.waitMaxNs,
      spinNs: row.spinNs,
      get waitDistribution() {
        return timeDistribution(row.waitHist);
      },
      holdNs,
      holdMeanNs: row.acquisitions > 0 ? holdNs / row.acquisitions : 0,
      holdMaxNs: exact ? row.holdMaxNs : 0,
      holdExact: exact,
      get holdDistribution() {
        return exact ? timeDistribution(row.holdHist) : [];
      },
      queueLengthMean: row.observedNs > 0 ? row.queueLengthNs / row.observedNs : 0,
      get queueLength() {
        return queueDistribution(row.queueNs);
      },
      queueObservedNs: row.observedNs,
      get waiters() {
        return waiters(members);
      },
      get holders() {
        return isOwned ? holders(members) : [];
      },
      get waitOverlap() {
        return isOwned ? [] : waitOverlap(members);
      },
      criticalByBusyNs: sums.byBusy.subarray(
        u32(sums.row, entity) * sums.processors,
        (u32(sums.row, entity) + 1) * sums.processors,
      ),
    };
  }

  readonly waiters = (members: readonly number[]): PathTime[] => {
    const { tuples } = this.raw;
    const { stacks, weights } = this.tables;
    if (!this.#waiting) {
      const wanted = new Uint8Array(tuples.ns.length);
      const object = new Uint32Array(tuples.ns.length);
      for (let k = 0; k < wanted.length; k++) {
        wanted[k] =
          tuples.waiting[k] === Waiting.object && tuples.stack[k] !== 0 && isWaiting(u8(tuples.state, k)) ? 1 : 0;
        object[k] = u32(stacks.entity, u32(tuples.stack, k));
      }
      this.#waiting = rowsBy(object, this.raw.entities.length, wanted);
    }
    const paths = new Map<number, PathTime & { stack: number }>();
    for (const member of members)
      for (const k of rowsOfKey(this.#waiting, member)) {
        const stack = u32(tuples.stack, k),
          thread = u32(tuples.thread, k);
        const key = stack * this.raw.entities.length + thread;
        const known = paths.get(key);
        if (known) known.ns += f64(weights, k);
        else paths.set(key, { path: [], thread, ns: f64(weights, k), stack });
      }
    return [...paths.values()]
      .sort((a, b) => b.ns - a.ns)
      .slice(0, pathsKept)
      .map(({ stack, thread, ns }) => ({ path: pathOf(stacks, stack), thread, ns }));
  };
  readonly holders = (members: readonly number[]): PathTime[] => {
    const { blame } = this.raw;
    this.#blame ??= rowsBy(blame.object, this.raw.entities.length);
    return this.#paths(this.#blame, blame, blame.ns, members);
  };
  readonly waitOverlap = (members: readonly number[]): PathTime[] => {
    const { waitOverlap } = this.raw;
    this.#waitOverlap ??= rowsBy(waitOverlap.object, this.raw.entities.length);
    return this.#paths(this.#waitOverlap, waitOverlap, waitOverlap.waitersNs, members);
  };

  /** Paths of these objects, longest time first. */
  #paths(index: RowsBy, table: RawProfile['blame'], ns: Float64Array, members: readonly number[]): PathTime[] {
    const rows: number[] = [];
    for (const member of members) for (const k of rowsOfKey(index, member)) if (ns[k] !== 0) rows.push(k);
    return rows
      .sort((a, b) => f64(ns, b) - f64(ns, a) || a - b)
      .slice(0, pathsKept)
      .map((k) => ({
        path: pathOf(this.tables.stacks, u32(table.stack, k)),
        thread: u32(table.thread, k),
        ns: f64(ns, k),
      }));
  }
}
