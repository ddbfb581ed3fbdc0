/** Renders a comparison of two profiles as text, CSV and JSON. */
import { defined } from '../model/index.js';
import type { Caution, Comparison, EntityChange, Finding, Model } from '../model/index.js';
import { csvLines } from './parts/csv-lines.js';
import { kindWords } from './wording/finding-kinds.js';
import { findingSentences } from './findings/index.js';
import { facts, heading } from './parts/head.js';
import { label, shortLabel } from './wording/names.js';
import type { RenderOptions } from './format/options.js';
import { limited, table, type Column } from './parts/table.js';
import { clean, wrap } from './format/text.js';
import { count, percent, plusMinus, time } from './format/units.js';

const halfOf = ({ lowNs, highNs }: EntityChange['ci95']): number => (highNs - lowNs) / 2;
const signed = (ns: number, options: RenderOptions): string => (ns > 0 ? '+' : '') + time(ns, options);

export function changeText(comparison: Comparison, options: RenderOptions): string {
  const { before, after, elapsedChangeNs } = comparison;
  const arrow = options.ascii ? '->' : '→';
  const part =
    before.elapsedNs > 0 && elapsedChangeNs !== 0
      ? `, ${elapsedChangeNs > 0 ? '+' : '-'}${percent(Math.abs(elapsedChangeNs), before.elapsedNs)}`
      : '';
  return (
    `Elapsed time: ${time(before.elapsedNs, options)} ${arrow} ${time(after.elapsedNs, options)} ` +
    `(${signed(elapsedChangeNs, options)}${part}).`
  );
}

export function cautionText(caution: Caution): string {
  switch (caution.form) {
    case 'programs':
      return (
        `the profiles are of two programs, ${caution.before} and ${caution.after}: ` +
        'only entities with the same name (procedures: in the same file, too) are compared'
      );
    case 'processors':
      return (
        `the first ran on ${caution.before} processors, the second on ${caution.after}: ` +
        'NPT depends on how many processors are busy'
      );
    case 'compensation':
      return 'only one of them has the cost of hooks subtracted: use --raw to compare what was measured';
    case 'few-snapshots':
      return `the ${caution.which} has only ${caution.snapshots} snapshots`;
    case 'not-to-the-end':
      return `the ${caution.which} was not recorded to the program's end: compare times with care`;
  }
}

/** One sentence for each finding of either profile: new, gone, or how its cost changed. */
export function findingChanges({ after: now, findings }: Comparison, options: RenderOptions): string[] {
  const about = (finding: Finding): string => `${kindWords[finding.kind]} (${finding.name})`;
  const cost = (finding: Finding): string =>
    finding.costNs > 0 ? `cost ${time(finding.costNs, options)}` : 'cost no elapsed time';
  return findings.map(({ before, after }) =>
    before === null
      ? `new: ${clean(findingSentences(now, defined(after), options).text, options)}`
      : after === null
        ? `gone: ${about(before)}; it ${cost(before)}.`
        : `still: ${about(after)}; it ${cost(before)}, and now ${time(after.costNs, options)}.`,
  );
}

function findingsOf(comparison: Comparison, options: RenderOptions): string[] {
  return findingChanges(comparison, options).flatMap((text, index) =>
    wrap(text, options.width, 5, options).map((line, k) => (k === 0 ? `  ${index + 1}. ${line.trimStart()}` : line)),
  );
}

/**
 * The rows of the table. Threads are left out, because they divide the same time once more; CSV and JSON contain them.
 */
export const changedRows = ({ entities }: Comparison): EntityChange[] =>
  entities.filter(({ kind, changeNs }) => kind !== 'thread' && changeNs !== 0);

/** The columns of the table, for text, HTML and Markdown. */
export function changeColumns({ before, after }: Comparison, options: RenderOptions): Column<EntityChange>[] {
  const side = (ns: number | undefined): string => (ns === undefined ? '-' : time(ns, options));
  return [
    { head: 'change', text: ({ changeNs }) => signed(changeNs, options), tone: 'strong' },
    {
      head: options.ascii ? '95%' : '±95%',
      text: ({ changeNs, ci95 }) => plusMinus(halfOf(ci95) > Math.abs(changeNs) ? 0 : changeNs, halfOf(ci95), options),
      drop: 3,
    },
    { head: '', text: ({ certain, changeNs }) => (!certain ? '?' : changeNs < 0 ? 'less' : 'more'), align: 'left' },
    { head: 'before', text: (row) => side(row.before?.nptNs), drop: 4 },
    { head: 'after', text: (row) => side(row.after?.nptNs) },
    { head: 'calls before', text: ({ before: entity }) => (entity?.callsCounted ? count(entity.calls) : ''), drop: 2 },
    { head: 'calls after', text: ({ after: entity }) => (entity?.callsCounted ? count(entity.calls) : ''), drop: 1 },
    {
      head: 'procedure',
      text: (row) => label(defined(row.after ?? row.before), options),
      short: (row, columns) =>
        shortLabel(row.after === null ? before : after, defined(row.after ?? row.before), columns, options),
      align: 'left',
      name: true,
    },
  ];
}

export function comparisonReport(comparison: Comparison, options: RenderOptions): string {
  const { before, after, cautions } = comparison;
  const run = (which: string, model: Model): string[] =>
    wrap(`${which} ${facts(model, options)}`, options.width, 0, options);
  const all = changedRows(comparison);
  const { rows, more } = limited(all, options);
  return (
    [
      ...run('before:', before),
      ...run('after: ', after),
      ...cautions.flatMap((one) => wrap(`! ${cautionText(one)}`, options.width, 0, options)),
      '',
      ...wrap(changeText(comparison, options), options.width, 0, options),
      '',
      ...heading('What limits the program', options),
      '',
      ...(comparison.findings.length > 0 ? findingsOf(comparison, options) : ['  nothing stood out in either']),
      '',
      ...heading('Changes of normalized processor time (NPT), the largest first', options),
      '',
      ...(rows.length > 0 ? [...table(rows, changeColumns(comparison, options), options), ...more] : ['  none']),
    ].join('\n') + '\n'
  );
}

export function comparisonCsv({ entities }: Comparison): string {
  const columns = [
    'kind',
    'name',
    'file',
    'line',
    'change_ns',
    'change_low_ns',
    'change_high_ns',
    'npt_before_ns',
    'npt_after_ns',
    'npt_self_before_ns',
    'npt_self_after_ns',
    'calls_before',
    'calls_after',
  ];
  return csvLines(
    entities.map(({ kind, name, before, after, changeNs, ci95 }) => ({
      kind,
      name,
      file: defined(after ?? before).file,
      line: defined(after ?? before).line,
      change_ns: changeNs,
      change_low_ns: ci95.lowNs,
      change_high_ns: ci95.highNs,
      npt_before_ns: before?.nptNs ?? '',
      npt_after_ns: after?.nptNs ?? '',
      npt_self_before_ns: before?.nptSelfNs ?? '',
      npt_self_after_ns: after?.nptSelfNs ?? '',
      calls_before: before?.callsCounted ? before.calls : '',
      calls_after: after?.callsCounted ? after.calls : '',
    })),
    columns,
  );
}

export const comparisonSchema = 'quartz-compare-1';

export function comparisonJson({ before, after, elapsedChangeNs, entities, findings, cautions }: Comparison): string {
  const run = (model: Model): object => ({
    program: model.program,
    arguments: model.head.arguments,
    elapsedNs: model.elapsedNs,
    processors: model.processors,
    samples: model.samples,
  });
  const finding = (model: Model, one: Finding | null): object | null =>
    one && {
      name: one.name,
      kind: one.kind,
      change: one.change,
      ...findingSentences(model, one, { ascii: false }),
      costNs: one.costNs,
      savingNs: one.savingNs,
    };
  return (
    JSON.stringify({
      schema: comparisonSchema,
      before: run(before),
      after: run(after),
      elapsedChangeNs,
      cautions: cautions.map(cautionText),
      findings: findings.map((one) => ({ before: finding(before, one.before), after: finding(after, one.after) })),
      entities: entities.map((row) => ({
        kind: row.kind,
        name: row.name,
        changeNs: row.changeNs,
        ci95: row.ci95,
        certain: row.certain,
        nptBeforeNs: row.before?.nptNs ?? null,
        nptAfterNs: row.after?.nptNs ?? null,
        callsBefore: row.before?.callsCounted ? row.before.calls : null,
        callsAfter: row.after?.callsCounted ? row.after.calls : null,
      })),
    }) + '\n'
  );
}
