/**
 * The kernel's counts for the whole program (docs/reference/metrics.md, section 6, "What the kernel counted"): the
 * figures that standard tools show, for the head of every report. Pure.
 */
import { item } from '../profile/columns.js';
import type { ObjectKind, RawProfile, RawThread } from '../profile/raw-profile.js';
import type { KernelUsage } from '../result/types.js';

/**
 * Kinds of objects at which a wait is a system call that either sleeps or returns immediately. Joins and sleeps always
 * sleep.
 */
const waitedIn: ReadonlySet<ObjectKind> = new Set([
  'mutex',
  'rwlock',
  'condition',
  'semaphore',
  'barrier',
  'once',
  'futex',
]);

/** Maximum number of threads alive at the same time, as far as snapshots show: those that none visited do not count. */
function mostAtOnce(threads: readonly RawThread[]): number {
  const visited = threads.filter(({ lastNs }) => lastNs > 0);
  const begins = visited.map(({ firstNs }) => firstNs).sort((a, b) => a - b);
  const ends = visited.map(({ lastNs }) => lastNs).sort((a, b) => a - b);
  let most = 0,
    ended = 0;
  for (const [begun, at] of begins.entries()) {
    while (item(ends, ended) < at) ended++;
    most = Math.max(most, begun + 1 - ended);
  }
  return most;
}

/** undefined: the kernel did not provide these numbers. */
export function kernelUsageOf(raw: RawProfile): KernelUsage | undefined {
  const { head, objects, entities, threads } = raw;
  if (!head.usageKnown || head.usageNs === 0) return undefined;
  let waits = 0;
  for (const { entity, contended } of objects)
    if (waitedIn.has(item(entities, entity).kind as ObjectKind)) waits += contended;
  const { voluntarySwitches: voluntary, involuntarySwitches: involuntary } = head;
  return {
    ns: head.usageNs,
    userNs: head.userNs,
    systemNs: head.systemNs,
    cpusUsed: (head.userNs + head.systemNs) / head.usageNs,
    cpus: head.publisher === 'pthread' ? head.processors : head.cpus,
    switches: head.switchesKnown ? { voluntary, involuntary } : null,
    residentBytes: head.residentBytes,
    calls: head.callsKnown
      ? {
          reads: head.readCalls,
          writes: head.writeCalls,
          readBytes: head.readBytes,
          writtenBytes: head.writtenBytes,
        }
      : null,
    faults: { minor: head.minorFaults, major: head.majorFaults },
    waits:
      head.publisher === 'pthread' && head.switchesKnown
        ? { count: waits, atOnce: Math.max(0, waits - voluntary) }
        : null,
    // More threads may have come and gone between snapshots, but their creations are counted.
    threads: Math.max(threads.length, head.publisher === 'pthread' ? head.spawns + 1 : 0),
    threadsAtOnce: Math.max(1, mostAtOnce(threads)),
  };
}

/** The smallest page size of the architectures that Quartz runs on, in bytes. */
export const pageBytes = 4096;

/** The share of page faults for memory that the program had used before; null: not known. */
export function shareFaultedAgain(usage: KernelUsage | undefined): number | null {
  if (!usage || usage.residentBytes === 0 || usage.faults.minor === 0) return null;
  return Math.max(0, 1 - usage.residentBytes / pageBytes / usage.faults.minor);
}
