/**
 * A set of profiles as one HTML page without scripts: how ranks differ, and what limits some of them. Pure functions.
 */
import type { RenderOptions } from '../../render/format/options.js';
import { count, figure, percent, time } from '../../render/format/units.js';
import type { HeatRow } from '../../sets/heat.js';
import type { Limits } from '../../sets/limits/load.js';
import { jobSentences, overlapSentence } from '../../sets/limits/sentences.js';
import { viewColumnsOf } from '../../sets/view-text.js';
import { coresOf, coreTimeOf, rankOf, setView, type LoadedSet } from '../../sets/views.js';
import { item } from '../../model/index.js';
import { pageOf, type Section } from '../frame.js';
import { escape } from '../drawing/escape.js';
import { htmlTable } from '../sections/table.js';
import { heatMap } from './heat-map.js';

const options: RenderOptions = { width: 160, colour: false, ascii: false, top: 0 };
const hourNs = 3.6e12;
const mostRows = 50;

function headFigures(set: LoadedSet): string {
  const core = coreTimeOf(set);
  const sum = (of: (rank: LoadedSet['ranks'][number]) => number): number =>
    set.ranks.reduce((all, rank) => all + of(rank), 0);
  const boxes: [string, string][] = [
    ['ranks', count(set.ranks.length)],
    ['hosts', count(new Set(set.ranks.map(({ host }) => host)).size)],
    ['cores', count(coresOf(set))],
    ['longest rank', time(set.ranks.reduce((most, { elapsed_ns }) => Math.max(most, elapsed_ns), 0))],
    ['core-hours', figure(core / hourNs)],
    [
      'useful',
      percent(
        sum(({ useful_ns }) => useful_ns),
        core,
      ),
    ],
    [
      'waiting in MPI',
      percent(
        sum(({ mpi_ns, processors }) => mpi_ns * processors),
        core,
      ),
    ],
  ];
  return `<dl class="boxes">${boxes
    .map(([name, value]) => `<div><dt>${name}</dt><dd>${escape(value)}</dd></div>`)
    .join('')}</dl>`;
}

function view(
  set: LoadedSet,
  name: 'ranks' | 'imbalance' | 'mpi' | 'late' | 'job-path' | 'outliers',
  caption: string,
): string {
  const { columns, rows } = setView(name, [set], () => 1);
  const shown = columns.filter((column) => column.name !== 'run');
  return rows.length === 0 ? '<p>Nothing.</p>' : htmlTable(caption, rows, viewColumnsOf(shown, options), mostRows);
}

/** The findings of each rank, as worded in its report. */
function findings(set: LoadedSet): string {
  const members = [...new Set(set.findings.map(({ member }) => member))];
  if (members.length === 0) return '<p>Nothing stands out in the ranks that were looked at.</p>';
  const parts = members.map((member) => {
    const rank = item(set.ranks, member);
    const items = set.findings
      .filter((row) => row.member === member)
      .map(({ text, remedy }) => `<li><p>${escape(text)}</p><p class="remedy">${escape(remedy)}</p></li>`);
    return (
      `<details><summary>Rank ${rankOf(rank)} on ${escape(rank.host)}: useful ${escape(time(rank.useful_ns))} of ` +
      `${escape(time(rank.elapsed_ns))}</summary><p class="dim">quartz report ${escape(rank.file)}</p>` +
      `<ol class="findings">${items.join('')}</ol></details>`
    );
  });
  const some =
    members.length < set.ranks.length
      ? '<p>Of the rank with most to do, the one with least, one in the middle, and outliers.</p>'
      : '';
  return some + parts.join('');
}

function leftOut({ head }: LoadedSet): string {
  const items = [
    ...head.leftOut.map(({ file, why }) => `${file} is left out: ${why}`),
    ...head.unfinished.map((file) => `${file} was not finished: it is in the set as far as it was recorded`),
  ];
  return items.length === 0
    ? ''
    : `<ul class="notices">${items
        .slice(0, mostRows)
        .map((text) => `<li>${escape(text)}</li>`)
        .join('')}</ul>`;
}

/** What limits the job, in the words of its report. */
function jobItems(limits: Limits): string {
  if (limits.findings.length === 0) return '<p>Nothing stands out.</p>';
  const items = limits.findings.map((finding) => {
    const { text, remedy } = jobSentences(limits, finding, options);
    return `<li><p>${escape(text)}</p><p class="remedy">${escape(remedy)}</p></li>`;
  });
  const overlaps = limits.overlaps.map((one) => `<p>${escape(overlapSentence(one, options))}</p>`);
  return `<ol class="findings">${items.join('')}</ol>${overlaps.join('')}`;
}

export function setPage(
  set: LoadedSet,
  heat: readonly HeatRow[],
  limits: Limits,
  version: string,
  style: string,
): string {
  const sections: Section[] = [
    { id: 'limits', title: 'What limits the job', body: jobItems(limits) },
    { id: 'map', title: 'Ranks', body: heatMap(set, heat) },
    { id: 'mpi', title: 'Waiting for other ranks', body: view(set, 'mpi', 'Calls by the time that ranks wait there') },
    { id: 'late', title: 'Late ranks', body: view(set, 'late', 'Waiting for a rank that came late, by call') },
    { id: 'path', title: 'Path through the job', body: view(set, 'job-path', 'From call to call, by rank') },
    { id: 'imbalance', title: 'Imbalance', body: view(set, 'imbalance', 'NPT over the ranks: most - mean') },
    { id: 'outliers', title: 'Outliers', body: view(set, 'outliers', 'Ranks that are far from the others') },
    { id: 'findings', title: 'What limits ranks', body: findings(set) },
    { id: 'ranks', title: 'Each rank', body: view(set, 'ranks', 'Ranks by useful processor time') + leftOut(set) },
  ];
  const title = `${set.head.programs.join(', ')}, ${count(set.ranks.length)} ranks, by Quartz`;
  return pageOf({ title, version, head: headFigures(set), sections, style, script: null });
}
