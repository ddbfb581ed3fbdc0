/** Child processes: work that the program has others do, and that its own profile cannot show. Pure. */
import { time } from '../wording/numbers.js';
import type { Model, Notice } from '../result/types.js';

/**
 * Below this share of all processor time, or where the kernel's clock ticks would tell little, children change no
 * conclusion.
 */
const leastPart = 0.05;
const leastNs = 50e6;

export function childrenNotice({ head, root }: Model): Notice | undefined {
  const { childrenRunNs, childrenApart, cpuRunNs } = head;
  const ownNs = cpuRunNs > 0 ? cpuRunNs : root.processorTimeNs;
  if (childrenRunNs < leastNs || childrenRunNs < leastPart * (childrenRunNs + ownNs)) return undefined;
  return {
    reason: `child processes used ${time(childrenRunNs)} of processor time, the program itself ${time(ownNs)}: what they did is not in this profile`,
    remedy: childrenApart
      ? 'it is in theirs, whose names have the number of the process'
      : 'to record them, too, each into a profile of its own: --children',
  };
}
