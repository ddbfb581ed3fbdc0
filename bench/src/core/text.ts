/** Results for people: text for a terminal, Markdown for docs/performance.md. */
import { machineLine } from './machine.js';
import type { Change } from './compare.js';
import { found, type Recorded } from './recorded.js';
import type { ContenderResult, Results, RowResult, TargetResult } from './result.js';
import type { Estimate } from './statistics.js';

const digits = (value: number): string => {
  if (!Number.isFinite(value)) return '?';
  const size = Math.abs(value);
  return size >= 1000 ? Math.round(value).toLocaleString('en-US') : size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : size >= 0.1 || size === 0 ? value.toFixed(2) : value.toPrecision(2);
};
const range = (of: Estimate): string => `[${digits(of.low)}, ${digits(of.high)}]`;

function bound(target: TargetResult, unit: string): string {
  const kind = target.ahead ? 'below' : 'at most';
  if (target.against === undefined) return `${kind} ${digits(target.most)} ${unit}`;
  return `${kind} ${target.most} of ${target.best || target.ratio === undefined ? target.against.replace(/^(?!best)/, target.best ? 'the best peer, ' : '') : target.against}`;
}

/** What a target came to: its ratio, or where the peer is not here, the recorded one. */
function outcome(row: RowResult, target: TargetResult, recorded: Recorded): string {
  if (target.ratio) return `${digits(target.ratio.value)} ${range(target.ratio)}`;
  const old = found(recorded.ratios, (one) => one.row === row.id && one.ours === target.ours && one.against === target.against).at(-1);
  if (!old) return '';
  return `${digits(old.ratio)} [${digits(old.low)}, ${digits(old.high)}] recorded ${old.date}`;
}

function contenderText(row: RowResult, one: ContenderResult, recorded: Recorded): string {
  if ('samples' in one) {
    const beside = Object.entries(one.beside ?? {}).map(([name, value]) => `  ${name} ${digits(value)}`).join('');
    return `${digits(one.value).padStart(9)}  ${range(one)}${beside}`;
  }
  if ('failed' in one) return `${'-'.padStart(9)}  failed: ${one.failed}`;
  const ratios = found(recorded.ratios, (ratio) => ratio.row === row.id && ratio.against === one.name);
  const figures = found(recorded.figures, (figureOf) => figureOf.row === row.id && figureOf.against === one.name);
  const told = [
    ...(ratios.length > 0 ? [`; recorded ${ratios.at(-1)!.date}: ${ratios.map((ratio) => `${ratio.ours} at ${digits(ratio.ratio)} of it`).join(', ')}`] : []),
    ...figures.map((figureOf) => `; on another machine, ${figureOf.date}: ${digits(figureOf.value)} ${row.unit}`),
  ];
  return `${'-'.padStart(9)}  missing: ${one.missing}${told.join('')}`;
}

export function rowText(row: RowResult, recorded: Recorded): string {
  const width = Math.max(...row.contenders.map((one) => one.name.length));
  return [
    `  ${row.id}: ${row.what}, ${row.unit}`,
    ...row.contenders.map((one) => `    ${one.name.padEnd(width)} ${contenderText(row, one, recorded)}`),
    ...row.targets.map((target) => `    -> ${target.ours}: ${bound(target, row.unit)}: ${outcome(row, target, recorded) || '-'}  ${target.verdict.toUpperCase()}`),
    '',
  ].join('\n');
}

export function changesText(changes: readonly Change[], drift: number, then: Results, now: Results): string {
  const width = Math.max(8, ...changes.map((one) => `${one.row.id} ${one.contender}`.length));
  const lines = changes.map((one) => `  ${`${one.row.id} ${one.contender}`.padEnd(width)}  ${digits(one.ratio.value)} ${range(one.ratio)}${one.verdict === 'no change' ? '' : `  ${one.verdict.toUpperCase()}`}`);
  const changed = changes.filter((one) => one.verdict !== 'no change').length;
  return [
    `new over old (${now.date.slice(0, 16)} over ${then.date.slice(0, 16)}), 95 % intervals; the peers alone: ${digits(drift)}`,
    ...(now.machine.cpu !== then.machine.cpu || now.machine.kernel !== then.machine.kernel ? ['the machines differ: ratios are those of the machines too'] : []),
    ...lines,
    changed === 0 ? `no change beyond noise in ${changes.length} figures` : `${changed} of ${changes.length} figures changed beyond noise`,
    '',
  ].join('\n');
}

const cell = (text: string): string => text.replace(/\|/g, '\\|');

function figure(one: ContenderResult): string {
  if (!('samples' in one)) return '';
  const beside = Object.entries(one.beside ?? {}).map(([name, value]) => `, ${name} ${digits(value)}`).join('');
  return `${digits(one.value)} ${range(one)}${beside}`;
}

function rowMarkdown(row: RowResult, recorded: Recorded): string[] {
  const ours = row.contenders.filter((one) => !one.peer);
  const peers = row.contenders.filter((one) => one.peer && 'samples' in one)
    .sort((a, b) => ('samples' in a && 'samples' in b ? a.value - b.value : 0))
    .map((one) => `${one.name} ${'samples' in one ? digits(one.value) : ''}${'samples' in one && one.beside ? ` (${Object.entries(one.beside).map(([name, value]) => `${name} ${digits(value)}`).join(', ')})` : ''}`);
  const absent = row.contenders.filter((one) => !('samples' in one)).map((one) => `${one.name} ${'missing' in one ? 'missing' : 'failed'}`);
  const targets = row.targets.map((target) => `${target.ours}: ${bound(target, row.unit)}: ${outcome(row, target, recorded) || 'not measured'}, **${target.verdict}**`);
  return [`| ${[`\`${row.id}\` ${row.what}, ${row.unit}`, ours.filter((one) => 'samples' in one).map((one) => `${one.name} ${figure(one)}`).join('<br>'),
    [...peers, ...absent].join(', '), targets.join('<br>')].map(cell).join(' | ')} |`];
}

export const verdictCounts = (results: Results): string => {
  const verdicts = results.rows.flatMap((row) => row.targets.map((target) => target.verdict));
  const count = (start: string): number => verdicts.filter((one) => one.startsWith(start)).length;
  return `${verdicts.length} targets: ${count('met')} met, ${count('missed')} missed, ${count('not measured')} not measured`;
};

/** The part of docs/performance.md that a run fills. */
export function markdown(results: Results, recorded: Recorded): string {
  const missing = results.peers.filter((one) => one.missing !== undefined);
  const lines = [
    `Measured ${results.date.slice(0, 10)} with Quartz ${results.quartz}: ${machineLine(results.machine)}. ${results.rounds} rounds, ${Math.round(results.seconds)} s. ${verdictCounts(results)}.`,
    '',
    `Peers: ${results.peers.filter((one) => one.missing === undefined).map((one) => `${one.name}${one.version === undefined || one.version === 'unknown' ? '' : ` ${one.version}`}`).join(', ')}.${missing.length > 0 ? ` Missing: ${missing.map((one) => one.name).join(', ')}.` : ''}`,
  ];
  const absent = missing.some((one) => recorded.ratios.some((run) => run.entries.some((entry) => entry.against === one.name)));
  if (absent) lines.push('', `Recorded ratios are of ${recorded.ratios.map((run) => `${run.date}, ${run.machine}`).join('; ')}.`);
  for (const bench of results.benches) {
    const rows = results.rows.filter((row) => row.bench === bench.name);
    lines.push('', `### ${bench.title}`, '', bench.isolates, '');
    if (bench.failed !== undefined) lines.push(`Not measured: ${bench.failed}`, '');
    if (rows.length > 0) lines.push('| what | Quartz | peers | targets |', '|---|---|---|---|', ...rows.flatMap((row) => rowMarkdown(row, recorded)));
  }
  return `${lines.join('\n')}\n`;
}

export const headText = (results: Results): string => [
  `Quartz ${results.quartz}, ${results.date}`, machineLine(results.machine),
  ...results.peers.map((one) => `  ${one.name.padEnd(15)} ${one.missing === undefined ? `${one.version ?? ''} ${one.where === undefined ? '' : `(${one.where})`}` : `missing: ${one.missing}`}`), '', '',
].join('\n');
