/**
 * A report in Markdown for job summaries and merge requests: findings, a summary of the run, the costliest procedures.
 */
import type { Comparison, Model } from '../model/index.js';
import { cautionText, changeColumns, changedRows, changeText, findingChanges } from './compare.js';
import { findingSentences } from './findings/index.js';
import type { RenderOptions } from './format/options.js';
import { clean } from './format/text.js';
import { beforeFindings, facts, processorsText } from './parts/head.js';
import { noticeLine } from './notices/index.js';
import { procedureColumns, procedureRows } from './procedures.js';
import type { Column } from './parts/table.js';

/** Escapes a text for Markdown: names may contain characters that Markdown or HTML would interpret. */
const plain = (text: string, options: Pick<RenderOptions, 'ascii'>): string =>
  clean(text, options)
    .replace(/[\\`*_{}[\]#|~]/g, '\\$&')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');

function markdownTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], options: RenderOptions): string[] {
  const some = options.top === 0 ? rows : rows.slice(0, options.top);
  const cells = columns
    .map((column) => ({ column, texts: some.map((row) => column.text(row)) }))
    .filter(({ column, texts }) => column.drop === undefined || texts.some((text) => text.trim() !== ''));
  const line = (texts: readonly string[]): string => `| ${texts.join(' | ')} |`;
  return [
    line(cells.map(({ column }) => plain(column.head, options))),
    line(cells.map(({ column }) => (column.align === 'left' ? ':--' : '--:'))),
    ...some.map((_, at) => line(cells.map(({ texts }) => plain(texts[at] ?? '', options)))),
  ];
}

export function markdown(model: Model, options: RenderOptions): string {
  const before = model.findings.length > 0 ? beforeFindings(model, options) : '';
  const findings = model.findings.flatMap((finding, at) => {
    const { text, remedy } = findingSentences(model, finding, options);
    return [`${at + 1}. ${plain(text, options)}`, `   **${plain(remedy, options)}**`];
  });
  return `${[
    '## What limits this program',
    '',
    ...(before === '' ? [] : [plain(before, options), '']),
    ...(findings.length > 0 ? findings : ['Nothing stands out.']),
    '',
    plain(facts(model, options), options),
    '',
    plain(processorsText(model, options), options),
    '',
    ...model.notices.map((one) => `- ${plain(noticeLine(model, one, options), options)}`),
    '',
    '### Procedures by normalized processor time (NPT)',
    '',
    ...markdownTable(procedureRows(model), procedureColumns(model, options), options),
  ].join('\n')}\n`;
}

export function comparisonMarkdown(comparison: Comparison, options: RenderOptions): string {
  return `${[
    '## What changed',
    '',
    `**${plain(changeText(comparison, options), options)}**`,
    '',
    ...findingChanges(comparison, options).map((text) => `- ${plain(text, options)}`),
    ...comparison.cautions.map((one) => `- ! ${plain(cautionText(one), options)}`),
    '',
    '### Changes of normalized processor time (NPT), the largest first',
    '',
    ...markdownTable(changedRows(comparison), changeColumns(comparison, options), options),
  ].join('\n')}\n`;
}
