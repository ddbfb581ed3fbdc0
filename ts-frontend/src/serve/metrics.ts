/** The contents of /metrics (docs/reference/serve.md). Pure functions. */
import { findingKinds } from '../model/index.js';
import type { Metric } from './exposition.js';
import type { Totals } from './totals.js';

/** The server's own state. */
export interface Own {
  version: string;
  up: boolean; // whether a program is being recorded
  cpuSeconds: number;
  residentBytes: number;
  profileBytes: number;
  profiles: number; // number of files begun
}

const seconds = (ns: number): number => ns / 1e9;

export function metricsOf(totals: Totals, own: Own): Metric[] {
  const single = (name: string, type: Metric['type'], help: string, value: number): Metric => ({
    name: `quartz_${name}`,
    type,
    help,
    samples: [{ value }],
  });
  const by = (name: string, label: string, help: string, rows: Iterable<readonly [string, number]>): Metric => ({
    name: `quartz_${name}`,
    type: 'counter',
    help,
    samples: Array.from(rows, ([key, ns]) => ({ labels: { [label]: key }, value: seconds(ns) })),
  });
  return [
    { ...single('build_info', 'gauge', 'Version of Quartz.', 1), samples: [build(own.version)] },
    single('up', 'gauge', '1 while a program is being recorded.', own.up ? 1 : 0),
    single('processors', 'gauge', 'Processors that the metrics of the program are computed for.', totals.processors),
    single('recorded_seconds_total', 'counter', 'Time covered by snapshots.', seconds(totals.elapsedNs)),
    by(
      'processor_seconds_total',
      'state',
      'Processor time by state; the sum is processors times recorded seconds.',
      Object.entries(totals.processorNs),
    ),
    by(
      'busy_seconds_total',
      'processors',
      'Elapsed time by how many processors were busy: none, one, some, all.',
      Object.entries(totals.busyNs),
    ),
    by('thread_seconds_total', 'state', 'Time of all threads by state.', Object.entries(totals.threadNs)),
    by(
      'npt_seconds_total',
      'entity',
      'Normalized processor time of procedures and objects themselves; a bounded number of names, and other.',
      totals.code.sums,
    ),
    by(
      'wait_seconds_total',
      'object',
      'Time that threads waited for synchronization objects; a bounded number of names, and other.',
      totals.objects.sums,
    ),
    {
      name: 'quartz_finding_saving_ratio',
      type: 'gauge',
      help: 'What findings of each kind could save of the elapsed time since the metrics were read before.',
      samples: findingKinds.map((kind) => ({ labels: { kind }, value: totals.savings.get(kind) ?? 0 })),
    },
    single('snapshots_total', 'counter', 'Snapshots taken.', totals.counted.snapshots),
    single(
      'skipped_snapshots_total',
      'counter',
      'Snapshots that could not be taken in time.',
      totals.counted.skippedTicks,
    ),
    single(
      'cpu_wait_seconds_total',
      'counter',
      'Time in which threads could have run and the kernel gave them no CPU.',
      seconds(totals.counted.cpuWaitNs),
    ),
    single('sampler_cpu_seconds_total', 'counter', 'CPU time of the sampler.', seconds(totals.counted.samplerCpuNs)),
    single('serve_cpu_seconds_total', 'counter', 'CPU time of this server, without the sampler.', own.cpuSeconds),
    single('serve_resident_memory_bytes', 'gauge', 'Memory of this server, without the sampler.', own.residentBytes),
    single('profile_bytes', 'gauge', 'Size of the profile that is being written.', own.profileBytes),
    single('profiles_total', 'counter', 'Profiles begun.', own.profiles),
  ];
}

const build = (version: string): Metric['samples'][number] => ({ labels: { version }, value: 1 });
