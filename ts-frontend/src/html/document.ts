/**
 * Renders a profile as one HTML page: no network access, a strict content policy, readable without scripts. The
 * contents are rendered here; the script only zooms, searches and draws on request, from the page's JSON. Pure
 * functions.
 */
import { baseName, viewOf, type Comparison, type Model } from '../model/index.js';
import { procedureColumns, procedureRows } from '../render/procedures.js';
import { threadColumns, threadRows } from '../render/threads.js';
import { contextColumns } from '../render/views/view.js';
import { orderOf, shownRows } from '../render/views/view-rows.js';
import type { RenderOptions } from '../render/format/options.js';
import { pageData } from './data/collect.js';
import type { PageData } from './data/page-data.js';
import { embeddedJson, escape } from './drawing/escape.js';
import { pageOf, type Section } from './frame.js';
import { figureLegend, figureSvg } from './drawing/figure.js';
import { childrenOf, flameSvg } from './drawing/flame.js';
import { bottles } from './sections/bottles.js';
import { change } from './sections/change.js';
import { criticalPath } from './sections/critical-path.js';
import { lockMatrix } from './sections/lock-matrix.js';
import { aboutRun, findings, headFigures } from './sections/summary.js';
import { htmlTable } from './sections/table.js';
import { timeLine } from './sections/time-line.js';
import { workAndSpan } from './sections/work-span.js';

/** Script and style sheet that are embedded in the page; built from html/browser. */
interface PageAssets {
  script: string;
  style: string;
}

const options: RenderOptions = { width: 160, colour: false, ascii: false, top: 0 };
const flameWidth = 1100;
const flameRows = 40;
/** What a page takes at most; of that, its picture of contexts at least, the data of its script at most and least. */
const mostBytes = 295_000;
const flameBytes = 20_000;
const dataBytes = { most: 125_000, least: 15_000 };

export function htmlPage(model: Model, comparison: Comparison | null, version: string, assets: PageAssets): string {
  const name = baseName(model.program);
  const title = comparison === null ? `${name} by Quartz` : `${name}, before and after, by Quartz`;
  const table = contextTable(model);
  const fixed = sectionsOf(model, comparison);
  for (let room = dataBytes.most; ;) {
    const data = pageData(model, comparison?.before ?? null, room);
    const pageWith = (flame: string): string =>
      pageOf({
        title,
        version,
        head: headFigures(model),
        sections: fixed.map((one) => ({ ...one, body: { flame, busy: figureSection(data) }[one.id] ?? one.body })),
        style: assets.style,
        script: { code: assets.script, data: embeddedJson(data) },
      });
    // The picture gets what the others leave: contexts are as many as a program is deep.
    const left = mostBytes - Buffer.byteLength(pageWith(flameSection(model, data, table, 0)));
    if (left >= flameBytes || room <= dataBytes.least)
      return pageWith(flameSection(model, data, table, Math.max(flameBytes, left)));
    room = Math.max(dataBytes.least, room - (flameBytes - left));
  }
}

/** The page's sections, in order; the bodies of two depend on how much room the others leave. */
function sectionsOf(model: Model, comparison: Comparison | null): Section[] {
  return [
    ...(comparison === null ? [] : [{ id: 'change', title: 'What changed', body: change(comparison) }]),
    { id: 'findings', title: 'What limits this program', body: findings(model) },
    { id: 'run', title: 'The run', body: aboutRun(model) },
    { id: 'flame', title: 'Where elapsed time went', body: '' },
    { id: 'time', title: 'Over time', body: timeLine(model) },
    { id: 'procedures', title: 'Procedures', body: procedureSection(model) },
    { id: 'busy', title: 'By busy processors', body: '' },
    { id: 'threads', title: 'Threads', body: threadSection(model) },
    { id: 'locks', title: 'Locks', body: lockMatrix(model) },
    { id: 'path', title: 'Critical path', body: criticalPath(model) },
    { id: 'span', title: 'Work and span', body: workAndSpan(model) },
    { id: 'source', title: 'Source', body: sourceSection(model) },
  ];
}

const steps = (letter: string, low: string, high: string): string =>
  `${low} ${[0, 1, 2, 3, 4].map((step) => `<span class="key ${letter}${step}"></span>`).join('')} ${high}`;

function contextTable(model: Model): string {
  const { rows } = shownRows(viewOf(model, 'tree'), orderOf('npt'), 40);
  const query = { view: 'tree', sort: 'npt', metrics: [] } as const;
  return htmlTable('Calling contexts, the costliest', rows, contextColumns(model, query, options), 40);
}

function flameSection(model: Model, data: PageData, table: string, mostFlameBytes: number): string {
  const legend =
    data.flame.changeNs !== null
      ? steps('c', 'less than before', 'more')
      : model.processors > 1
        ? steps('a', 'ran alone', `all ${model.processors} processors were busy`)
        : '';
  const size = { root: 0, width: flameWidth, most: flameRows, titles: true, mostBytes: mostFlameBytes };
  const { svg, complete } = flameSvg(data, childrenOf(data.flame), size);
  const leftOut = '<p class="dim">The smallest contexts are not drawn; their time is in their callers.</p>';
  return (
    '<p>A bar is as wide as the elapsed time (normalized processor time) that a procedure accounts for, with all ' +
    `that it calls; below it is what it calls.</p>${legend === '' ? '' : `<p>Colour: ${legend}</p>`}` +
    '<div id="flame-controls" hidden><label>Search <input id="search" type="search" autocomplete="off" ' +
    'spellcheck="false"></label> <button id="reset" type="button">Whole program</button> <span id="found" ' +
    'role="status"></span><p class="dim">Click, or Tab here and use the arrow keys: Enter zooms, Escape zooms out, / ' +
    'searches.</p></div>' +
    `<div id="graph">${svg}${complete || !data.flame.complete ? '' : leftOut}</div>` +
    `<p id="readout" role="status"></p>${data.flame.complete ? '' : leftOut}` +
    `<details><summary>The same as a table</summary>${table}</details>`
  );
}

const procedureSection = (model: Model): string =>
  htmlTable(
    'Procedures and synchronization objects by normalized processor time (NPT: the elapsed time that each accounts ' +
      'for)',
    procedureRows(model),
    procedureColumns(model, options),
    50,
  );

function figureSection(data: PageData): string {
  const first = data.figures.slice(0, 3);
  const drawn = first.map(
    (figure) =>
      `<figure><figcaption>${escape(data.entities[figure.entity]?.name ?? '?')}</figcaption>` +
      `${figureSvg(data, figure)}${figureLegend(data, figure)}</figure>`,
  );
  return (
    `<p>NPT by number of busy processors: what stands at the left ran (nearly) alone.</p>` +
    `<div id="figure-controls" hidden><label>Of <select id="entity"></select></label></div>` +
    `<div id="figures" class="row">${drawn.join('')}</div>`
  );
}

const threadSection = (model: Model): string =>
  bottles(model) +
  htmlTable('Threads by normalized processor time', threadRows(model), threadColumns(model, options), 40);

/** The section on modules, files, procedures and loops with their source locations. */
function sourceSection(model: Model): string {
  const { rows } = shownRows(viewOf(model, 'flat'), orderOf('npt'), 80);
  const query = { view: 'flat', sort: 'npt', metrics: [] } as const;
  return (
    '<p>By module, file, procedure and (where the profile has them) loop, with the line of each.</p>' +
    htmlTable('By module, file and procedure', rows, contextColumns(model, query, options), 80)
  );
}
