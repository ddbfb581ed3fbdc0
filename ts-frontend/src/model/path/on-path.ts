/** How long each entity is on the time path (docs/reference/path.md). Pure. */
import type { Model } from '../result/types.js';
import { timePathOf } from './time-path.js';

const known = new WeakMap<Model, ReadonlyMap<number, number> | null>();

/**
 * Nanoseconds of the path by entity, inclusive: the entity is on the stack of the path's thread, or is that thread, or
 * is what it waited for. Entities that are not on the path are missing. null: no path was recorded.
 */
export function onPathOf(model: Model): ReadonlyMap<number, number> | null {
  let found = known.get(model);
  if (found === undefined) {
    const path = timePathOf(model);
    found = path && new Map(path.entities.map(({ entity, onPathNs }) => [entity, onPathNs]));
    known.set(model, found);
  }
  return found;
}

/** The length of the path, which while the program runs is known up to at most a second ago; 0: there is none. */
export const pathLength = ({ raw }: Model): number => raw.onPath.ns.reduce((sum, ns) => sum + ns, 0);
