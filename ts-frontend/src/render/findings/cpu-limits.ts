/** Sentences for CPUs that the program's threads may not use. */
import type { CpuLimitFacts, Finding } from '../../model/index.js';
import { count, figure } from '../format/units.js';
import { counted, type Phrases, type Sentences } from '../wording/phrases.js';

export function cpuLimit(
  { savingNs }: Finding,
  facts: CpuLimitFacts,
  { model, costs, time, share }: Phrases,
): Sentences {
  const cpus = (number: number): string => counted(count(number), 'CPU');
  if (facts.form === 'confined')
    return {
      text:
        `The threads that could run were confined to ${facts.cpus === 1 ? 'one CPU' : cpus(facts.cpus)} of the ` +
        `${count(model.processors)} that the program may use, for ${costs(facts.confinedNs)}: by their CPU affinity ` +
        '(sched_setaffinity, pthread_setaffinity_np, OMP_PLACES and OMP_PROC_BIND, a library that pins its threads).',
      remedy:
        'Do not pin them, or pin each to a CPU of its own (taskset -pac shows the masks of a process that runs): ' +
        `that could save up to ${time(savingNs)}.`,
    };
  const { quota, periods, throttledPeriods, throttledNs } = facts;
  return {
    text:
      `The limit of its control group (${figure(quota)} ${quota === 1 ? 'CPU' : 'CPUs'}: of a container, a service ` +
      `or a batch job) was reached in ${count(throttledPeriods)} of ${counted(count(periods), 'period')} ` +
      `(${share(throttledPeriods / Math.max(1, periods))}): its CPUs stood still for ${time(throttledNs)} in sum, ` +
      'while threads could run.',
    remedy:
      'Raise the limit (docker --cpus, Kubernetes limits.cpu, systemd CPUQuota, cpu.max), or use less processor ' +
      `time: without it the run could take up to ${time(savingNs)} less. More threads than the limit has CPUs use it ` +
      'up sooner in each period, and then all wait.',
  };
}
