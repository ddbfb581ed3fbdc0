/** Child processes: work that the program has others do, and that its own profile cannot show. Pure. */
import type { ChildProcessesNotice } from '../result/notices.js';
import type { Model } from '../result/types.js';

/**
 * Below this share of all processor time, or where the kernel's clock ticks are too coarse, children change no
 * conclusion.
 */
const leastPart = 0.05;
const leastNs = 50e6;

export function childProcesses({ head, root }: Model): ChildProcessesNotice[] {
  const { childrenRunNs, childrenApart, cpuRunNs } = head;
  const ownNs = cpuRunNs > 0 ? cpuRunNs : root.processorTimeNs;
  if (childrenRunNs < leastNs || childrenRunNs < leastPart * (childrenRunNs + ownNs)) return [];
  return [{ form: 'child-processes', childrenNs: childrenRunNs, ownNs, profiled: childrenApart }];
}
