/** Lines of a source file with the cost of each, as listing, CSV and JSON (docs/reference/loops.md). */
import {
  baseName,
  costIndex,
  costNames,
  countersOf,
  hottestLine,
  type CostName,
  type Disassembly,
  type Model,
  type SourceFile,
  type SourceLine,
  withoutCodeNs,
} from '../../model/index.js';
import { columnName, csvLines } from '../parts/csv-lines.js';
import { disassemblyJson } from './disassembly.js';
import type { RenderOptions } from '../format/options.js';
import { clean, width, wrap } from '../format/text.js';
import { percent, time } from '../format/units.js';
import { heading } from '../parts/head.js';
import { table, type Column } from '../parts/table.js';
import { counterFields, withoutCode, withoutCounters } from './view.js';

/** Context lines shown before and after a line with a cost. */
const around = 2;
/** The least share of the elapsed time for which a line is shown other than as context. */
const least = 0.002;

/** The lines of a file, or why it cannot be read. */
export type SourceText = readonly string[] | { error: string };

interface Row {
  line: number; // 0: a gap, where lines are omitted
  text: string;
  costs: SourceLine | undefined;
}

const cost = (line: SourceLine | undefined, name: CostName): number => line?.total[costIndex[name]] ?? 0;
const own = (line: SourceLine | undefined): number => line?.self[costIndex.npt] ?? 0;
const isShown = (model: Model, line: SourceLine): boolean =>
  Math.max(cost(line, 'npt'), cost(line, 'onPath'), cost(line, 'blocked'), cost(line, 'io')) >= least * model.elapsedNs;

/** Lines with a cost, each with some context; the first lines of the file if none has a cost. */
function listing(model: Model, file: SourceFile, text: SourceText): Row[] {
  const costs = new Map(file.lines.map((line) => [line.line, line]));
  const shown = new Set<number>();
  const last = 'error' in text ? Infinity : text.length;
  const reach = 'error' in text ? 0 : around;
  for (const line of file.lines)
    if (isShown(model, line))
      for (let n = Math.max(1, line.line - reach); n <= Math.min(last, line.line + reach); n++) shown.add(n);
  const rows: Row[] = [];
  let before = 0;
  for (const line of [...shown].sort((a, b) => a - b)) {
    if (line > before + 1 && before > 0) rows.push({ line: 0, text: '', costs: undefined });
    rows.push({ line, text: 'error' in text ? '' : (text[line - 1] ?? ''), costs: costs.get(line) });
    before = line;
  }
  return rows;
}

/** The beginning of a line that fits into the width, with a mark if it is truncated. */
function beginning(text: string, columns: number, options: RenderOptions): string {
  const mark = options.ascii ? '...' : '…';
  let shown = clean(text, options);
  while (shown !== '' && width(shown) + width(mark) > columns) shown = Array.from(shown).slice(0, -1).join('');
  return `${shown}${mark}`;
}

export function sourceReport(model: Model, file: SourceFile, text: SourceText, options: RenderOptions): string {
  const hottest = hottestLine(file);
  const share = (ns: number): string => (ns >= least * model.elapsedNs ? percent(ns, model.elapsedNs) : '');
  const hot = (row: Row): boolean => hottest !== undefined && row.line === hottest.line;
  const columns: Column<Row>[] = [
    { head: 'NPT', text: ({ costs }) => (share(cost(costs, 'npt')) === '' ? '' : time(cost(costs, 'npt'), options)) },
    { head: 'share', text: ({ costs }) => share(cost(costs, 'npt')), tone: 'strong' },
    { head: 'self', text: ({ costs }) => share(own(costs)) },
    {
      head: 'idle',
      text: ({ costs }) => (share(cost(costs, 'idle')) === '' ? '' : time(cost(costs, 'idle'), options)),
      drop: 3,
    },
    {
      head: 'blocked',
      text: ({ costs }) => (share(cost(costs, 'blocked')) === '' ? '' : time(cost(costs, 'blocked'), options)),
      drop: 4,
    },
    { head: 'on path', text: ({ costs }) => share(cost(costs, 'onPath')), drop: 2 },
    { head: 'line', text: (row) => (row.line === 0 ? '' : `${hot(row) ? '>' : ''}${row.line}`) },
    {
      head: 'source',
      text: (row) =>
        row.line === 0 ? (options.ascii ? '...' : '…') : clean(row.text.replace(/\t/g, '        '), options),
      short: (row, columns) => beginning(row.text.replace(/\t/g, '        '), columns, options),
      align: 'left',
      name: true,
    },
  ];
  const rows = listing(model, file, text);
  const total = file.total[costIndex.npt] ?? 0;
  const said = [
    `${clean(file.path, options)}: ${time(total, options)} of ${time(model.elapsedNs, options)} ` +
      `(${percent(total, model.elapsedNs)}) while a thread was in it or in what it called, ` +
      `${percent(file.self[costIndex.npt] ?? 0, model.elapsedNs)} in its own code.` +
      (hottest && own(hottest) > 0
        ? ` Hottest line: ${clean(baseName(file.path), options)}:${hottest.line}, ` +
          `${percent(own(hottest), model.elapsedNs)} of its own.`
        : ''),
    ...('error' in text ? [`The source text is not shown: ${text.error}.`] : []),
    ...(rows.length === 0 ? [`No line costs ${percent(least, 1)} or more.`] : []),
  ];
  return [
    ...heading('Source lines', options),
    '',
    ...said.flatMap((sentence) => wrap(sentence, options.width, 2, options)),
    ...(rows.length > 0 ? ['', ...table(rows, columns, options)] : []),
    ...withoutCode(model, options),
    ...withoutCounters(model, options),
    '',
  ].join('\n');
}

/** All costs of a line in ns, as fields of JSON and CSV. */
const fields = (model: Model, line: SourceLine): Record<string, number> => ({
  line: line.line,
  ...Object.fromEntries(costNames.map((name) => [`${name}Ns`, line.total[costIndex[name]] ?? 0])),
  ...Object.fromEntries(costNames.map((name) => [`${name}SelfNs`, line.self[costIndex[name]] ?? 0])),
  ...counterFields(model, line),
});

export const sourceSchema = 'quartz-source-1';

/** `code`: disassembly of the file's procedures; null if it was not requested. */
export function sourceJson(
  model: Model,
  file: SourceFile,
  version: string,
  code: readonly Disassembly[] | null = null,
): string {
  const { program, elapsedNs, processors } = model;
  const hottest = hottestLine(file);
  return `${JSON.stringify({
    schema: sourceSchema,
    quartz: version,
    program,
    elapsedNs,
    processors,
    file: file.path,
    nptNs: file.total[costIndex.npt] ?? 0,
    nptSelfNs: file.self[costIndex.npt] ?? 0,
    withoutCodeNs: withoutCodeNs(model),
    counters: countersOf(model.raw),
    hottestLine: hottest?.line ?? null,
    lines: file.lines.map((line) => fields(model, line)),
    ...(code === null ? {} : { instructions: code.map((one) => disassemblyJson(model, one)) }),
  })}\n`;
}

export function sourceCsv(model: Model, file: SourceFile): string {
  const rows = file.lines.map((line) =>
    Object.fromEntries(Object.entries(fields(model, line)).map(([name, value]) => [columnName(name), value])),
  );
  return csvLines(rows, Object.keys(rows[0] ?? { line: 0 }));
}
