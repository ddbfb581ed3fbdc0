/**
 * The predicted time of a run over the number of processors, with its bounds and what it would be with other weights.
 * Both axes are logarithmic, so that a run that becomes faster in proportion is a straight line. Pure functions.
 */
import type { Model, Prediction, WorkSpan } from '../../model/index.js';
import { count, time } from '../../render/format/units.js';
import { answered } from '../../render/path/what-if.js';
import { isPowerOfTwo } from '../../render/path/work-span.js';
import { escape } from '../drawing/escape.js';

const width = 700;
const height = 260;
const left = 70;
const bottom = 40;
const top = 10;
const letters = { ascii: false };

/** '' if there is no prediction, or it is no time. */
export function predictionCurve(model: Model, span: WorkSpan): string {
  const rows = span.prediction.filter(isPowerOfTwo);
  const answers = answered(model, span, letters).slice(0, 4);
  const lines = [rows, ...answers.map(({ prediction }) => prediction)];
  const most = Math.max(0, ...rows.map(({ highNs }) => highNs));
  const least = Math.min(...lines.flat().map(({ ns, lowNs }) => Math.min(ns, lowNs)));
  const last = rows.at(-1)?.processors ?? 0;
  if (!(least > 0) || last < 2) return '';
  const x = (processors: number): string =>
    (left + ((width - left - 20) * Math.log2(processors)) / Math.log2(last)).toFixed(1);
  const scale = Math.max(0.1, Math.log(most / least));
  const y = (ns: number): string =>
    (top + ((height - bottom - top) * Math.log(most / Math.max(ns, least))) / scale).toFixed(1);
  const line = (of: readonly Prediction[], ns: (row: Prediction) => number): string =>
    of.map((row) => `${x(row.processors)},${y(ns(row))}`).join(' ');
  const band = `${line(rows, ({ highNs }) => highNs)} ${line([...rows].reverse(), ({ lowNs }) => lowNs)}`;
  const others = answers.map(
    ({ head, prediction }, at) =>
      `<polyline class="curve p${at + 1}" points="${line(prediction.filter(isPowerOfTwo), ({ ns }) => ns)}">` +
      `<title>${escape(head)}</title></polyline>`,
  );
  const points = rows.map(
    ({ processors, ns, lowNs, highNs }) =>
      `<circle class="point" cx="${x(processors)}" cy="${y(ns)}" r="3"><title>${escape(
        `${count(processors)} processors: ${time(ns)}, from ${time(lowNs)} to ${time(highNs)}`,
      )}</title></circle>`,
  );
  const axis = rows.map(
    ({ processors }) =>
      `<text x="${x(processors)}" y="${height - bottom + 15}" text-anchor="middle">${processors}</text>`,
  );
  const here = `<line x1="${x(model.processors)}" x2="${x(model.processors)}" y1="${top}" y2="${height - bottom}"/>`;
  const summary = `Predicted time of the run on 1 to ${count(last)} processors; the table has the same numbers`;
  const keys = answers.map(({ head }, at) => `<span class="key l${at + 1}"></span>${escape(head)} `);
  return (
    `<figure><svg class="prediction" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(summary)}">` +
    `<polygon class="bounds" points="${band}"/>${model.processors <= last ? here : ''}` +
    `<polyline class="curve p0" points="${line(rows, ({ ns }) => ns)}"/>${others.join('')}${points.join('')}` +
    axis.join('') +
    `<text x="${left - 6}" y="${top + 8}" text-anchor="end">${escape(time(most))}</text>` +
    `<text x="${left - 6}" y="${height - bottom}" text-anchor="end">${escape(time(least))}</text>` +
    `<text x="${left}" y="${height - 6}">processors; the upright line: those of this run</text></svg>` +
    `<figcaption><span class="key l0"></span>predicted, between its bounds; ${keys.join('')}</figcaption></figure>`
  );
}
