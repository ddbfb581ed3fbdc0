/** Answers to "what if" questions as sentences and JSON; the table of slack. */
import { item } from '../../model/index.js';
import type { Model, Prediction, Slack, WhatIf, WorkSpan } from '../../model/index.js';
import { heading } from '../parts/head.js';
import { callText, label } from '../wording/names.js';
import type { RenderOptions } from '../format/options.js';
import { limited, table, type Column } from '../parts/table.js';
import { clean, wrap } from '../format/text.js';
import { count, figure, percent, time } from '../format/units.js';

type Letters = Pick<RenderOptions, 'ascii'>;

const nameOf = (model: Model, { entity, kind, name }: WhatIf, options: Letters): string =>
  entity === 0 || kind === 'site' ? name : label(item(model.entities, entity), options);

/** Templates of the standard library that create threads (std::vector<std::thread>) say nothing about the place. */
function threadsOf(model: Model, site: NonNullable<WhatIf['site']>, options: Letters): string {
  const runs = site.start === 0 ? site.runs : label(item(model.entities, site.start), options);
  const caller = site.caller === 0 ? undefined : item(model.entities, site.caller);
  const creator = caller === undefined ? site.creator : caller.origin === 'standard' ? '' : label(caller, options);
  if (runs === '') return 'the threads created at a place whose name is not known';
  return creator === '' ? `threads that run ${runs}` : `threads that ${creator} creates to run ${runs}`;
}

const condition = (model: Model, { kind, site, factor, sinceNs }: WhatIf, name: string, options: Letters): string => {
  if (kind === 'lock') return `If nobody had to wait for ${name}`;
  const what = site === null ? name : threadsOf(model, site, options);
  const since = sinceNs === null ? '' : ` from ${time(sinceNs, options)} on`;
  if (factor === 0) return `If ${what} were free${since}`;
  return `If ${what} took ${factor === 0.5 ? 'half' : figure(factor)} ${factor === 0.5 ? '' : 'times '}as long`;
};

const little = 0.005; // share of the span

/** Why a question has no answer. */
function none(model: Model, { kind, basis }: WhatIf, name: string): string {
  if (basis === 'unseen')
    return model.raw.head.paths.running
      ? `What if ${name}: no snapshot shows it; it did not run, or too briefly.`
      : `What if ${name}: it has no hooks, so it is not known when it runs; compile it with the flags that "quartz ` +
          'cflags" prints, or ask about a start routine of threads.';
  if (basis === 'never-ran')
    return kind === 'site' ? `What if ${name}: no thread was created there.` : `What if ${name}: it never ran.`;
  return kind === 'lock'
    ? `What if ${name}: no procedure or lock has that name.`
    : `What if ${name}: no procedure has that name.`;
}

const worth = 0.98; // processor counts whose time is above this ratio of the previous one's are not shown

const timeOn = (rows: readonly Prediction[], P: number): number =>
  rows.find(({ processors }) => processors === P)?.ns ?? 0;

function onProcessors(model: Model, span: WorkSpan, { prediction, basis }: WhatIf, options: Letters): string {
  const exact = basis === 'exact';
  const [first, ...others] = [model.processors, 2 * model.processors, 8 * model.processors]
    .filter((P) => timeOn(prediction, P) > 0)
    .filter((P, k, all) => k === 0 || timeOn(prediction, P) < worth * timeOn(prediction, all[k - 1] ?? P))
    .map((P) => {
      const now = time(timeOn(span.prediction, P), options);
      const its = prediction.find(({ processors }) => processors === P);
      // Where only bounds of the span are known, the estimate would be no better than these.
      const then = exact
        ? time(its?.ns ?? 0, options)
        : `between ${time(its?.lowNs ?? 0, options)} and ${time(its?.highNs ?? 0, options)}`;
      return `${then} instead of ${now} on ${count(P)}`;
    });
  if (first === undefined) return '';
  const processors = model.processors === 1 ? 'processor' : 'processors';
  return ` The run would take ${exact ? 'about ' : ''}${[`${first} ${processors}`, ...others].join(', ')}.`;
}

function whatIfSentence(model: Model, span: WorkSpan, answer: WhatIf, options: Letters): string {
  const name = nameOf(model, answer, options);
  const { spanNs, lowNs, highNs } = answer;
  if (spanNs === null || lowNs === null || highNs === null) return none(model, answer, name);
  const now = time(span.spanNs, options);
  if (!answer.waited) return `Nobody had to wait for ${name}: the span is ${now} with or without it.`;
  const length =
    answer.basis === 'exact'
      ? `${time(spanNs, options)} instead of ${now}`
      : `between ${time(lowNs, options)} and ${time(highNs, options)} instead of ${now}`;
  const why =
    answer.basis === 'exact'
      ? ''
      : ' This is an estimate: its calls were seen only in samples, which show only what is on the span now.';
  const then = `${condition(model, answer, name, options)}, the span would be`;
  if (answer.basis === 'exact' && Math.abs(span.spanNs - spanNs) < little * span.spanNs)
    return `${then} just as long: another chain of work takes as long.`;
  const run = onProcessors(model, span, answer, options);
  return `${then} ${length}.${run}${why}`;
}

/** Answers other than the span itself. */
export const answered = (
  model: Model,
  span: WorkSpan,
  options: Letters,
): { head: string; prediction: WorkSpan['prediction'] }[] =>
  span.whatIf
    .filter(({ spanNs, waited }) => spanNs !== null && waited && Math.abs(span.spanNs - spanNs) >= little * span.spanNs)
    .map((answer) => ({
      head: headOf(clean(nameOf(model, answer, options), options), answer),
      prediction: answer.prediction,
    }));

function headOf(name: string, { kind, factor }: WhatIf): string {
  if (kind === 'lock') return `no wait for ${name}`;
  return factor === 0 ? `${name} free` : `${name} x ${figure(factor)}`;
}

/** Those of `rows` up to the number of processors beyond which more gain less than 2 %. */
export function rowsWorth(prediction: readonly Prediction[], rows: readonly Prediction[]): Prediction[] {
  const last = prediction.at(-1)?.ns ?? 0;
  const enough = rows.findIndex(({ processors }) => timeOn(prediction, processors) <= 1.02 * last);
  return enough < 0 ? [...rows] : rows.slice(0, enough + 1);
}

export const whatIfTexts = (model: Model, span: WorkSpan, options: Letters): string[] =>
  span.whatIf.map((answer) => clean(whatIfSentence(model, span, answer, options), options));

/** The time of the run, and with each answer that changes it. */
export const whatIfColumns = (model: Model, span: WorkSpan, options: Letters): Column<Prediction>[] => [
  { head: 'processors', text: ({ processors }) => count(processors) },
  { head: 'as it is', text: ({ ns }) => time(ns, options), tone: 'strong' },
  ...answered(model, span, options).map(({ head, prediction }): Column<Prediction> => ({
    head,
    text: ({ processors }) => time(timeOn(prediction, processors), options),
    drop: 1,
  })),
];

export function whatIfSection(
  model: Model,
  span: WorkSpan,
  rows: readonly Prediction[],
  options: RenderOptions,
): string[] {
  if (span.whatIf.length === 0) return [];
  const text = whatIfTexts(model, span, options).flatMap((line) => wrap(line, options.width, 2, options));
  const answers = answered(model, span, options);
  // As many rows as the answer takes that gains the longest.
  const shown = answers
    .map(({ prediction }) => rowsWorth(prediction, rows))
    .reduce((most, some) => (some.length > most.length ? some : most), rowsWorth(span.prediction, rows));
  const its =
    answers.length === 0 || rows.length === 0
      ? []
      : ['', ...table(options.top === 0 ? rows : shown, whatIfColumns(model, span, options), options)];
  return [...heading('What if', options), '', ...text, ...its, ''];
}

/** Places on one source line are one: a compiler may have duplicated the call. */
function slackByLine(slack: readonly Slack[]): Slack[] {
  const byPlace = new Map<string, Slack>();
  for (const row of slack) {
    const key = row.line > 0 ? `${row.caller} ${row.line}` : `at ${row.site}`;
    const same = byPlace.get(key);
    byPlace.set(key, same === undefined ? row : slackTogether(same, row));
  }
  return [...byPlace.values()].sort((a, b) => b.slackNs - a.slackNs || a.site - b.site);
}
function slackTogether(a: Slack, b: Slack): Slack {
  const lost = a.lost + b.lost;
  const slackNs = a.slackNs + b.slackNs;
  const least = [a, b].filter((row) => row.lost > 0).map(({ leastSlackNs }) => leastSlackNs);
  return {
    ...a,
    merges: a.merges + b.merges,
    threads: a.threads + b.threads,
    lost,
    slackNs,
    meanSlackNs: lost > 0 ? slackNs / lost : 0,
    leastSlackNs: least.length > 0 ? Math.min(...least) : 0,
  };
}

export const slackRows = ({ slack, spanNs }: WorkSpan): Slack[] =>
  slackByLine(slack).filter(({ lost, meanSlackNs }) => lost > 0 && meanSlackNs >= spanNs / 1000);

export function slackColumns(model: Model, options: RenderOptions): Column<Slack>[] {
  return [
    { head: 'slack', text: ({ meanSlackNs }) => time(meanSlackNs, options), tone: 'strong' },
    { head: 'least', text: ({ leastSlackNs }) => time(leastSlackNs, options), drop: 2 },
    { head: 'threads', text: ({ lost }) => count(lost) },
    { head: 'of those', text: ({ lost, threads }) => percent(lost, threads), drop: 3 },
    { head: 'waits', text: ({ merges }) => count(merges), drop: 4 },
    {
      head: 'waited for in',
      text: (row) => (row.caller === 0 ? '(other places)' : callText(model, row, options)),
      align: 'left',
      name: true,
    },
  ];
}
export const slackTitle = 'Threads that could take longer';

export function slackTable(model: Model, span: WorkSpan, options: RenderOptions): string[] {
  const worth = slackRows(span);
  if (worth.length === 0) return [];
  const { rows, more } = limited(worth, options);
  const columns = slackColumns(model, options);
  return [...heading(slackTitle, options), '', ...table(rows, columns, options), ...more, ''];
}

export const whatIfJson = (answer: WhatIf): object => ({
  ...answer,
  site: undefined, // the name contains it
  entity: answer.entity === 0 ? null : answer.entity,
});
