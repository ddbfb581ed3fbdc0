/**
 * Loops of code on the paths of a profile: scopes within a procedure, which views of calling contexts show, and which
 * the other tables and findings leave out. Pure.
 */
import type { RawProfile } from './raw-profile.js';

const isLoop = (raw: RawProfile, entity: number): boolean => raw.entities[entity]?.kind === 'code-loop';

/**
 * The same profile with all time of a loop at the procedure, or object, that it is in; itself where it has no loops.
 */
export function withoutCodeLoops(raw: RawProfile): RawProfile {
  if (!raw.entities.some(({ kind }) => kind === 'code-loop')) return raw;
  const { stack, nodes } = withoutLoopNodes(raw);
  const moved = (column: Uint32Array): Uint32Array => column.map((node) => stack[node] ?? 0);
  return {
    ...raw,
    stacks: nodes,
    tuples: { ...raw.tuples, stack: moved(raw.tuples.stack) },
    blame: { ...raw.blame, stack: moved(raw.blame.stack) },
    meanwhile: { ...raw.meanwhile, stack: moved(raw.meanwhile.stack) },
    onPath: { ...raw.onPath, stack: moved(raw.onPath.stack) },
    segments: { ...raw.segments, stack: moved(raw.segments.stack) },
    timeline: { ...raw.timeline, top: raw.timeline.top.map((entity) => procedureOf(raw, entity)) },
  };
}

/** The procedure whose source a loop is in; anything else: itself. */
export function procedureOf(raw: RawProfile, entity: number): number {
  return isLoop(raw, entity) ? (raw.entities[entity]?.record ?? 0) : entity;
}

/** The tree of stacks without nodes of loops, and for each node the one that stands for it there. */
function withoutLoopNodes(raw: RawProfile): { stack: Uint32Array; nodes: RawProfile['stacks'] } {
  const { parent, entity } = raw.stacks;
  const stack = new Uint32Array(parent.length);
  const nodes = { parent: new Uint32Array(parent.length), entity: new Uint32Array(parent.length) };
  const known = new Map<number, number>(); // by parent and entity
  let count = Math.min(1, parent.length);
  for (let n = 1; n < parent.length; n++) {
    const up = stack[parent[n] ?? 0] ?? 0;
    const its = entity[n] ?? 0;
    if (isLoop(raw, its)) {
      stack[n] = up;
      continue;
    }
    const key = up * raw.entities.length + its;
    let node = known.get(key);
    if (node === undefined) {
      known.set(key, (node = count++));
      nodes.parent[node] = up;
      nodes.entity[node] = its;
    }
    stack[n] = node;
  }
  return { stack, nodes: { parent: nodes.parent.subarray(0, count), entity: nodes.entity.subarray(0, count) } };
}
