/** Notice about how long threads waited for CPUs, and whether the program or other programs caused it. Pure. */
import { cpuWaitMatters } from '../metrics/cpu-wait.js';
import type { CpuWaitNotice } from '../result/notices.js';
import type { Finding, Model } from '../result/types.js';

/**
 * If the program itself or a limit causes the waiting, a finding about oversubscription or about CPUs that may not be
 * used already reports it, or (`manyThreads`) a notice.
 */
export function waitingForCpus(model: Model, findings: readonly Finding[], manyThreads: boolean): CpuWaitNotice[] {
  const { waitNs, runNs, ownNs, limitNs, othersNs, share } = model.cpuWait;
  const isSaid = manyThreads || findings.some(({ kind }) => kind === 'oversubscription' || kind === 'cpu-limit');
  const isReported = isSaid && ownNs + limitNs >= othersNs;
  if (isReported || !cpuWaitMatters(model)) return [];
  const { publisher, cpus } = model.head;
  const who = publisher === 'pthread' ? 'threads' : 'processors';
  const cause = othersNs >= ownNs ? 'others' : 'own';
  return [{ form: 'cpu-wait', who, waitNs, runNs, share, cause, ownNs, othersNs, cpus }];
}
