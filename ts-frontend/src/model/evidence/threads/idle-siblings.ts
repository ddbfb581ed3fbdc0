/**
 * Threads that began like the only one with work, and had none of it (docs/reference/findings.md, "Code"). Pure
 * functions.
 */
import { item } from '../../profile/columns.js';
import type { Siblings } from '../../result/fact-parts.js';
import type { FindingContext } from '../context.js';

/** The maximum share of the working thread's processor time of a thread that has hardly any work. */
const hardlyAny = 0.05;

/**
 * Threads that have the same creator as `id`, begin in the same procedure, and live at the same time. Null if there are
 * none, or if one of them has work, too. (`address` of a thread: of the procedure in which it begins.)
 */
export function idleSiblings({ model: { entities }, roles }: FindingContext, id: number): Siblings | null {
  const { thread: its, address, instances } = item(entities, id);
  const start = entities.find((one) => one.kind === 'procedure' && one.address === address);
  if (!its || its.creator === 0 || address === 0 || instances > 1 || !start) return null;
  let threads = 0;
  for (const other of entities) {
    const { kind, thread } = other;
    if (kind !== 'thread' || other.id === id || other.members.length > 0 || other.address !== address) continue;
    if (thread?.creator !== its.creator) continue;
    if (thread.firstNs >= its.lastNs || thread.lastNs <= its.firstNs) continue; // one after the other
    if (roles.workNs(other.id) > hardlyAny * roles.workNs(id) * Math.max(1, other.instances)) return null;
    threads += Math.max(1, other.instances);
  }
  return threads > 0 ? { threads, start: start.id } : null;
}
