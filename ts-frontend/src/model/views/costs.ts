/**
 * The costs of a context: the columns of all three views, side by side in one row. Each is a sum over tuples, so parts
 * add up to their whole in every column. Definitions: docs/reference/metrics.md, sections 3 and 4. Pure.
 */
import { addAt, f64, item, u16, u32, u8 } from '../profile/columns.js';
import { guidanceOf } from '../metrics/effort.js';
import { isOverheadKnown } from '../metrics/overhead.js';
import type { Tables } from '../metrics/tables.js';
import type { RawProfile } from '../profile/raw-profile.js';
import { counterKinds, type CounterName } from '../profile/abi.js';
import { State } from '../profile/raw-profile.js';
import type { Stacks } from '../profile/stack-tree.js';
import { overheadKinds, type Guidance } from '../result/effort.js';
import type { Model } from '../result/types.js';

/** In ns: `npt` is elapsed time, `onPath` time on the time path, all others are processor or thread time. */
export const costNames = [
  'npt',
  'time',
  'idle',
  'spin',
  'overhead',
  ...overheadKinds,
  'spinning',
  'ready',
  'blocked',
  'io',
  'onPath',
] as const;
export type CostName = (typeof costNames)[number];
/** Event counts; only in profiles in which they were counted. */
export const counterNames = Object.keys(counterKinds) as CounterName[];
export type AmountName = CostName | CounterName;
export const amountNames: readonly AmountName[] = [...costNames, ...counterNames];
/** In the order of amountNames. */
export type Costs = Float64Array;
export const costCount = amountNames.length;
export const costIndex = Object.fromEntries(amountNames.map((name, index) => [name, index])) as Record<
  AmountName,
  number
>;

/** The column for a state in which a thread does not work; -1: none. */
const offCpu = new Int8Array(256).fill(-1);
offCpu[State.spinning] = costIndex.spinning;
offCpu[State.ready] = costIndex.ready;
offCpu[State.blocked] = costIndex.blocked;
offCpu[State.io] = costIndex.io;

/** The column for each kind of overhead, numbered as in overheadOf. */
const ofOverhead = Int8Array.from([-1, ...overheadKinds.map((kind) => costIndex[kind])]);

/**
 * Costs of each node of the tree of stacks alone, without its descendants: index node * costCount + column. `weights`
 * and `kinds` are the ns and the kind of overhead of each tuple.
 */
export function exclusiveCosts(
  { tuples, onPath, counted, head }: RawProfile,
  stacks: Pick<Stacks, 'count'>,
  { weights, overhead: kinds }: Pick<Tables, 'weights' | 'overhead'>,
): Float64Array {
  const costs = new Float64Array(stacks.count * costCount);
  const { npt, time, idle, spin, overhead } = costIndex;
  const P = head.processors;
  for (let k = 0; k < onPath.ns.length; k++)
    addAt(costs, u32(onPath.stack, k) * costCount + costIndex.onPath, f64(onPath.ns, k));
  for (let k = 0; k < counted.amount.length; k++)
    addAt(
      costs,
      u32(counted.stack, k) * costCount + costNames.length + u32(counted.counter, k),
      f64(counted.amount, k),
    );
  for (let k = 0; k < tuples.ns.length; k++) {
    const state = u8(tuples.state, k),
      ns = f64(weights, k),
      at = u32(tuples.stack, k) * costCount;
    if (state === State.useful || state === State.overhead) {
      const busy = Math.min(P, Math.max(1, u16(tuples.busy, k)));
      const spinning = u16(tuples.spinning, k);
      const kind = u8(kinds, k);
      addAt(costs, at + npt, ns / busy);
      addAt(costs, at + time, ns);
      addAt(costs, at + idle, (ns * Math.max(0, P - busy - spinning)) / busy);
      addAt(costs, at + spin, (ns * spinning) / busy);
      if (kind === 0) continue;
      addAt(costs, at + overhead, ns);
      addAt(costs, at + item(ofOverhead, kind), ns);
    } else {
      const column = item(offCpu, state);
      if (column >= 0) addAt(costs, at + column, ns);
    }
  }
  return costs;
}

/** The effort of a context: work, idleness and spin blame. */
export const effortOfCosts = (costs: Costs): number =>
  f64(costs, costIndex.time) + f64(costs, costIndex.idle) + f64(costs, costIndex.spin);

/**
 * Guidance on the division of a context's work, from the parts of its effort; null: not known, or nothing ran there.
 */
export function guidanceOfCosts({ raw }: Pick<Model, 'raw'>, costs: Costs): Guidance | null {
  const effort = effortOfCosts(costs);
  if (effort <= 0 || !isOverheadKnown(raw)) return null;
  const waiting = f64(costs, costIndex.idle) + f64(costs, costIndex.spin);
  return guidanceOf(waiting / effort, f64(costs, costIndex.overhead) / effort);
}
