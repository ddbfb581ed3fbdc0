/** How long threads waited for CPUs, and whose doing it was. Pure. */
import { cpuWaitMatters } from '../metrics/cpu-wait.js';
import type { CpuWaitNotice } from '../result/notices.js';
import type { Finding, Model } from '../result/types.js';

/** A finding about more threads than CPUs says as much, where the waiting is the program's own doing. */
export function waitingForCpus(model: Model, findings: readonly Finding[]): CpuWaitNotice[] {
  const { waitNs, runNs, ownNs, othersNs, share } = model.cpuWait;
  const isReported = findings.some(({ kind }) => kind === 'oversubscription') && ownNs >= othersNs;
  if (isReported || !cpuWaitMatters(model)) return [];
  const { publisher, cpus } = model.head;
  const who = publisher === 'pthread' ? 'threads' : 'processors';
  const cause = othersNs >= ownNs ? 'others' : 'own';
  return [{ form: 'cpu-wait', who, waitNs, runNs, share, cause, ownNs, othersNs, cpus }];
}
