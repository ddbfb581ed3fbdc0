/**
 * The tree of stacks, prepared for charging: which node is the first of its entity on its path (an entity is
 * charged once a thread, however often it is on the stack), and which procedure is innermost. Pure.
 */
import type { RawProfile } from './raw.js';

export interface Stacks {
  count: number;
  parent: Uint32Array;
  entity: Uint32Array;
  /** 1 where no ancestor has the same entity. */
  first: Uint8Array;
  /** 1 where no ancestor has an entity of the same group; 0 where the entity has no group. */
  firstOfGroup: Uint8Array;
  /** Entity of the innermost procedure, 0 = none. */
  procedure: Uint32Array;
}

export function prepareStacks(raw: RawProfile, groupOf: Uint32Array): Stacks {
  const { parent, entity } = raw.stacks;
  const count = Math.max(1, parent.length);
  const first = new Uint8Array(count);
  const firstOfGroup = new Uint8Array(count);
  const procedure = new Uint32Array(count);
  for (let n = 1; n < count; n++) {
    const e = entity[n]!;
    const group = groupOf[e]!;
    let fresh = 1;
    let freshGroup = group === 0 ? 0 : 1;
    for (let up = parent[n]!; up !== 0 && (fresh | freshGroup) !== 0; up = parent[up]!) {
      if (entity[up]! === e) { fresh = 0; freshGroup = 0; break; }
      if (group !== 0 && groupOf[entity[up]!]! === group) freshGroup = 0;
    }
    first[n] = fresh;
    firstOfGroup[n] = freshGroup;
    procedure[n] = raw.entities[e]!.kind === 'procedure' ? e : procedure[parent[n]!]!;
  }
  return { count, parent, entity, first, firstOfGroup, procedure };
}

/** Entities from the root of a stack to its top. */
export function pathOf(stacks: Stacks, node: number): number[] {
  const path: number[] = [];
  for (let n = node; n !== 0; n = stacks.parent[n]!) path.push(stacks.entity[n]!);
  return path.reverse();
}
