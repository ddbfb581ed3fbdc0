/**
 * Draws Figure 1 of the paper: NPT by number of busy processors, in layers for a procedure's callees. Pure functions.
 */
import { percent, time } from '../../render/format/units.js';
import type { Figure, PageData } from '../data/page-data.js';
import { escape } from './escape.js';

const width = 460;
const height = 190;
const left = 62;
const bottom = 34;

const layerName = (entities: PageData['entities'], of: number | string): string =>
  typeof of === 'string' ? of : (entities[of]?.name ?? '?');

export function figureSvg({ bins, entities }: PageData, figure: Figure): string {
  const name = entities[figure.entity]?.name ?? '?';
  const totals = bins.map((_, at) => figure.layers.reduce((sum, { ns }) => sum + (ns[at] ?? 0), 0));
  const top = Math.max(1, ...totals);
  const step = (width - left) / Math.max(1, bins.length);
  const room = height - bottom - 8;
  const parts: string[] = [];
  bins.forEach(({ from, to }, at) => {
    let below = height - bottom;
    figure.layers.forEach(({ of, ns }, row) => {
      const tall = (room * (ns[at] ?? 0)) / top;
      if (tall <= 0) return;
      below -= tall;
      parts.push(
        `<rect class="l${row}" x="${(left + at * step + 1).toFixed(1)}" y="${below.toFixed(1)}" ` +
          `width="${Math.max(1, Math.min(step - 2, 60)).toFixed(1)}" ` +
          `height="${tall.toFixed(1)}"><title>${escape(
            `${layerName(entities, of)}, ` + `${from === to ? from : `${from} to ${to}`} busy: ${time(ns[at] ?? 0)}`,
          )}</title></rect>`,
      );
    });
    parts.push(
      `<text x="${(left + at * step + Math.min(step, 62) / 2).toFixed(1)}" y="${height - bottom + 14}" ` +
        `text-anchor="middle">${from === to ? from : `${from}–${to}`}</text>`,
    );
  });
  return (
    `<svg class="figure" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" ` +
    `aria-label="${escape(`${name} by number of busy processors`)}">` +
    `<line x1="${left}" x2="${width}" y1="${height - bottom}" y2="${height - bottom}"/>` +
    `<text x="${left - 4}" y="16" text-anchor="end">${escape(time(top))}</text>${parts.join('')}` +
    `<text x="${left}" y="${height - 4}">concurrently busy processors</text></svg>`
  );
}

/** The legend: the layers and their sums. */
export function figureLegend({ entities }: PageData, figure: Figure): string {
  const rows = figure.layers.map(({ of, ns }, row) => {
    const sum = ns.reduce((all, one) => all + one, 0);
    return (
      `<tr><td><span class="key l${row}"></span></td><td ` +
      `class="left">${escape(layerName(entities, of))}</td>` +
      `<td>${escape(time(sum))}</td><td>${percent(sum, figure.nptNs)}</td></tr>`
    );
  });
  const name = entities[figure.entity]?.name ?? '?';
  return (
    `<div class="wide"><table><caption>${escape(name)}: ${escape(time(figure.nptNs))}</caption><thead><tr><th></th>` +
    `<th class="left">child</th><th>NPT</th><th>share</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
  );
}
