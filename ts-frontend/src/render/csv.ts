/** Views as comma-separated values (RFC 4180): one line per row, units in the column names, times as integers in ns. */
import { f64, onPathOf, stateNames } from '../model/index.js';
import type { Entity, Focus, Model } from '../model/index.js';
import { csvLines, type Value } from './parts/csv-lines.js';
import { objectRows } from './locks.js';
import { procedureRows } from './procedures.js';
import { threadRows } from './threads.js';

/** Time on the critical path in ns; empty if no path was recorded. */
function onPathNs(model: Model, { id }: Entity): Value {
  const onPath = onPathOf(model);
  return onPath === null ? '' : (onPath.get(id) ?? 0);
}

function metrics(model: Model, entity: Entity): Record<string, Value> {
  return {
    kind: entity.kind,
    name: entity.name,
    file: entity.file,
    line: entity.line,
    instances: entity.instances,
    npt_ns: entity.nptNs,
    npt_low_ns: entity.ci95.lowNs,
    npt_high_ns: entity.ci95.highNs,
    npt_self_ns: entity.nptSelfNs,
    processor_time_ns: entity.processorTimeNs,
    parallelism: entity.parallelism,
    idleness_ns: entity.idlenessNs,
    spin_blame_ns: entity.spinBlameNs,
    overhead_ns: entity.overheadNs,
    system_ns: entity.systemNs ?? '',
    parallelize_ns: entity.parallelizeNs,
    ...Object.fromEntries(stateNames.map((name) => [`${name}_ns`, entity.states[name].ns])),
    calls: entity.callsCounted ? entity.calls : '',
    on_path_ns: onPathNs(model, entity),
  };
}
const metricColumns = [
  'kind',
  'name',
  'file',
  'line',
  'instances',
  'npt_ns',
  'npt_low_ns',
  'npt_high_ns',
  'npt_self_ns',
  'processor_time_ns',
  'parallelism',
  'idleness_ns',
  'spin_blame_ns',
  'overhead_ns',
  'system_ns',
  'parallelize_ns',
  ...stateNames.map((name) => `${name}_ns`),
  'calls',
];

export const proceduresCsv = (model: Model): string =>
  csvLines(
    procedureRows(model).map((entity) => metrics(model, entity)),
    [...metricColumns, 'on_path_ns'],
  );

export function threadsCsv(model: Model): string {
  const rows = threadRows(model).map((entity) => ({
    ...metrics(model, entity),
    first_ns: entity.thread?.firstNs ?? '',
    last_ns: entity.thread?.lastNs ?? '',
  }));
  return csvLines(rows, [...metricColumns, 'first_ns', 'last_ns', 'on_path_ns']);
}

export function locksCsv(model: Model): string {
  const rows = objectRows(model).map(({ entity, object }) => ({
    kind: entity.kind,
    name: entity.name,
    file: entity.file,
    line: entity.line,
    instances: entity.instances,
    acquisitions: object.counted ? object.acquisitions : '',
    contended: object.waitsCounted ? object.contended : '',
    wait_ns: object.waitNs,
    wait_mean_ns: object.waitMeanNs,
    wait_max_ns: object.waitMaxNs,
    spin_ns: object.spinNs,
    hold_ns: object.holdNs,
    hold_mean_ns: object.counted ? object.holdMeanNs : '',
    hold_max_ns: object.holdMaxNs,
    hold_exact: object.holdExact ? 1 : 0,
    queue_length_mean: object.queueLengthMean,
    npt_ns: entity.nptNs,
    processor_time_ns: entity.processorTimeNs,
    on_path_ns: onPathNs(model, entity),
  }));
  return csvLines(rows, [
    'kind',
    'name',
    'file',
    'line',
    'instances',
    'acquisitions',
    'contended',
    'wait_ns',
    'wait_mean_ns',
    'wait_max_ns',
    'spin_ns',
    'hold_ns',
    'hold_mean_ns',
    'hold_max_ns',
    'hold_exact',
    'queue_length_mean',
    'npt_ns',
    'processor_time_ns',
    'on_path_ns',
  ]);
}

export function focusCsv(focus: Focus): string {
  const busy = Array.from(focus.byBusyNs, (_, index) => `npt_busy_${index + 1}_ns`);
  const rows = focus.rows.map((row) => ({
    self: row.self ? 1 : 0,
    kind: row.kind,
    name: row.name,
    npt_ns: row.nptNs,
    share: row.share,
    processor_time_ns: row.processorTimeNs,
    calls: row.callsCounted ? row.calls : '',
    ...Object.fromEntries(busy.map((name, index) => [name, f64(row.byBusyNs, index)])),
  }));
  return csvLines(rows, ['self', 'kind', 'name', 'npt_ns', 'share', 'processor_time_ns', 'calls', ...busy]);
}
