/** The stacks that contain an entity, including everything that it calls. Pure. */
import { u32 } from '../../profile/columns.js';
import type { FindingContext } from '../context.js';
import { shownId } from '../context.js';

/** By node: 1 if one of the displayed entities is on the path. */
export function pathsThrough(
  { model, tables }: Pick<FindingContext, 'model' | 'tables'>,
  ids: ReadonlySet<number>,
): Uint8Array {
  const { parent, entity, count } = tables.stacks;
  const through = new Uint8Array(count);
  for (let n = 1; n < count; n++)
    // parents precede their children
    through[n] = through[u32(parent, n)] === 1 || ids.has(shownId(model, u32(entity, n))) ? 1 : 0;
  return through;
}
