/**
 * What a context costs: the columns of all three views, as they stand beside each other in one row. Each is a sum over
 * tuples, so parts add up to their whole in every column. Definitions: docs/reference/metrics.md, sections 3 and 4.
 * Pure.
 */
import type { RawProfile } from '../profile/raw-profile.js';
import { State } from '../profile/raw-profile.js';
import type { Stacks } from '../profile/stack-tree.js';

/** Nanoseconds, each; `npt` of elapsed time, `onPath` of the time path, the others of processor or thread time. */
export const costNames = [
  'npt',
  'time',
  'idle',
  'spin',
  'overhead',
  'spinning',
  'ready',
  'blocked',
  'io',
  'onPath',
] as const;
export type CostName = (typeof costNames)[number];
/** By the order of costNames. */
export type Costs = Float64Array;
export const costCount = costNames.length;
export const costIndex = Object.fromEntries(costNames.map((name, index) => [name, index])) as Record<CostName, number>;

const offCpu: Readonly<Record<number, CostName>> = {
  [State.spinning]: 'spinning',
  [State.ready]: 'ready',
  [State.blocked]: 'blocked',
  [State.io]: 'io',
};

/** Costs of each node of the tree of stacks alone, without what lies below: node * costCount + column. */
export function exclusiveCosts(raw: RawProfile, stacks: Stacks, weights: Float64Array): Float64Array {
  const { tuples, onPath, head } = raw;
  const costs = new Float64Array(stacks.count * costCount);
  const P = head.processors;
  const addTo = (stack: number, name: CostName, amount: number): void => {
    const at = stack * costCount + costIndex[name];
    costs[at] = (costs[at] ?? 0) + amount;
  };
  onPath.stack.forEach((stack, k) => {
    addTo(stack, 'onPath', onPath.ns[k] ?? 0);
  });
  tuples.stack.forEach((stack, k) => {
    const state = tuples.state[k] ?? 0;
    const ns = weights[k] ?? 0;
    const add = (name: CostName, amount: number): void => {
      addTo(stack, name, amount);
    };
    if (state === State.useful || state === State.overhead) {
      const busy = Math.min(P, Math.max(1, tuples.busy[k] ?? 0));
      const spinning = tuples.spinning[k] ?? 0;
      add('npt', ns / busy);
      add('time', ns);
      add('idle', (ns * Math.max(0, P - busy - spinning)) / busy);
      add('spin', (ns * spinning) / busy);
      if (state === State.overhead) add('overhead', ns);
    } else {
      const name = offCpu[state];
      if (name !== undefined) add(name, ns);
    }
  });
  return costs;
}
