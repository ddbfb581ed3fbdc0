/** Runs on two machines side by side: the result of each target on both. Their times cannot be compared. */
import { latencyLine, machineLine } from './machine.js';
import { bound, digits, range, verdictCounts } from './report_text.js';
import type { Results, TargetResult } from './result.js';

interface Beside {
  row: string;
  what: string;
  here: string;
  there: string;
}

const outcome = (target: TargetResult | undefined): string =>
  target === undefined
    ? 'not asked'
    : `${target.ratio ? `${digits(target.ratio.value)} ${range(target.ratio)} ` : ''}${target.verdict}`;

/** One for each target of either run, in the order of the first run. The best peer may differ. */
function targets(here: Results, there: Results): Beside[] {
  const same = (a: TargetResult, b: TargetResult): boolean =>
    a.ours === b.ours &&
    (a.best === true) === (b.best === true) &&
    (a.best === true || a.against === b.against) &&
    a.most === b.most;
  const besides = here.rows.flatMap((row) => {
    const other = there.rows.find((one) => one.id === row.id);
    return row.targets.map((target) => ({
      row: row.id,
      what: `${target.ours}: ${bound(target, row.unit)}`,
      here: outcome(target),
      there: outcome(other?.targets.find((one) => same(one, target))),
    }));
  });
  const only = there.rows.flatMap((row) => {
    const other = here.rows.find((one) => one.id === row.id);
    return row.targets
      .filter((target) => other?.targets.some((one) => same(one, target)) !== true)
      .map((target) => ({
        row: row.id,
        what: `${target.ours}: ${bound(target, row.unit)}`,
        here: outcome(undefined),
        there: outcome(target),
      }));
  });
  return [...besides, ...only];
}

const head = (of: Results): string => {
  const latencies = latencyLine(of.machine);
  const text = `${of.date.slice(0, 10)}, ${machineLine(of.machine)}; ${verdictCounts(of)}`;
  return latencies === '' ? text : `${text}. ${latencies}`;
};

/** The output of --compare if the other run is of another machine. */
export function machinesText(here: Results, there: Results): string {
  const rows = targets(here, there);
  const width = Math.max(0, ...rows.map((one) => one.row.length));
  return [
    'two machines: their times cannot be compared, their ratios can',
    `  here:  ${head(here)}`,
    `  there: ${head(there)}`,
    ...rows.map((one) => `  ${one.row.padEnd(width)}  ${one.what}\n    here ${one.here}; there ${one.there}`),
    '',
  ].join('\n');
}

/** The same as a part of docs/evidence/performance.md. */
export function machinesMarkdown(here: Results, there: Results): string {
  const cell = (text: string): string => text.replace(/\|/g, '\\|');
  return [
    '### Two machines',
    '',
    `Here: ${head(here)}.`,
    '',
    `There: ${head(there)}.`,
    '',
    '| what | target | here | there |',
    '|---|---|---|---|',
    ...targets(here, there).map(
      (one) => `| \`${one.row}\` | ${cell(one.what)} | ${cell(one.here)} | ${cell(one.there)} |`,
    ),
    '',
  ].join('\n');
}
