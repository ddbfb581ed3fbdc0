/** Work and span: what the run would take on other numbers of processors, and what limits it there. Pure functions. */
import { workSpanOf, type Model, type WorkSpan } from '../../model/index.js';
import type { RenderOptions } from '../../render/format/options.js';
import { shownOnChain } from '../../render/path/chain-entities.js';
import { spanSummary } from '../../render/path/span-summary.js';
import { slackColumns, slackRows, slackTitle, whatIfColumns, whatIfTexts } from '../../render/path/what-if.js';
import {
  lockHoldColumns,
  lockHoldTitle,
  locksWorth,
  noWorkSpanText,
  predictionColumns,
  predictionRows,
  siteColumns,
  sitesByLine,
  spanColumns,
} from '../../render/path/work-span.js';
import { escapeProse } from '../drawing/escape.js';
import { predictionCurve } from './prediction-curve.js';
import { htmlTable } from './table.js';

const options: RenderOptions = { width: 160, colour: false, ascii: false, top: 0 };
const mostRows = 20;

export function workAndSpan(model: Model): string {
  const span = workSpanOf(model);
  if (span === null) return `<p>${escapeProse(noWorkSpanText)}.</p>`;
  const { lengths, limits, notes } = spanSummary(model, span, options);
  const rows = sitesByLine(span);
  const locks = locksWorth(span);
  const slack = slackRows(span);
  return (
    [lengths, ...limits].map((text) => `<p>${escapeProse(text)}</p>`).join('') +
    (notes.length > 0
      ? `<ul class="notices">${notes.map((text) => `<li>${escapeProse(text)}</li>`).join('')}</ul>`
      : '') +
    predicted(model, span) +
    htmlTable('What is on the span', shownOnChain(model, span.entities), spanColumns(model, span, options), mostRows) +
    (rows.length > 0
      ? htmlTable('What was spawned or created', rows, siteColumns(model, span, options), mostRows)
      : '') +
    (locks.length > 0 ? htmlTable(lockHoldTitle, locks, lockHoldColumns(model, span, options), mostRows) : '') +
    (slack.length > 0 ? htmlTable(slackTitle, slack, slackColumns(model, options), mostRows) : '')
  );
}

function predicted(model: Model, span: WorkSpan): string {
  const rows = predictionRows(model, span);
  const texts = whatIfTexts(model, span, options).map((text) => `<p>${escapeProse(text)}</p>`);
  if (rows.length === 0) return texts.join('');
  return (
    predictionCurve(model, span) +
    htmlTable('On other numbers of processors', rows, predictionColumns(span, options), rows.length) +
    texts.join('') +
    (texts.length > 0 ? htmlTable('What if', rows, whatIfColumns(model, span, options), rows.length) : '')
  );
}
