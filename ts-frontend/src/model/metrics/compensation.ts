/** Subtracts the cost of hooks from the processor times. Formula: docs/reference/model.md, "Compensation". Pure. */
import { addAt, f64, u16, u32, u8 } from '../profile/columns.js';
import type { RawEntity, RawHead, RawProfile } from '../profile/raw-profile.js';
import { State } from '../profile/raw-profile.js';
import type { Stacks } from '../profile/stack-tree.js';
import type { Compensation } from '../result/types.js';
import { isLockKind } from '../profile/lock-kinds.js';

export interface Factors {
  /** By entity of the innermost procedure: the fraction of its useful time that remains. */
  useful: Float64Array;
  overhead: number;
  clampedNs: number;
  calls: number;
}

/**
 * The cost of a hook and of a lock operation in ps: the mean of the measured bounds. Its error is at most half of their
 * distance.
 */
const hookPs = ({ hookLeastPs, hookMostPs }: RawHead): number => (hookLeastPs + hookMostPs) / 2;
const lockPs = ({ lockLeastPs, lockMostPs }: RawHead): number => (lockLeastPs + lockMostPs) / 2;

/** The parts of a profile that these functions need. */
type Compensated = Pick<RawProfile, 'head' | 'calls'> & {
  entities: readonly Pick<RawEntity, 'kind'>[];
  tuples: Pick<RawProfile['tuples'], 'stack' | 'state' | 'busy' | 'ns'>;
};

export function factorsOf(raw: Compensated, stacks: Pick<Stacks, 'procedure'>, apply: boolean): Factors {
  const useful = new Float64Array(raw.entities.length).fill(1);
  if (!apply) return { useful, overhead: 1, clampedNs: 0, calls: 0 };
  const { head, calls, tuples } = raw;
  const inside = head.hookInsidePs / 1000;
  const outside = Math.max(0, hookPs(head) - head.hookInsidePs) / 1000;

  const cost = new Float64Array(raw.entities.length);
  let counted = 0;
  for (let k = 0; k < calls.count.length; k++) {
    const kind = raw.entities[u32(calls.callee, k)]?.kind;
    if (kind === 'procedure') {
      addAt(cost, u32(calls.callee, k), f64(calls.count, k) * inside);
      addAt(cost, u32(calls.caller, k), f64(calls.count, k) * outside);
      counted += f64(calls.count, k);
    } else if (kind !== undefined && isLockKind(kind)) {
      addAt(cost, u32(calls.caller, k), (f64(calls.count, k) * lockPs(head)) / 1000);
    }
  }

  const time = new Float64Array(raw.entities.length);
  let overheadNs = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    if (u8(tuples.state, k) === State.useful)
      addAt(time, u32(stacks.procedure, u32(tuples.stack, k)), f64(tuples.ns, k));
    else if (u8(tuples.state, k) === State.overhead) overheadNs += f64(tuples.ns, k);
  }

  let clampedNs = f64(cost, 0); // unknown callers: there is no time to subtract it from
  for (let e = 1; e < useful.length; e++) {
    if (f64(cost, e) === 0) continue;
    const taken = Math.min(f64(cost, e), f64(time, e));
    clampedNs += f64(cost, e) - taken;
    if (f64(time, e) > 0) useful[e] = 1 - taken / f64(time, e);
  }
  const spawnCost = (head.spawns * head.spawnPs) / 1000;
  const spawnTaken = Math.min(spawnCost, overheadNs);
  clampedNs += spawnCost - spawnTaken;
  return { useful, overhead: overheadNs > 0 ? 1 - spawnTaken / overheadNs : 1, clampedNs, calls: counted };
}

/** The weight of every tuple after compensation, in ns. */
export function weightsOf(
  raw: Pick<Compensated, 'tuples'>,
  stacks: Pick<Stacks, 'procedure'>,
  factors: Factors,
): { ns: Float64Array; compensation: Compensation } {
  const { tuples } = raw;
  const ns = new Float64Array(tuples.ns.length);
  let processorTimeNs = 0;
  let elapsedNs = 0;
  for (let k = 0; k < ns.length; k++) {
    const state = u8(tuples.state, k);
    const factor =
      state === State.useful
        ? f64(factors.useful, u32(stacks.procedure, u32(tuples.stack, k)))
        : state === State.overhead
          ? factors.overhead
          : 1;
    ns[k] = f64(tuples.ns, k) * factor;
    if (factor !== 1) {
      processorTimeNs += f64(tuples.ns, k) - f64(ns, k);
      elapsedNs += (f64(tuples.ns, k) - f64(ns, k)) / Math.max(1, u16(tuples.busy, k));
    }
  }
  return {
    ns,
    compensation: {
      applied: processorTimeNs > 0,
      processorTimeNs,
      elapsedNs,
      clampedNs: factors.clampedNs,
      calls: factors.calls,
    },
  };
}
