/** The program's own procedures on a path. Pure. */
import { item, u32 } from '../../profile/columns.js';
import { isOwn } from '../code-origin.js';
import type { FindingContext } from '../context.js';
import { shownId } from '../context.js';

/** Innermost first, as shown; the last one is where the thread begins. A procedure that calls itself is there again. */
export function ownPath({ model, tables, own }: FindingContext, node: number): number[] {
  const { stacks } = tables;
  const path: number[] = [];
  for (let n = node; n !== 0; n = u32(stacks.parent, n)) {
    const entity = item(model.entities, u32(stacks.entity, n));
    if (own.hidden[n] === 0 && entity.kind === 'procedure' && isOwn(entity)) path.push(shownId(model, entity.id));
  }
  return path;
}
