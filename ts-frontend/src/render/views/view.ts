/** The three views of calling contexts, as text, CSV and JSON (docs/reference/views.md). */
import {
  baseName,
  costIndex,
  costNames,
  countersOf,
  cyclesPerInstruction,
  effortOfCosts,
  guidanceOfCosts,
  overheadKinds,
  withoutCodeNs,
  type AmountName,
  type CostName,
  type CounterName,
  type DerivedMetric,
  type Model,
  type OverheadKind,
  type ViewName,
  type ViewRow,
  isMemoryBound,
  isMostlyOthers,
  needed,
  perThousand,
} from '../../model/index.js';
import { columnName, csvLines } from '../parts/csv-lines.js';
import type { RenderOptions } from '../format/options.js';
import { clean, wrap } from '../format/text.js';
import { count, figure, percent, time } from '../format/units.js';
import { divisionNames, kindNames } from '../parts/effort.js';
import { heading } from '../parts/head.js';
import { label, place, shortLabel } from '../wording/names.js';
import { table, type Column } from '../parts/table.js';
import { orderOf, shownRows, type ShownRow } from './view-rows.js';

/** The options of a view. */
export interface ViewQuery {
  view: ViewName;
  sort: AmountName | DerivedMetric;
  metrics: readonly DerivedMetric[];
}

const titles: Record<ViewName, string> = {
  tree: 'Calling contexts, from the top down',
  callers: 'Callers of what costs time, from the bottom up (each without what it called)',
  flat: 'By module, file and procedure',
};
/** The maximum indentation; deeper rows show their depth as a number. */
const deepest = 12;
/** The least share of the run's effort for which a context has a guidance on its division. */
const leastEffort = 0.01;
/** The maximum number of rows in CSV and JSON: the callers of 100,000 contexts would be millions of rows. */
const mostRows = 100_000;

export function viewTable(model: Model, root: ViewRow, query: ViewQuery, options: RenderOptions): string[] {
  const { rows, complete } = shownRows(root, orderOf(query.sort), options.top);
  const columns = contextColumns(model, query, options);
  return [
    ...heading(titles[query.view], options),
    '',
    ...table(rows, columns, options),
    ...(query.view === 'callers' ? [] : withoutCode(model, options)),
    ...withoutCounters(model, options),
    ...(complete
      ? []
      : wrap('Only the most expensive rows are shown; --top N shows more, --top 0 all.', options.width, 2, options)),
  ];
}

/** The least share of processor time without a loop or line that is reported. */
const leastWithoutCode = 0.01;
export function withoutCode(model: Model, options: RenderOptions): string[] {
  const ns = withoutCodeNs(model);
  const all = model.root.processorTimeNs;
  if (ns === null || ns < leastWithoutCode * all) return [];
  return wrap(
    `For ${percent(ns, all)} of the processor time, loops and lines are not known (docs/reference/loops.md).`,
    options.width,
    2,
    options,
  );
}

/** Why columns of hardware counters are missing, if they are. */
export function withoutCounters(model: Model, options: RenderOptions): string[] {
  const known = countersOf(model.raw);
  if (needed.every((name) => known.includes(name))) return [];
  return wrap(
    'There are no hardware counters here for cycles, instructions and cache misses: ' +
      'whether code waits for memory is not known (docs/reference/views.md).',
    options.width,
    2,
    options,
  );
}

/** Columns of the counters that were read. */
function counterColumns(model: Model): Column<ShownRow>[] {
  const known = countersOf(model.raw);
  if (!known.includes('instructions')) return known.includes('faults') ? [faults] : [];
  const often = (head: string, name: CounterName, drop: number): Column<ShownRow>[] =>
    known.includes(name) ? [{ head, text: ({ row }) => number(perThousand(row.total, name)), drop }] : [];
  return [
    { head: 'cyc/ins', text: ({ row }) => number(cyclesPerInstruction(row.total)), drop: 5 },
    { head: 'bound by', text: ({ row }) => (isMemoryBound(row.total) === true ? 'memory' : ''), drop: 5 },
    ...often('miss/k', 'cacheMisses', 8),
    ...often('tlb/k', 'tlbMisses', 9),
    ...often('remote/k', 'remote', 9),
    ...(known.includes('faults') ? [faults] : []),
  ];
}
const number = (value: number | null): string => (value === null ? '' : figure(value));
const faults: Column<ShownRow> = {
  head: 'faults',
  text: ({ row }) => ((row.total[costIndex.faults] ?? 0) > 0 ? count(row.total[costIndex.faults] ?? 0) : ''),
  drop: 9,
};

/** Values of the counters that were read, as fields of JSON and CSV. */
export const counterFields = (model: Model, { total, self }: Pick<ViewRow, 'total' | 'self'>): object =>
  Object.fromEntries(
    countersOf(model.raw).flatMap((name) => [
      [`${name}Count`, total[costIndex[name]] ?? 0],
      [`${name}SelfCount`, self[costIndex[name]] ?? 0],
    ]),
  );

/** The columns of the table, for text and HTML. */
export function contextColumns(model: Model, { metrics }: ViewQuery, options: RenderOptions): Column<ShownRow>[] {
  const total = (row: ViewRow, name: CostName): number => row.total[costIndex[name]] ?? 0;
  const some = (head: string, name: CostName, drop: number): Column<ShownRow> => ({
    head,
    text: ({ row }) => (total(row, name) >= model.elapsedNs / 1000 ? time(total(row, name), options) : ''),
    drop,
  });
  const effort = (row: ViewRow): number => effortOfCosts(row.total);
  const hidesGuidance = isMostlyOthers(model.cpuWait, model.elapsedNs);
  return [
    { head: 'NPT', text: ({ row }) => time(total(row, 'npt'), options), tone: 'strong' },
    { head: 'share', text: ({ row }) => percent(total(row, 'npt'), model.elapsedNs) },
    { head: 'self', text: ({ row }) => percent(row.self[costIndex.npt] ?? 0, model.elapsedNs), drop: 2 },
    { head: 'proc.time', text: ({ row }) => time(total(row, 'time'), options), drop: 6 },
    {
      head: 'par.',
      text: ({ row }) => (total(row, 'npt') > 0 ? figure(total(row, 'time') / total(row, 'npt')) : ''),
      drop: 4,
    },
    { head: 'effort', text: ({ row }) => percent(effort(row), model.effortNs), drop: 8 },
    some('idle', 'idle', 3),
    some('spin', 'spin', 8),
    some('overhead', 'overhead', 7),
    { head: 'kind', text: ({ row }) => kindText(row, model.elapsedNs / 1000), drop: 9 },
    {
      head: 'division',
      text: ({ row }) => {
        const guidance =
          hidesGuidance || effort(row) < leastEffort * model.effortNs ? null : guidanceOfCosts(model, row.total);
        return guidance === null ? '' : divisionNames[guidance];
      },
      drop: 8,
    },
    some('blocked', 'blocked', 5),
    ...(model.head.pathNs > 0
      ? [
          {
            head: 'on path',
            text: ({ row }: ShownRow) =>
              total(row, 'onPath') >= model.head.pathNs / 1000 ? percent(total(row, 'onPath'), model.head.pathNs) : '',
            drop: 7,
          },
        ]
      : []),
    ...counterColumns(model),
    ...metrics.map((metric): Column<ShownRow> => ({
      head: clean(metric.name, options),
      text: ({ row }) => derivedText(metric, row, options),
    })),
    {
      head: 'context',
      text: (shown) => indented(shown, subjectName(model, shown.row, options), options),
      short: (shown, columns) => {
        const indent = indented(shown, '', options);
        const { subject } = shown.row;
        const room = Math.max(8, columns - indent.length);
        const entity = subject.kind === 'entity' ? model.entities[subject.entity] : undefined;
        return indent + (entity ? shortLabel(model, entity, room, options) : subjectName(model, shown.row, options));
      },
      align: 'left',
      name: true,
    },
    {
      head: 'where',
      text: ({ row: { subject } }) => {
        const entity = subject.kind === 'entity' ? model.entities[subject.entity] : undefined;
        return entity && entity.id !== 0 ? place(model, entity, options) : '';
      },
      align: 'left',
      drop: 10,
    },
  ];
}

/** The largest kind of overhead, with its share unless it is all of the overhead. */
function kindText(row: ViewRow, least: number): string {
  const all = row.total[costIndex.overhead] ?? 0;
  if (all < least || all === 0) return '';
  const of = (kind: OverheadKind): number => row.total[costIndex[kind]] ?? 0;
  const most = overheadKinds.reduce((a, b) => (of(b) > of(a) ? b : a));
  return of(most) >= 0.95 * all ? kindNames[most] : `${kindNames[most]} ${percent(of(most), all)}`;
}

const derivedText = (metric: DerivedMetric, row: ViewRow, options: RenderOptions): string =>
  metric.unit === 'time' ? time(metric.value(row), options) : figure(metric.value(row));

/** The name, indented by depth, with marks for the hot path and for recursive calls. */
function indented({ depth, hot, row }: ShownRow, name: string, options: RenderOptions): string {
  const mark = hot && depth > 0 ? (options.ascii ? '>' : '›') : ' ';
  const deep = depth > deepest ? `[${depth}] ` : '';
  const recursive = name !== '' && row.recursive ? ' (recursive)' : '';
  return `${mark}${' '.repeat(Math.min(depth, deepest))}${deep}${name}${recursive}`;
}

function subjectName(model: Model, { subject }: ViewRow, options: Pick<RenderOptions, 'ascii'>): string {
  switch (subject.kind) {
    case 'entity': {
      const entity = model.entities[subject.entity];
      return entity ? label(entity, options) : '?';
    }
    case 'file':
      return subject.path === '' ? '(file not known)' : clean(baseName(subject.path), options);
    case 'module':
      return subject.path === '' ? '(no module)' : clean(baseName(subject.path), options);
  }
}

/** Identity and all costs in ns of a row, as fields of JSON and CSV. */
function fields(model: Model, { row, depth, parent }: ShownRow, metrics: readonly DerivedMetric[]): object {
  const { subject } = row;
  const entity = subject.kind === 'entity' ? model.entities[subject.entity] : undefined;
  return {
    depth,
    parent,
    kind: entity ? entity.kind : subject.kind,
    name: entity ? entity.name : subject.kind === 'entity' ? '' : subject.path,
    entity: entity ? entity.id : null,
    file: entity ? entity.file : '',
    line: entity ? entity.line : 0,
    recursive: row.recursive,
    guidance: guidanceOfCosts(model, row.total),
    ...Object.fromEntries(costNames.map((name) => [`${name}Ns`, row.total[costIndex[name]] ?? 0])),
    ...Object.fromEntries(costNames.map((name) => [`${name}SelfNs`, row.self[costIndex[name]] ?? 0])),
    ...counterFields(model, row),
    ...Object.fromEntries(metrics.map((metric) => [metric.name, metric.value(row)])),
  };
}

export const viewSchema = 'quartz-view-1';

/** `most`: the maximum number of rows, 0 = the limit for JSON. */
export function viewJson(model: Model, root: ViewRow, query: ViewQuery, version: string, most: number): string {
  const { rows, complete } = shownRows(root, orderOf(query.sort), most === 0 ? mostRows : most);
  const { program, elapsedNs, processors, effortNs } = model;
  return `${JSON.stringify({
    schema: viewSchema,
    quartz: version,
    view: query.view,
    program,
    elapsedNs,
    processors,
    effortNs,
    withoutCodeNs: withoutCodeNs(model),
    counters: countersOf(model.raw),
    metrics: query.metrics.map(({ name, unit }) => ({ name, unit })),
    complete,
    rows: rows.map((one) => fields(model, one, query.metrics)),
  })}\n`;
}

export function viewCsv(model: Model, root: ViewRow, query: ViewQuery, most: number): string {
  const { rows } = shownRows(root, orderOf(query.sort), most === 0 ? mostRows : most);
  const plain = (name: string): string => (/(Ns|Count)$/.test(name) ? columnName(name) : name);
  const all = rows.map((one) =>
    Object.fromEntries(
      Object.entries(fields(model, one, query.metrics) as Record<string, string | number | boolean | null>).map(
        ([name, value]) => [plain(name), typeof value === 'boolean' ? Number(value) : (value ?? '')],
      ),
    ),
  );
  return csvLines(all, Object.keys(all[0] ?? {}));
}
