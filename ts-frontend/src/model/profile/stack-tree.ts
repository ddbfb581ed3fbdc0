/**
 * The tree of stacks, prepared for charging: an order in which every node precedes its descendants, which node is the
 * first of its entity on its path (an entity is charged once per thread, however often it is on the stack), and which
 * procedure is innermost. Pure.
 */
import { countAt, item, u32 } from './columns.js';
import type { EntityKind, RawProfile } from './raw-profile.js';

export interface Stacks {
  count: number;
  parent: Uint32Array;
  entity: Uint32Array;
  /** Nodes in depth-first order: the descendants of a node follow it without a gap. */
  order: Uint32Array;
  /** By node; 0 for the empty stack. */
  depth: Uint32Array;
  deepest: number;
  /** By node: 1 if no ancestor has the same entity. */
  first: Uint8Array;
  /** By node: 1 if no ancestor has an entity of the same group; 0 if the entity has no group. */
  firstOfGroup: Uint8Array;
  /** Entity of the innermost procedure, 0 = none. */
  procedure: Uint32Array;
  /** Innermost entity that is no loop or line of code, 0 = none: the time is its self time. */
  owner: Uint32Array;
  /** Innermost loop of code, 0 = none: the time is its self time, too. */
  loop: Uint32Array;
}

export function prepareStacks(raw: RawProfile, groupOf: Uint32Array, entities: number): Stacks {
  const { parent, entity } = raw.stacks;
  const count = Math.max(1, parent.length);
  const isOf = (kind: EntityKind): Uint8Array => Uint8Array.from(raw.entities, (one) => (one.kind === kind ? 1 : 0));
  const isProcedure = isOf('procedure'),
    isCodeLoop = isOf('code-loop'),
    isCodeLine = isOf('code-line');
  const depth = new Uint32Array(count);
  const procedure = new Uint32Array(count);
  const owner = new Uint32Array(count);
  const loop = new Uint32Array(count);
  const below = new Int32Array(count); // first child; later the position in `order`
  const beside = new Int32Array(count);
  let deepest = 0;
  for (let n = 1; n < count; n++) {
    const up = u32(parent, n),
      e = u32(entity, n);
    depth[n] = u32(depth, up) + 1;
    if (u32(depth, n) > deepest) deepest = u32(depth, n);
    procedure[n] = isProcedure[e] === 1 ? e : u32(procedure, up);
    owner[n] = isCodeLoop[e] === 1 || isCodeLine[e] === 1 ? u32(owner, up) : e;
    loop[n] = isCodeLoop[e] === 1 ? e : isCodeLine[e] === 1 ? u32(loop, up) : 0;
  }
  for (let n = count - 1; n > 0; n--) {
    beside[n] = item(below, u32(parent, n));
    below[u32(parent, n)] = n;
  }

  const order = new Uint32Array(count);
  const first = new Uint8Array(count);
  const firstOfGroup = new Uint8Array(count);
  const onPath = new Uint32Array(entities); // how often each entity, and each group, is on the path to the current node
  let n = 0;
  for (let at = 0; at < count; at++) {
    order[at] = n;
    if (n !== 0) {
      const e = u32(entity, n),
        group = u32(groupOf, e);
      first[n] = u32(onPath, e) === 0 ? 1 : 0;
      countAt(onPath, e, 1);
      if (group !== 0) {
        firstOfGroup[n] = u32(onPath, group) === 0 ? 1 : 0;
        countAt(onPath, group, 1);
      }
    }
    let next = item(below, n);
    while (next === 0 && n !== 0) {
      // no more children: go back up until a node has a sibling
      const e = u32(entity, n),
        group = u32(groupOf, e);
      countAt(onPath, e, -1);
      if (group !== 0) countAt(onPath, group, -1);
      next = item(beside, n);
      n = u32(parent, n);
    }
    n = next;
  }
  return { count, parent, entity, order, depth, deepest, first, firstOfGroup, procedure, owner, loop };
}

/** Entities of a stack, from the root to the innermost. */
export function pathOf(stacks: Stacks, node: number): number[] {
  const path: number[] = [];
  for (let n = node; n !== 0; n = u32(stacks.parent, n)) path.push(u32(stacks.entity, n));
  return path.reverse();
}
