/** Results as the tables of docs/evidence/performance.md. */
import { wrap } from '../../ts-frontend/src/render/format/text.js';
import { latencyLine, machineLine } from './machine.js';
import type { Recorded } from './recorded_ratios.js';
import type { ContenderResult, Results, RowResult } from './result.js';
import { besideText, bound, digits, outcome, range, verdictCounts } from './report_text.js';

type Measured = Extract<ContenderResult, { samples: number[] }>;
const isMeasured = (one: ContenderResult): one is Measured => 'samples' in one;

const cell = (text: string): string => text.replace(/\|/g, '\\|');

function rowMarkdown(row: RowResult, recorded: Recorded): string {
  const measured = row.contenders.filter(isMeasured);
  const ours = measured
    .filter((one) => !one.peer)
    .map((one) => `${one.name} ${digits(one.value)} ${range(one)}${besideText(one, ', ')}`);
  const peers = measured
    .filter((one) => one.peer)
    .sort((a, b) => a.value - b.value)
    .map((one) => {
      const beside = besideText(one, ', ').slice(2);
      return `${one.name} ${digits(one.value)}${beside === '' ? '' : ` (${beside})`}`;
    });
  const absent = row.contenders
    .filter((one) => !isMeasured(one))
    .map((one) => `${one.name} ${'missing' in one ? 'missing' : 'failed'}`);
  const targets = row.targets.map((target) => {
    const result = outcome(row, target, recorded);
    return `${target.ours}: ${bound(target, row.unit)}${result === '' ? '' : `: ${result}`}, **${target.verdict}**`;
  });
  return `| ${[
    `\`${row.id}\` ${row.what}, ${row.unit}`,
    ours.join('<br>'),
    [...peers, ...absent].join(', '),
    targets.join('<br>'),
  ]
    .map(cell)
    .join(' | ')} |`;
}

/** Prose in lines of at most 120 columns; a row of a table is one line. */
const prose = (line: string): string[] =>
  line === '' || line.startsWith('|') ? [line] : wrap(line, 120, 0, { ascii: false });

/** The part of docs/evidence/performance.md that a run fills. */
export function markdown(results: Results, recorded: Recorded): string {
  const here = results.peers.filter((one) => one.missing === undefined);
  const missing = results.peers.filter((one) => one.missing !== undefined).map((one) => one.name);
  const version = (text: string | undefined): string => (text === undefined || text === 'unknown' ? '' : ` ${text}`);
  const lines = [
    `Measured ${results.date.slice(0, 10)} with Quartz ${results.quartz}: ${machineLine(results.machine)}. ` +
      `${results.rounds} rounds, ${Math.round(results.seconds)} s. ${verdictCounts(results)}.`,
    '',
    ...(latencyLine(results.machine) === '' ? [] : [`${latencyLine(results.machine)}.`, '']),
    `Peers: ${here.map((one) => `${one.name}${version(one.version)}`).join(', ')}.` +
      (missing.length > 0 ? ` Missing: ${missing.join(', ')}.` : ''),
  ];
  const used = recorded.ratios.filter((run) => run.entries.some((entry) => missing.includes(entry.against)));
  if (used.length > 0)
    lines.push('', `Recorded ratios are of ${used.map((run) => `${run.date}, ${run.machine}`).join('; ')}.`);
  for (const bench of results.benches) {
    const rows = results.rows.filter((row) => row.bench === bench.name);
    lines.push('', `### ${bench.title}`, '', bench.isolates, '');
    if (bench.failed !== undefined) lines.push(`Not measured: ${bench.failed}`, '');
    if (rows.length > 0)
      lines.push(
        '| what | Quartz | peers | targets |',
        '|---|---|---|---|',
        ...rows.map((row) => rowMarkdown(row, recorded)),
      );
  }
  return `${lines.flatMap(prose).join('\n')}\n`;
}
