/**
 * What code saves at most by the time path (docs/reference/path.md): time outside of the path lengthens nothing,
 * however many processors are busy with it. Pure.
 */
import { Purpose } from '../../profile/abi.js';
import { f64, item, u32 } from '../../profile/columns.js';
import { State } from '../../profile/raw-profile.js';
import type { FindingContext } from '../context.js';
import { pathsThrough } from './paths-through.js';
import { isFor } from '../purposes.js';

/**
 * Time on the path in this procedure, or that work elsewhere may lengthen: the path's thread waits for a CPU; it sleeps
 * and looks again whether others are ready, who do not end its sleep, so that their work is not on the path; nothing
 * is known of it. Infinity: no path was recorded.
 */
export function mostOnPath(context: Pick<FindingContext, 'model' | 'tables'>, entity: number): number {
  const { entities, raw } = context.model;
  const { onPath: rows, stacks } = raw;
  if (raw.head.pathNs <= 0) return Infinity;
  const within = pathsThrough(context, new Set([entity]));
  const isElsewhere = (k: number): boolean =>
    (rows.stack[k] === 0 && rows.thread[k] === 0) ||
    rows.state[k] === State.ready ||
    item(entities, u32(rows.object, k)).rawKind === 'sleep' ||
    isFor(item(entities, u32(stacks.entity, u32(rows.stack, k))), Purpose.sleep);
  let ns = 0;
  for (let k = 0; k < rows.ns.length; k++)
    if (within[u32(rows.stack, k)] === 1 || isElsewhere(k)) ns += f64(rows.ns, k);
  return ns;
}
