/**
 * Loops and source lines on the paths of a profile: scopes within a procedure that views of calling contexts and the
 * source view show, and that all other tables and findings leave out. Pure.
 */
import { item, u32 } from './columns.js';
import { PairIndex } from './pair-index.js';
import type { EntityKind, RawProfile } from './raw-profile.js';

type CodeKind = 'code-loop' | 'code-line';

/** Whether entities of that kind are places in a procedure's code. */
export const isCode = (kind: EntityKind): kind is CodeKind => kind === 'code-loop' || kind === 'code-line';

/**
 * The same profile with the time of places of kind `without` attributed to what contains them; the same object if it
 * has none.
 */
export function withoutCode(raw: RawProfile, without: CodeKind): RawProfile {
  const isLeftOut = Uint8Array.from(raw.entities, ({ kind }) => (kind === without ? 1 : 0));
  if (!isLeftOut.includes(1)) return raw;
  const { stack, nodes } = withoutNodes(raw, isLeftOut);
  return withStacks(raw, stack, nodes);
}

/** The same profile with another tree of stacks; `stack`: for each old node the new one that replaces it. */
export function withStacks(raw: RawProfile, stack: Uint32Array, nodes: RawProfile['stacks']): RawProfile {
  // Every table with a stack column is converted: in a table left out, stacks would silently refer to other nodes.
  const moved = Object.entries(raw).flatMap(([name, table]: [string, unknown]) =>
    hasStacks(table) ? [[name, { ...table, stack: table.stack.map((node) => stack[node] ?? 0) }]] : [],
  );
  return { ...raw, ...(Object.fromEntries(moved) as Partial<RawProfile>), stacks: nodes };
}

const hasStacks = (table: unknown): table is { stack: Uint32Array } =>
  typeof table === 'object' && table !== null && 'stack' in table && table.stack instanceof Uint32Array;

/** The procedure that contains a loop or line; any other entity itself. */
export function procedureOf(raw: RawProfile, entity: number): number {
  const its = item(raw.entities, entity);
  return isCode(its.kind) ? its.record : entity;
}

/** The tree of stacks without nodes of these entities, and for each old node the new one that replaces it. */
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
