/** Work and span, and predictions for other numbers of processors, as text and CSV. */
import { item } from '../../model/index.js';
import type { Entity, LockHold, Model, Prediction, SpanSite, WorkSpan } from '../../model/index.js';
import { chainColumns, shownOnChain } from './chain-entities.js';
import { curveLine } from './curve.js';
import { heading, noteLines } from '../parts/head.js';
import { callText, label } from '../wording/names.js';
import type { RenderOptions } from '../format/options.js';
import { spanSummary } from './span-summary.js';
import { limited, table, type Column } from '../parts/table.js';
import { rowsWorth, slackTable, whatIfSection } from './what-if.js';
import { paint, wrap } from '../format/text.js';
import { count, figure, percent, time } from '../format/units.js';

/** Advice for a profile without work and span. */
export const noWorkSpanText =
  'work and span were not recorded, or no thread reached an event that ends a strand; ' +
  'record it again with: quartz record --span -- PROGRAM';

function summary(model: Model, span: WorkSpan, options: RenderOptions): string[] {
  const { lengths, limits, notes } = spanSummary(model, span, options);
  const text = [
    ...wrap(lengths, options.width, 0, options).map((line) => paint(line, 'heading', options)),
    '',
    ...limits.flatMap((line) => wrap(line, options.width, 2, options)),
    ...notes.flatMap((line) => noteLines(line, options)),
  ];
  return text.at(-1) === '' ? text : [...text, ''];
}

/** Predictions for powers of two and for the number of processors of the recording. */
export const predictionRows = (model: Model, span: WorkSpan): Prediction[] =>
  span.prediction.filter((row) => isPowerOfTwo(row) || row.processors === model.processors);
export const isPowerOfTwo = ({ processors }: Prediction): boolean => (processors & (processors - 1)) === 0;

/** Without the curve. */
export function predictionColumns(span: WorkSpan, options: RenderOptions): Column<Prediction>[] {
  const one = span.prediction[0]?.ns ?? 0;
  return [
    { head: 'processors', text: ({ processors }) => count(processors) },
    { head: 'time', text: ({ ns }) => time(ns, options), tone: 'strong' },
    { head: 'at least', text: ({ lowNs }) => time(lowNs, options) },
    { head: 'at most', text: ({ highNs }) => time(highNs, options) },
    { head: 'speed-up', text: ({ ns }) => figure(one / ns) },
  ];
}

/** Until more processors gain little. */
function predictionTable(model: Model, span: WorkSpan, options: RenderOptions): string[] {
  const rows = predictionRows(model, span);
  const shown = options.top === 0 ? rows : rowsWorth(span.prediction, rows);
  if (shown.length === 0) return [];
  const one = span.prediction[0]?.ns ?? 0;
  const columns: Column<Prediction>[] = [
    ...predictionColumns(span, options),
    { head: 'curve', text: (row) => curveLine(row, one, options), align: 'left', drop: 1 },
  ];
  const more = shown.length < rows.length ? ['', '  More processors gain less than 2 %.'] : [];
  return [...heading('On other numbers of processors', options), '', ...table(shown, columns, options), ...more, ''];
}

type SpanRow = WorkSpan['entities'][number] & { of: Entity };
export const spanColumns = (model: Model, span: WorkSpan, options: RenderOptions): Column<SpanRow>[] =>
  chainColumns<SpanRow>(
    model,
    {
      head: 'on span',
      wholeNs: span.spanNs,
      ns: ({ onSpanNs }) => onSpanNs,
      selfNs: ({ onSpanSelfNs }) => onSpanSelfNs,
      beside: { head: 'on work', text: ({ workNs }) => (workNs > 0 ? time(workNs, options) : '') },
    },
    options,
  );

function entityTable(model: Model, span: WorkSpan, options: RenderOptions): string[] {
  const { rows, more } = limited(shownOnChain(model, span.entities), options);
  const columns = spanColumns(model, span, options);
  const unseen =
    span.unseenNs >= span.spanNs / 200
      ? [`  ${percent(span.unseenNs, span.spanNs)} of the span was too short to be seen.`]
      : [];
  return [...heading('What is on the span', options), '', ...table(rows, columns, options), ...more, ...unseen, ''];
}

/** Merges spawn sites on one source line that start the same procedure: a compiler may have duplicated the call. */
export function sitesByLine({ sites, entities }: WorkSpan): SpanSite[] {
  const byPlace = new Map<string, SpanSite>();
  for (const site of sites) {
    const { caller, line, start } = site;
    const key = line > 0 ? `${caller} ${line} ${start}` : `at ${site.site}`;
    const same = byPlace.get(key);
    byPlace.set(key, same === undefined ? site : together(same, site));
  }
  const rows = [...byPlace.values()].sort((a, b) => b.topWorkNs - a.topWorkNs || b.workNs - a.workNs);
  return rows.map((row) => {
    const alone = row.start !== 0 && rows.filter(({ start }) => start === row.start).length === 1;
    const on = alone ? entities.find(({ entity }) => entity === row.start) : undefined;
    return { ...row, onSpanNs: on?.onSpanNs ?? row.onSpanNs, onSpanSelfNs: on?.onSpanSelfNs ?? row.onSpanSelfNs };
  });
}
function together(a: SpanSite, b: SpanSite): SpanSite {
  const topWorkNs = a.topWorkNs + b.topWorkNs;
  const topSpanNs = a.topSpanNs + b.topSpanNs;
  return {
    ...a,
    count: a.count + b.count,
    workNs: a.workNs + b.workNs,
    spanNs: a.spanNs + b.spanNs,
    topCount: a.topCount + b.topCount,
    topWorkNs,
    topSpanNs,
    parallelism: topSpanNs > 0 ? topWorkNs / topSpanNs : 0,
  };
}

export function siteColumns(model: Model, span: WorkSpan, options: RenderOptions): Column<SpanSite>[] {
  return [
    { head: 'work', text: ({ topWorkNs }) => time(topWorkNs, options), tone: 'strong' },
    { head: 'span', text: ({ topSpanNs }) => time(topSpanNs, options) },
    { head: 'par.', text: ({ parallelism }) => (parallelism > 0 ? figure(parallelism) : '') },
    { head: 'calls', text: ({ topCount }) => count(topCount), drop: 3 },
    { head: 'all calls', text: (row) => (row.count > row.topCount ? count(row.count) : ''), drop: 4 },
    {
      head: 'on span',
      text: ({ onSpanNs }) => (onSpanNs === null ? '' : percent(onSpanNs, span.spanNs)),
      drop: 2,
    },
    {
      head: 'self',
      text: ({ onSpanSelfNs }) => (onSpanSelfNs === null ? '' : percent(onSpanSelfNs, span.spanNs)),
      drop: 5,
    },
    {
      head: 'spawned',
      text: ({ start }) => (start === 0 ? '(at other places)' : label(item(model.entities, start), options)),
      align: 'left',
      name: true,
    },
    {
      head: 'in',
      text: (site) => callText(model, site, options),
      align: 'left',
      drop: 6,
    },
  ];
}

function siteTable(model: Model, span: WorkSpan, options: RenderOptions): string[] {
  if (span.sites.length === 0) return [];
  const { rows, more } = limited(sitesByLine(span), options);
  const columns = siteColumns(model, span, options);
  return [...heading('What was spawned or created', options), '', ...table(rows, columns, options), ...more, ''];
}

/** None, if all are held for little of the work. */
export const locksWorth = ({ locks, workNs }: WorkSpan): LockHold[] =>
  (locks[0]?.holdNs ?? 0) < 0.05 * workNs ? [] : locks.filter(({ holdNs }) => holdNs >= 0.01 * workNs);

export const lockHoldColumns = (model: Model, span: WorkSpan, options: RenderOptions): Column<LockHold>[] => [
  { head: 'held', text: ({ holdNs }) => time(holdNs, options), tone: 'strong' },
  { head: 'of work', text: ({ holdNs }) => percent(holdNs, span.workNs) },
  { head: 'lock', text: ({ entity }) => label(item(model.entities, entity), options), align: 'left', name: true },
];
export const lockHoldTitle = 'Locks: no run is shorter than the time for which one is held';

function lockTable(model: Model, span: WorkSpan, options: RenderOptions): string[] {
  const worth = locksWorth(span);
  if (worth.length === 0) return [];
  const { rows, more } = limited(worth, options);
  const columns = lockHoldColumns(model, span, options);
  return [...heading(lockHoldTitle, options), '', ...table(rows, columns, options), ...more, ''];
}

export function workSpanReport(model: Model, span: WorkSpan, options: RenderOptions): string {
  const text = [
    ...summary(model, span, options),
    ...predictionTable(model, span, options),
    ...whatIfSection(model, span, predictionRows(model, span), options),
    ...entityTable(model, span, options),
    ...siteTable(model, span, options),
    ...lockTable(model, span, options),
    ...slackTable(model, span, options),
  ];
  while (text.at(-1) === '') text.pop();
  return `${text.join('\n')}\n`;
}
