/** Results as text for people: figures with their intervals, targets with their verdicts, changes between runs. */
import type { Change } from './compare.js';
import { latencyLine, machineLine } from './machine.js';
import { found, type Recorded } from './recorded_ratios.js';
import type { ContenderResult, Results, RowResult, TargetResult } from './result.js';
import type { Estimate } from './statistics.js';

/** Three digits, which is as many as a timing deserves. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return '?';
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString('en-US');
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  return size >= 0.1 || size === 0 ? value.toFixed(2) : value.toPrecision(2);
}
export const range = (of: Estimate): string => `[${digits(of.low)}, ${digits(of.high)}]`;

/** Results beside the value, each after `separator`. */
export const besideText = (one: ContenderResult, separator: string): string =>
  ('samples' in one ? Object.entries(one.beside ?? {}) : [])
    .map(([name, value]) => `${separator}${name} ${digits(value)}`)
    .join('');

/** What a target requires. */
export function bound(target: TargetResult, unit: string): string {
  const kind = target.ahead ? 'below' : 'at most';
  if (target.against === undefined) return `${kind} ${digits(target.most)} ${unit}`;
  return `${kind} ${target.most} of ${target.best ? 'the best peer, ' : ''}${target.against}`;
}

/** The result of a target: the ratio or, if the peer is not available, the recorded one, or nothing. */
export function outcome(row: RowResult, target: TargetResult, recorded: Recorded): string {
  if (target.ratio) return `${digits(target.ratio.value)} ${range(target.ratio)}`;
  const old = found(
    recorded.ratios,
    (one) => one.row === row.id && one.ours === target.ours && one.against === target.against,
  ).at(-1);
  return old
    ? `${digits(old.ratio)} ${range({ value: old.ratio, low: old.low, high: old.high, coverage: NaN })} recorded ` +
        old.date
    : '';
}

/** What is known about a peer that is not available. */
function absentText(row: RowResult, name: string, recorded: Recorded): string {
  const ratios = found(recorded.ratios, (one) => one.row === row.id && one.against === name);
  const figures = found(recorded.figures, (one) => one.row === row.id && one.against === name);
  const text = ratios.map((one) => `${one.ours} at ${digits(one.ratio)} of it`).join(', ');
  return (
    (text === '' ? '' : `; recorded ${ratios.at(-1)!.date}: ${text}`) +
    figures.map((one) => `; on another machine, ${one.date}: ${digits(one.value)} ${row.unit}`).join('')
  );
}

function contenderText(row: RowResult, one: ContenderResult, recorded: Recorded): string {
  if ('samples' in one) return `${digits(one.value).padStart(9)}  ${range(one)}${besideText(one, '  ')}`;
  const none = '-'.padStart(9);
  return 'failed' in one
    ? `${none}  failed: ${one.failed}`
    : `${none}  missing: ${one.missing}${absentText(row, one.name, recorded)}`;
}

export function rowText(row: RowResult, recorded: Recorded): string {
  const width = Math.max(...row.contenders.map((one) => one.name.length));
  return [
    `  ${row.id}: ${row.what}, ${row.unit}`,
    ...row.contenders.map((one) => `    ${one.name.padEnd(width)} ${contenderText(row, one, recorded)}`),
    ...row.targets.map(
      (target) =>
        `    -> ${target.ours}: ${bound(target, row.unit)}: ${outcome(row, target, recorded) || '-'}  ` +
        target.verdict.toUpperCase(),
    ),
    '',
  ].join('\n');
}

export function verdictCounts(results: Results): string {
  const verdicts = results.rows.flatMap((row) => row.targets.map((target) => target.verdict));
  const count = (start: string): number => verdicts.filter((one) => one.startsWith(start)).length;
  return (
    `${verdicts.length} targets: ${count('met')} met, ${count('missed')} missed, ${count('not measured')} not ` +
    'measured'
  );
}

export function headText(results: Results): string {
  const peers = results.peers.map((one) => {
    const text =
      one.missing === undefined
        ? `${one.version ?? ''}${one.where === undefined ? '' : ` (${one.where})`}`
        : `missing: ${one.missing}`;
    return `  ${one.name.padEnd(15)} ${text}`;
  });
  const latencies = latencyLine(results.machine);
  return [
    `Quartz ${results.quartz}, ${results.date}`,
    machineLine(results.machine),
    ...(latencies === '' ? [] : [latencies]),
    ...peers,
    '',
    '',
  ].join('\n');
}

export function changesText(changes: readonly Change[], drift: number, then: Results, now: Results): string {
  const label = (one: Change): string => `${one.row.id} ${one.contender}`;
  const width = Math.max(0, ...changes.map((one) => label(one).length));
  const changed = changes.filter((one) => one.verdict !== 'no change').length;
  return [
    `new over old (${now.date.slice(0, 16)} over ${then.date.slice(0, 16)}), 95 % intervals; the peers alone: ` +
      digits(drift),
    ...(now.machine.kernel === then.machine.kernel ? [] : ['the kernels differ: so do their figures']),
    ...changes.map(
      (one) =>
        `  ${label(one).padEnd(width)}  ${digits(one.ratio.value)} ` +
        `${range(one.ratio)}${one.verdict === 'no change' ? '' : `  ${one.verdict.toUpperCase()}`}`,
    ),
    changed === 0
      ? `no change beyond noise in ${changes.length} figures`
      : `${changed} of ${changes.length} figures changed beyond noise`,
    '',
  ].join('\n');
}
