/** Which stacks are in the memory allocator (malloc, free, operator new, and what they call). Pure. */
import { Purpose } from '../../profile/abi.js';
import { item, u32 } from '../../profile/columns.js';
import type { FindingContext } from '../context.js';
import { isFor } from '../purposes.js';

/** By stack: 1 if it is in the allocator, called by other code. */
export function inAllocator({ model, tables: { stacks }, own }: FindingContext): Uint8Array {
  const inside = new Uint8Array(stacks.count);
  for (let n = 1; n < stacks.count; n++)
    // parents precede their children
    inside[n] =
      own.hidden[n] === 1 &&
      (inside[u32(stacks.parent, n)] === 1 || isFor(item(model.entities, u32(stacks.entity, n)), Purpose.allocator))
        ? 1
        : 0;
  return inside;
}
