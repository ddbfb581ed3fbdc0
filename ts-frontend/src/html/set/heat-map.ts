/**
 * A heat map of ranks: for each quantity in which ranks differ, the distance of each rank from the median. Pure
 * functions.
 */
import { item } from '../../model/index.js';
import { signedPercent, time } from '../../render/format/units.js';
import { cut } from '../../render/format/text.js';
import { byRank, columnsOf, farthest, labelsOf, longestOf, stepOf, type HeatRow } from '../../sets/heat.js';
import { rankOf, type LoadedSet } from '../../sets/views.js';
import { escape } from '../drawing/escape.js';

const width = 1100;
const left = 300;
const tall = 18;
const mostColumns = 160;
export function heatMap(set: LoadedSet, rows: readonly HeatRow[]): string {
  if (rows.length === 0) return '<p>The ranks differ in nothing by 1 % of their elapsed time.</p>';
  const elapsed = longestOf(set);
  const columns = columnsOf(byRank(set), mostColumns);
  const each = columns[0]?.length ?? 1;
  const wide = (width - left) / columns.length;
  const cells = rows.flatMap((row, at) => {
    const y = at * tall;
    const { label: what, title } = labelsOf(row);
    const label = `<text x="${left - 8}" y="${y + 13}" text-anchor="end">${escape(
      cut(what, 44, { ascii: false }),
    )}<title>${escape(title)}</title></text>`;
    const rects = columns.map((members, k) => {
      const member = farthest(row, members);
      const value = item(row.values, member);
      const rank = item(set.ranks, member);
      const distance = (value - row.median) / elapsed;
      return (
        `<rect class="c${stepOf(distance)}" x="${(left + k * wide).toFixed(1)}" y="${y}" ` +
        `width="${Math.max(0.5, wide - (wide > 4 ? 1 : 0)).toFixed(1)}" height="${tall - 1}"><title>${escape(
          `rank ${rankOf(rank)} on ${rank.host}, ${title}: ${time(value)}; median ${time(row.median)} ` +
            `(${signedPercent(distance)} of the elapsed time from it)`,
        )}</title></rect>`
      );
    });
    return [label, ...rects];
  });
  const height = rows.length * tall + 18;
  const end = (members: readonly number[] | undefined, at: number): number =>
    members === undefined ? 0 : rankOf(item(set.ranks, members.at(at) ?? 0));
  const of = each === 1 ? 'a rank' : `${each} ranks, of which the one farthest from the others is shown`;
  const keys = [0, 1, 2, 3, 4].map((one) => `<span class="key c${one}"></span>`).join('');
  return (
    `<p>Each column is ${of}, ` +
    `from ${end(columns[0], 0)} to ${end(columns.at(-1), -1)}; its colour is how far it is from the median of all ` +
    `ranks: ${keys} from 5 % of the elapsed time less, over 1 % less, to 1 % and 5 % more.</p>` +
    `<svg class="heat" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" ` +
    `aria-label="How far each rank is from the median">${cells.join('')}</svg>`
  );
}
