/**
 * Whether a lock belongs to the memory allocator: threads wait for it within malloc, free and similar procedures
 * (purpose `allocator`, decided by the sampler). The advice differs from that for locks of the program. Pure functions.
 */
import { Purpose } from '../profile/abi.js';
import { item } from '../profile/columns.js';
import type { Model } from '../result/types.js';
import { isFor } from './purposes.js';

/** The least share of the waiting time within the allocator. */
const mostly = 0.5;

export function isAllocators({ entities }: Model, lock: number): boolean {
  const { object, members } = item(entities, lock);
  const waiters = [...(object?.waiters ?? []), ...members.flatMap((one) => item(entities, one).object?.waiters ?? [])];
  let within = 0,
    all = 0;
  for (const { path, ns } of waiters) {
    all += ns;
    if (path.some((id) => isFor(item(entities, id), Purpose.allocator))) within += ns;
  }
  return all > 0 && within >= mostly * all;
}
