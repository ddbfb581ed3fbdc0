/**
 * Renders one entity as in Figure 1 of the paper: NPT by number of busy processors, divided among the entity itself and
 * its children.
 */
import { f64, item } from '../model/index.js';
import type { Focus, FocusRow, Model } from '../model/index.js';
import { heading } from './parts/head.js';
import { chart, mostLayers, sign, type Layer } from './parts/histogram.js';
import { entityName, label, labelAndPlace, shortLabel } from './wording/names.js';
import type { RenderOptions } from './format/options.js';
import { limited, table, type Column } from './parts/table.js';
import { clean, paint } from './format/text.js';
import { count, figure, percent, plusMinus, time } from './format/units.js';

const chartHeight = 10;

export function focusView(model: Model, focus: Focus, options: RenderOptions): string[] {
  const entity = item(model.entities, focus.entity);
  const interval = plusMinus(entity.nptNs, (entity.ci95.highNs - entity.ci95.lowNs) / 2, options);
  // The rows with a shade of their own; the top layer of the bars is the sum of all others.
  const shaded = focus.rows.filter((row) => row.nptNs > 0).slice(0, mostLayers - 1);
  const rest = focus.byBusyNs.map((ns, index) =>
    Math.max(0, ns - shaded.reduce((sum, row) => sum + f64(row.byBusyNs, index), 0)),
  );
  const layers: Layer[] = shaded.map((row) => ({ name: row.name, byBusyNs: row.byBusyNs }));
  if (focus.rows.length > shaded.length) layers.push({ name: 'others', byBusyNs: rest });
  const { rows, more } = limited(focus.rows, options);
  const shade = new Map(shaded.map((row, index) => [row, index]));
  return [
    ...heading(labelAndPlace(model, entity, options), options),
    `Normalized processor time: ${time(focus.nptNs, options)} ${interval} (${percent(focus.nptNs, model.elapsedNs)} ` +
      'of elapsed time)',
    '',
    ...chart(layers, chartHeight, options),
    '',
    ...children(model, rows, (row) => shade.get(row) ?? mostLayers - 1, options),
    ...more,
    ...waits(model, focus, options),
    ...ran(model, focus, options),
  ];
}

function children(
  model: Model,
  rows: readonly FocusRow[],
  layer: (row: FocusRow) => number,
  options: RenderOptions,
): string[] {
  const columns: Column<FocusRow>[] = [
    { head: 'NPT', text: (row) => time(row.nptNs, options), tone: 'strong' },
    { head: 'share', text: (row) => percent(row.share, 1) },
    { head: 'proc.time', text: (row) => time(row.processorTimeNs, options), drop: 2 },
    { head: 'par.', text: (row) => figure(row.nptNs > 0 ? row.processorTimeNs / row.nptNs : 0), drop: 3 },
    { head: 'calls', text: (row) => (row.callsCounted ? count(row.calls) : '-'), drop: 1 },
    {
      head: 'child',
      text: (row) =>
        row.self ? `${clean(row.name, options)} itself` : label(item(model.entities, row.entity), options),
      short: (row, columns) =>
        row.self
          ? `${shortLabel(model, item(model.entities, row.entity), columns - 7, options)} itself`
          : shortLabel(model, item(model.entities, row.entity), columns, options),
      align: 'left',
      name: true,
    },
  ];
  const [head = '', ...lines] = table(rows, columns, { ...options, width: options.width - 2 });
  return [
    `  ${head}`,
    ...lines.map(
      (line, index) => ` ${item(rows, index).nptNs > 0 ? sign(layer(item(rows, index)), options) : ' '}${line}`,
    ),
  ];
}

function waits(model: Model, focus: Focus, options: RenderOptions): string[] {
  const rows = focus.waits.slice(0, 5);
  if (rows.length === 0) return [];
  const some = (ns: number): string => (ns > 0 ? time(ns, options) : '');
  return [
    '',
    ...heading('Time that its threads did not work, by child', options),
    ...table(
      rows,
      [
        { head: 'blocked', text: (row) => some(row.blockedNs), drop: 1 },
        { head: 'spinning', text: (row) => some(row.spinningNs), drop: 2 },
        { head: 'ready', text: (row) => some(row.readyNs), drop: 3 },
        { head: 'io', text: (row) => some(row.ioNs), drop: 4 },
        {
          head: 'child',
          text: (row) =>
            row.entity === focus.entity
              ? `${entityName(model, row.entity, options)} itself`
              : label(item(model.entities, row.entity), options),
          short: (row, columns) => shortLabel(model, item(model.entities, row.entity), columns, options),
          align: 'left',
          name: true,
        },
      ],
      options,
    ),
  ];
}

function ran(model: Model, focus: Focus, options: RenderOptions): string[] {
  const rows = focus.threads.slice(0, 5);
  if (rows.length === 0) return [];
  return [
    '',
    ...heading('Threads that ran it', options),
    ...table(
      rows,
      [
        { head: 'NPT', text: (row) => time(row.nptNs, options) },
        { head: 'share', text: (row) => percent(row.share, 1) },
        { head: 'proc.time', text: (row) => time(row.processorTimeNs, options), drop: 1 },
        {
          head: 'thread',
          text: (row) => entityName(model, row.entity, options),
          short: (row, columns) => shortLabel(model, item(model.entities, row.entity), columns, options),
          align: 'left',
          name: true,
        },
      ],
      options,
    ),
    ...(focus.threads.length > rows.length
      ? [paint(`  ${focus.threads.length - rows.length} more`, 'dim', options)]
      : []),
  ];
}
