/**
 * The calling context tree: a node for each path of procedures and objects. Entities with the same name share nodes,
 * and direct recursion is one node (its time is charged once, as in every other table). The tree is built once; the
 * three views read it. Pure.
 */
import { addAt, countAt, f64, u32 } from '../profile/columns.js';
import { PairIndex } from '../profile/pair-index.js';
import type { Tables } from '../metrics/tables.js';
import type { RawProfile } from '../profile/raw-profile.js';
import type { Stacks } from '../profile/stack-tree.js';
import { costCount, exclusiveCosts, type Costs } from './costs.js';

export interface ContextTree {
  count: number;
  /** By node: its parent, which has a smaller number; node 0 is the whole program and its own parent. */
  parent: Uint32Array;
  /** By node: an entity of the model, groups instead of their members; 0 for node 0. */
  entity: Uint32Array;
  /** By node: 1 if it also stands for direct recursive calls. */
  recursive: Uint8Array;
  /** Costs of a node alone, and with all its descendants: index node * costCount + column. */
  self: Float64Array;
  total: Float64Array;
  /** Children of node n are child[first[n] .. first[n + 1]). */
  first: Uint32Array;
  child: Uint32Array;
}

export function contextTree(
  raw: RawProfile,
  stacks: Stacks,
  { groupOf, ...tables }: Pick<Tables, 'groupOf' | 'weights' | 'overhead'>,
): ContextTree {
  const exclusive = exclusiveCosts(raw, stacks, tables);
  const shown = new Uint32Array(stacks.count); // the node of this tree for each node of the profile's tree
  const parent = new Uint32Array(stacks.count);
  const entity = new Uint32Array(stacks.count);
  const recursive = new Uint8Array(stacks.count);
  const known = new PairIndex(stacks.count); // by parent and entity
  let count = 1;
  for (let n = 1; n < stacks.count; n++) {
    const e = u32(stacks.entity, n);
    const group = u32(groupOf, e);
    const its = group === 0 ? e : group;
    const up = u32(shown, u32(stacks.parent, n));
    if (up !== 0 && entity[up] === its) {
      recursive[up] = 1;
      shown[n] = up;
      continue;
    }
    const node = known.findOrAdd(up, its, count);
    if (node === count) {
      count++;
      parent[node] = up;
      entity[node] = its;
    }
    shown[n] = node;
  }

  const self = new Float64Array(count * costCount);
  for (let n = 0; n < stacks.count; n++) addCosts(self, u32(shown, n), exclusive, n);
  const total = self.slice();
  for (let n = count - 1; n > 0; n--) addCosts(total, u32(parent, n), total, n);
  return {
    count,
    parent: parent.subarray(0, count),
    entity: entity.subarray(0, count),
    recursive: recursive.subarray(0, count),
    self,
    total,
    ...childrenOf(parent, count),
  };
}

/** Adds row `from` of `costs` to row `to` of `sums`. */
export function addCosts(sums: Float64Array, to: number, costs: Float64Array, from: number): void {
  for (let k = 0, at = to * costCount, its = from * costCount; k < costCount; k++) {
    const amount = f64(costs, its + k);
    if (amount !== 0) addAt(sums, at + k, amount);
  }
}

export const costsAt = (costs: Float64Array, row: number): Costs =>
  costs.subarray(row * costCount, (row + 1) * costCount);

function childrenOf(parent: Uint32Array, count: number): Pick<ContextTree, 'first' | 'child'> {
  const first = new Uint32Array(count + 1);
  for (let n = 1; n < count; n++) countAt(first, u32(parent, n) + 1);
  for (let n = 0; n < count; n++) countAt(first, n + 1, u32(first, n));
  const next = first.slice();
  const child = new Uint32Array(Math.max(0, count - 1));
  for (let n = 1; n < count; n++) {
    const up = u32(parent, n);
    child[u32(next, up)] = n;
    countAt(next, up);
  }
  return { first, child };
}

/** Visits the nodes depth first: `enter` before all descendants of a node, `leave` after them. */
export function walkTree(tree: ContextTree, enter: (node: number) => void, leave: (node: number) => void): void {
  const path = [0];
  const next = [tree.first[0] ?? 0];
  enter(0);
  while (path.length > 0) {
    const node = path[path.length - 1] ?? 0;
    const at = next[next.length - 1] ?? 0;
    if (at < (tree.first[node + 1] ?? 0)) {
      next[next.length - 1] = at + 1;
      const below = tree.child[at] ?? 0;
      path.push(below);
      next.push(tree.first[below] ?? 0);
      enter(below);
    } else {
      path.pop();
      next.pop();
      leave(node);
    }
  }
}
