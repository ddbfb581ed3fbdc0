/**
 * The time path: lanes of threads over time, the events that ended waits, and the entities on the path. Pure functions.
 */
import { addTo, item, timePathOf, type Model, type PathLeg, type PathState, type TimePath } from '../../model/index.js';
import {
  legColumns,
  legRows,
  noPathText,
  pathColumns,
  pathRows,
  stateText,
  threadNumbersOf,
} from '../../render/path/path.js';
import { percent, time } from '../../render/format/units.js';
import { cut } from '../../render/format/text.js';
import { entityName } from '../../render/wording/names.js';
import { escape } from '../drawing/escape.js';
import type { RenderOptions } from '../../render/format/options.js';
import { htmlTable } from './table.js';

const letters = { ascii: false };
const options: RenderOptions = { width: 160, colour: false, ascii: false, top: 40 };
const width = 1100;
const left = 150;
const lane = 18;
const mostLanes = 14;
const mostBars = 800;

export function criticalPath(model: Model): string {
  const path = timePathOf(model);
  if (path === null) return `<p>${escape(noPathText(model))}.</p>`;
  const states = (Object.keys(stateText) as PathState[])
    .filter((name) => path.states[name] > 0)
    .sort((a, b) => path.states[b] - path.states[a]);
  const parts = states.map((name) => `${percent(path.states[name], path.lengthNs)} ${stateText[name]}`);
  const inferred =
    path.inferredNs > 0
      ? ` ${percent(path.inferredNs, path.lengthNs)} of it is inferred: what ran at that time is taken as ` +
        'the cause of the wait.'
      : '';
  return (
    `<p>${escape(
      `${time(path.lengthNs)} from ${path.fromBeginning ? 'the beginning' : 'when it was attached'} ` +
        `${path.toExit ? 'to the end' : 'to what ran when recording ended'}: its thread was ` +
        `${parts.join(', ')}.${inferred}`,
    )}</p>` +
    lanes(model, path) +
    htmlTable('What is on the path', pathRows(model, path), pathColumns(model, path, options), 20) +
    '<details><summary>In time ' +
    `order</summary>${htmlTable(
      'Legs of the path in time order',
      legRows(path, false),
      legColumns(model, path, options),
      60,
    )}</details>`
  );
}

const mostly = ({ states }: PathLeg): PathState =>
  (Object.keys(states) as PathState[]).reduce((best, name) => (states[name] > states[best] ? name : best), 'unknown');

function lanes(model: Model, path: TimePath): string {
  const times = new Map<number, number>();
  for (const { thread, ns } of path.legs) addTo(times, thread, ns);
  const threads = [...times]
    .sort((a, b) => b[1] - a[1])
    .slice(0, mostLanes)
    .map(([thread]) => thread);
  const more = times.size > threads.length;
  const start = path.legs[0]?.startNs ?? 0;
  const end = path.legs.reduce((last, leg) => Math.max(last, leg.startNs + leg.ns), start + 1);
  const x = (ns: number): number => left + ((width - left) * (ns - start)) / (end - start);
  // Only the longest legs are drawn; except in long runs, the others are narrower than a pixel.
  const drawn = [...path.legs].sort((a, b) => b.ns - a.ns).slice(0, mostBars);
  const bars = drawn.map((leg) => {
    const row = threads.includes(leg.thread) ? threads.indexOf(leg.thread) : threads.length;
    return (
      `<rect class="s-${mostly(leg)}" x="${x(leg.startNs).toFixed(1)}" y="${row * lane + 2}" ` +
      `width="${Math.max(0.5, x(leg.startNs + leg.ns) - x(leg.startNs)).toFixed(1)}" height="${lane - 4}"/>`
    );
  });
  const numberOf = threadNumbersOf(model, path);
  const names = [
    ...threads.map((thread) => (thread === 0 ? '(not known)' : entityName(model, thread, letters) + numberOf(thread))),
    ...(more ? ['other threads'] : []),
  ];
  const height = names.length * lane + 16;
  const texts = names.map(
    (name, row) =>
      `<text x="${left - 6}" y="${row * lane + 13}" text-anchor="end">${escape(cut(name, 22, letters))}</text>`,
  );
  const threadsOf = item(names, 0);
  return (
    `<figure><svg class="lanes" viewBox="0 0 ${width} ${height}" role="img" ` +
    `aria-label="${escape(
      `The path over time, a lane for each thread; mostly in ${threadsOf}. The tables below have the same numbers`,
    )}">${texts.join('')}${bars.join('')}` +
    `<text x="${left}" y="${height - 2}">0</text><text x="${width}" y="${height - 2}" ` +
    `text-anchor="end">${escape(time(end - start))}</text></svg>` +
    `<figcaption>${(['useful', 'spinning', 'ready', 'blocked', 'io'] as const)
      .map((name) => `<span class="key s-${name}"></span>${escape(stateText[name])} `)
      .join('')}</figcaption></figure>`
  );
}
