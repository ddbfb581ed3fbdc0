/** Notice about child processes, whose work the program's own profile cannot show. Pure. */
import type { ChildProcessesNotice, LeftProcessesNotice } from '../result/notices.js';
import type { Model } from '../result/types.js';

/**
 * The least share of all processor time that matters; below it, or within the resolution of the kernel's clock ticks,
 * child processes change no conclusion.
 */
const leastPart = 0.05;
const leastNs = 50e6;

export function childProcesses({ head, root }: Model): (ChildProcessesNotice | LeftProcessesNotice)[] {
  const { childrenRunNs, childrenApart, cpuRunNs } = head;
  const ownNs = cpuRunNs > 0 ? cpuRunNs : root.processorTimeNs;
  if (head.endReason === 'exit' && head.processesStarted > 0 && childrenRunNs === 0 && ownNs < leastNs)
    return [{ form: 'left-processes', started: head.processesStarted, ownNs }];
  if (childrenRunNs < leastNs || childrenRunNs < leastPart * (childrenRunNs + ownNs)) return [];
  return [{ form: 'child-processes', childrenNs: childrenRunNs, ownNs, profiled: childrenApart }];
}
