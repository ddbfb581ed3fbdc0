/**
 * Loops and source lines of code on the paths of a profile: scopes within a procedure, which views of calling contexts
 * and the source show, and which the other tables and findings leave out. Pure.
 */
import { item, u32 } from './columns.js';
import { PairIndex } from './pair-index.js';
import type { EntityKind, RawProfile } from './raw-profile.js';

export type CodeKind = 'code-loop' | 'code-line';

/** Whether an entity of that kind is a place in a procedure's code. */
export const isCode = (kind: EntityKind): kind is CodeKind => kind === 'code-loop' || kind === 'code-line';

/** The same profile with all time of such places at what they are in; itself where it has none of them. */
export function withoutCode(raw: RawProfile, without: CodeKind): RawProfile {
  const isLeftOut = Uint8Array.from(raw.entities, ({ kind }) => (kind === without ? 1 : 0));
  if (!isLeftOut.includes(1)) return raw;
  const { stack, nodes } = withoutNodes(raw, isLeftOut);
  // Of every table that has stacks: one that were forgotten would be of other procedures, in silence.
  const moved = Object.entries(raw).flatMap(([name, table]: [string, unknown]) =>
    hasStacks(table) ? [[name, { ...table, stack: table.stack.map((node) => stack[node] ?? 0) }]] : [],
  );
  return { ...raw, ...(Object.fromEntries(moved) as Partial<RawProfile>), stacks: nodes };
}

const hasStacks = (table: unknown): table is { stack: Uint32Array } =>
  typeof table === 'object' && table !== null && 'stack' in table && table.stack instanceof Uint32Array;

/** The procedure whose code a loop or line is in; anything else: itself. */
export function procedureOf(raw: RawProfile, entity: number): number {
  const its = item(raw.entities, entity);
  return isCode(its.kind) ? its.record : entity;
}

/** The tree of stacks without nodes of these entities, and for each node the one that stands for it there. */
function withoutNodes(raw: RawProfile, isLeftOut: Uint8Array): { stack: Uint32Array; nodes: RawProfile['stacks'] } {
  const { parent, entity } = raw.stacks;
  const stack = new Uint32Array(parent.length);
  const nodes = { parent: new Uint32Array(parent.length), entity: new Uint32Array(parent.length) };
  const known = new PairIndex(parent.length); // by parent and entity
  let count = Math.min(1, parent.length);
  for (let n = 1; n < parent.length; n++) {
    const up = u32(stack, u32(parent, n));
    const its = u32(entity, n);
    if (isLeftOut[its] === 1) {
      stack[n] = up;
      continue;
    }
    const node = known.findOrAdd(up, its, count);
    if (node === count) {
      count++;
      nodes.parent[node] = up;
      nodes.entity[node] = its;
    }
    stack[n] = node;
  }
  return { stack, nodes: { parent: nodes.parent.subarray(0, count), entity: nodes.entity.subarray(0, count) } };
}
