/** Takes the cost of the hooks out of the processor times. Formula: docs/reference/model.md, "Compensation". Pure. */
import type { RawHead, RawProfile } from '../profile/raw-profile.js';
import { State } from '../profile/raw-profile.js';
import type { Stacks } from '../profile/stack-tree.js';
import type { Compensation } from '../result/types.js';

export interface Factors {
  /** By entity of the innermost procedure: what remains of its useful time. */
  useful: Float64Array;
  overhead: number;
  clampedNs: number;
  calls: number;
}

/**
 * A hook and a lock: which of the bounds holds is not known, the mean is never wrong by more than half of what is
 * between them.
 */
const hookPs = ({ hookLeastPs, hookMostPs }: RawHead): number => (hookLeastPs + hookMostPs) / 2;
const lockPs = ({ lockLeastPs, lockMostPs }: RawHead): number => (lockLeastPs + lockMostPs) / 2;

const lockKinds = new Set(['mutex', 'rwlock', 'spinlock']);

export function factorsOf(raw: RawProfile, stacks: Stacks, apply: boolean): Factors {
  const useful = new Float64Array(raw.entities.length).fill(1);
  if (!apply) return { useful, overhead: 1, clampedNs: 0, calls: 0 };
  const { head, calls, tuples } = raw;
  const inside = head.hookInsidePs / 1000;
  const outside = Math.max(0, hookPs(head) - head.hookInsidePs) / 1000;

  const cost = new Float64Array(raw.entities.length);
  let counted = 0;
  for (let k = 0; k < calls.count.length; k++) {
    const kind = raw.entities[calls.callee[k]!]?.kind;
    if (kind === 'procedure') {
      cost[calls.callee[k]!]! += calls.count[k]! * inside;
      cost[calls.caller[k]!]! += calls.count[k]! * outside;
      counted += calls.count[k]!;
    } else if (kind !== undefined && lockKinds.has(kind)) {
      cost[calls.caller[k]!]! += (calls.count[k]! * lockPs(head)) / 1000;
    }
  }

  const time = new Float64Array(raw.entities.length);
  let overheadNs = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    if (tuples.state[k]! === State.useful) time[stacks.procedure[tuples.stack[k]!]!]! += tuples.ns[k]!;
    else if (tuples.state[k]! === State.overhead) overheadNs += tuples.ns[k]!;
  }

  let clampedNs = cost[0]!; // callers that are not known: nothing to take it from
  for (let e = 1; e < useful.length; e++) {
    if (cost[e]! === 0) continue;
    const taken = Math.min(cost[e]!, time[e]!);
    clampedNs += cost[e]! - taken;
    if (time[e]! > 0) useful[e] = 1 - taken / time[e]!;
  }
  const spawnCost = (head.spawns * head.spawnPs) / 1000;
  const spawnTaken = Math.min(spawnCost, overheadNs);
  clampedNs += spawnCost - spawnTaken;
  return { useful, overhead: overheadNs > 0 ? 1 - spawnTaken / overheadNs : 1, clampedNs, calls: counted };
}

/** Weight of every tuple after compensation. */
export function weightsOf(
  raw: RawProfile,
  stacks: Stacks,
  factors: Factors,
): { ns: Float64Array; compensation: Compensation } {
  const { tuples } = raw;
  const ns = new Float64Array(tuples.ns.length);
  let processorTimeNs = 0;
  let elapsedNs = 0;
  for (let k = 0; k < ns.length; k++) {
    const state = tuples.state[k]!;
    const factor =
      state === State.useful
        ? factors.useful[stacks.procedure[tuples.stack[k]!]!]!
        : state === State.overhead
          ? factors.overhead
          : 1;
    ns[k] = tuples.ns[k]! * factor;
    if (factor !== 1) {
      processorTimeNs += tuples.ns[k]! - ns[k]!;
      elapsedNs += (tuples.ns[k]! - ns[k]!) / Math.max(1, tuples.busy[k]!);
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
