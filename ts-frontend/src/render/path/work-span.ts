/** Work and span, and predictions for other numbers of processors, as text and CSV. */
import { isMostlyUnended, isMuchUnseen, item, sharesWork } from '../../model/index.js';
import type { LockHold, Model, Prediction, SpanSite, WorkSpan } from '../../model/index.js';
import { chainColumns, shownOnChain } from './chain-entities.js';
import { curveLine } from './curve.js';
import { heading, noteLines } from '../parts/head.js';
import { callText, entityName, label } from '../wording/names.js';
import type { RenderOptions } from '../format/options.js';
import { scalingSentence } from './scaling.js';
import { limited, table, type Column } from '../parts/table.js';
import { answered, slackTable, timeOn, whatIfSection } from './what-if.js';
import { clean, paint, wrap } from '../format/text.js';
import { count, figure, percent, time } from '../format/units.js';

/** Advice for a profile without work and span. */
export const noWorkSpanText =
  'work and span were not recorded, or no thread reached an event that ends a strand; ' +
  'record it again with: quartz record --span -- PROGRAM';

const few = 0.1; // relative difference below which two spans are considered equal

function summary(model: Model, span: WorkSpan, options: RenderOptions): string[] {
  const { spanNs, typicalSpanNs: typical, burdenedSpanNs: burdened } = span;
  const spans = [
    typical !== null && typical < (1 - few) * spanNs ? `typically ${time(typical, options)}` : '',
    burdened !== null && burdened > (1 + few) * spanNs ? `burdened ${time(burdened, options)}` : '',
  ].filter((text) => text !== '');
  const text = [
    ...wrap(
      `Work ${time(span.workNs, options)}, span ${time(spanNs, options)}` +
        `${spans.length > 0 ? ` (${spans.join(', ')})` : ''}: parallelism ${figure(span.parallelism)}; ` +
        `it took ${time(model.elapsedNs, options)} on ${count(model.processors)} ` +
        (model.processors === 1 ? 'processor' : 'processors'),
      options.width,
      0,
      options,
    ).map((line) => paint(line, 'heading', options)),
    '',
  ];
  for (const fact of span.scaling)
    text.push(...wrap(clean(scalingSentence(model, span, fact, options), options), options.width, 2, options));
  const note = (line: string): void => void text.push(...noteLines(line, options));
  if (model.raw.head.attached)
    note(
      'the program ran before this recording: work and span are those since then, and every thread of that time ' +
        'starts with a span of 0',
    );
  if (!span.cpuWaitsOut)
    note(
      'waits for CPUs could not be distinguished from work, so both include them: record on a machine that is not busy',
    );
  if (span.cpuWaitNs !== null && span.cpuWaitNs > few * span.workNs)
    note(`processors waited ${time(span.cpuWaitNs, options)} for a CPU, which none of these numbers includes`);
  if (model.raw.head.publisher === 'pthread')
    note(
      'these are work and span of threads, and of tasks of OpenMP and TBB: where threads take other tasks from a ' +
        'queue, as in a thread pool, the order in which they took them counts as if it were required' +
        (sharesWork(span) ? '; with more threads the span may be shorter (quartz run --try measures it)' : ''),
    );
  if (isMuchUnseen(span.unseenOrder, model)) note(unseenText(model, span, options));
  if (isMostlyUnended(span, model))
    note(
      `${time(span.unendedNs, options)} of processor time is in neither: it is that of threads whose work did ` +
        'not end with an event that the pthread layer sees, or that were at work when the program or the recording ' +
        'ended; therefore there is no prediction for other numbers of processors',
    );
  if (burdened !== null && burdened > 1.5 * spanNs)
    note(
      'handing work to other processors takes longer than the span itself: make the spawned calls larger, ' +
        'or spawn fewer',
    );
  if (span.lostCrumbs > 0)
    note(`${count(span.lostCrumbs)} records were lost: what is on the span is less certain, its length is not`);
  if (text.at(-1) !== '') text.push('');
  return text;
}

/** Why the span may be longer than what is known of it. */
function unseenText(model: Model, { unseenOrder: unseen }: WorkSpan, options: RenderOptions): string {
  const waits = unseen.entity
    ? `threads waited ${time(unseen.waitNs, options)}, added up, for what the pthread layer does not see, most of it ` +
      `at ${entityName(model, unseen.entity, options)}`
    : '';
  const regions = unseen.regions ? "the beginning and end of parallel regions of LLVM's OpenMP are not seen" : '';
  return (
    `${[regions, waits].filter((part) => part !== '').join('; ')}: this orders no work here, so the span may be ` +
    'longer, and the times on other numbers of processors are lower bounds'
  );
}

/** Predictions for powers of two and for the number of processors of the recording. */
function predictionTable(model: Model, span: WorkSpan, options: RenderOptions): string[] {
  if (span.prediction.length === 0) return [];
  const rows = span.prediction.filter(
    ({ processors }) => (processors & (processors - 1)) === 0 || processors === model.processors,
  );
  const last = span.prediction.at(-1);
  const enough = last === undefined ? -1 : rows.findIndex(({ ns }) => ns <= 1.02 * last.ns);
  const shown = options.top === 0 || enough < 0 ? rows : rows.slice(0, enough + 1);
  const one = span.prediction[0]?.ns ?? 0;
  const columns: Column<Prediction>[] = [
    { head: 'processors', text: ({ processors }) => count(processors) },
    { head: 'time', text: ({ ns }) => time(ns, options), tone: 'strong' },
    { head: 'at least', text: ({ lowNs }) => time(lowNs, options) },
    { head: 'at most', text: ({ highNs }) => time(highNs, options) },
    { head: 'speed-up', text: ({ ns }) => figure(one / ns) },
    ...answered(model, span, options).map(({ head, prediction }): Column<Prediction> => ({
      head,
      text: ({ processors }) => time(timeOn(prediction, processors), options),
      drop: 1,
    })),
    { head: 'curve', text: (row) => curveLine(row, one, options), align: 'left', drop: 2 },
  ];
  const more = shown.length < rows.length ? ['', '  More processors gain less than 2 %.'] : [];
  return [...heading('On other numbers of processors', options), '', ...table(shown, columns, options), ...more, ''];
}

function entityTable(model: Model, span: WorkSpan, options: RenderOptions): string[] {
  const { rows, more } = limited(shownOnChain(model, span.entities), options);
  const columns = chainColumns<(typeof rows)[number]>(
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
  const unseen =
    span.unseenNs >= span.spanNs / 200
      ? [`  ${percent(span.unseenNs, span.spanNs)} of the span was too short to be seen.`]
      : [];
  return [...heading('What is on the span', options), '', ...table(rows, columns, options), ...more, ...unseen, ''];
}

/** Merges spawn sites on one source line that start the same procedure: a compiler may have duplicated the call. */
function sitesByLine({ sites, entities }: WorkSpan): SpanSite[] {
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

function siteTable(model: Model, span: WorkSpan, options: RenderOptions): string[] {
  if (span.sites.length === 0) return [];
  const { rows, more } = limited(sitesByLine(span), options);
  const columns: Column<SpanSite>[] = [
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
  return [...heading('What was spawned or created', options), '', ...table(rows, columns, options), ...more, ''];
}

function lockTable(model: Model, span: WorkSpan, options: RenderOptions): string[] {
  const most = span.locks[0]?.holdNs ?? 0;
  if (most < 0.05 * span.workNs) return [];
  const { rows, more } = limited(
    span.locks.filter(({ holdNs }) => holdNs >= 0.01 * span.workNs),
    options,
  );
  const columns: Column<LockHold>[] = [
    { head: 'held', text: ({ holdNs }) => time(holdNs, options), tone: 'strong' },
    { head: 'of work', text: ({ holdNs }) => percent(holdNs, span.workNs) },
    {
      head: 'lock',
      text: ({ entity }) => label(item(model.entities, entity), options),
      align: 'left',
      name: true,
    },
  ];
  return [
    ...heading('Locks: no run is shorter than the time for which one is held', options),
    '',
    ...table(rows, columns, options),
    ...more,
    '',
  ];
}

export function workSpanReport(model: Model, span: WorkSpan, options: RenderOptions): string {
  const text = [
    ...summary(model, span, options),
    ...predictionTable(model, span, options),
    ...whatIfSection(model, span, options),
    ...entityTable(model, span, options),
    ...siteTable(model, span, options),
    ...lockTable(model, span, options),
    ...slackTable(model, span, options),
  ];
  while (text.at(-1) === '') text.pop();
  return `${text.join('\n')}\n`;
}
