/** The icicle graph of calling contexts by elapsed time, in a terminal. */
import { aloneness, busyBeside, item, type FlameNode, type Model } from '../../model/index.js';
import { heading } from '../parts/head.js';
import { label, shortLabel } from '../wording/names.js';
import type { RenderOptions } from '../format/options.js';
import { clean, cut, pad, paint, width, wrap } from '../format/text.js';
import { percent, time } from '../format/units.js';

/** Fill characters of the bars behind the names, from "ran alone" to "all processors were busy". */
const fills = ['█', '▓', '▒', '░', '·'];
const plainFills = ['#', '=', '-', ':', '.'];
const tones = ['alone0', 'alone1', 'alone2', 'alone3', 'alone4'] as const;

export interface Bar {
  node: FlameNode;
  startNs: number; // exact: columns are rounded, and what is rounded twice may overlap the next bar
  from: number; // column
  to: number;
  path: readonly number[]; // entities from below the root to this one
}

/**
 * Rows of bars, each bar below its caller's, in whole columns; contexts narrower than a column are left out. `most`:
 * the maximum number of rows, 0 = no limit.
 */
export function icicle(root: FlameNode, columns: number, most: number): { rows: Bar[][]; deeper: boolean } {
  const rows: Bar[][] = [];
  let row: Bar[] = root.nptNs > 0 ? [{ node: root, startNs: 0, from: 0, to: columns, path: [] }] : [];
  while (row.length > 0 && (most === 0 || rows.length < most)) {
    rows.push(row);
    row = row.flatMap(({ node, startNs, from, to, path }) => {
      const columnAt = (ns: number): number => Math.min(to, Math.max(from, Math.round((ns / root.nptNs) * columns)));
      let endNs = startNs;
      return node.open().flatMap((child): Bar[] => {
        const below = { node: child, startNs: endNs, from: columnAt(endNs), to: columnAt((endNs += child.nptNs)) };
        return below.to > below.from ? [{ ...below, path: [...path, child.entity] }] : [];
      });
    });
  }
  return { rows, deeper: row.length > 0 };
}

function line(model: Model, bars: readonly Bar[], options: RenderOptions): string {
  let text = '';
  let at = 0;
  for (const { node, from, to } of bars) {
    const step = aloneness(busyBeside(node), model.processors);
    // One column at the right stays empty, so that adjacent bars can be distinguished.
    const room = Math.max(1, to - from - 1);
    const name = room < 3 ? '' : nameOf(model, node, room, options);
    const fill = options.colour ? ' ' : item(options.ascii ? plainFills : fills, step);
    const rest = room - width(name);
    const bar = options.colour
      ? pad(name, room, 'left')
      : name + (name !== '' && rest > 0 ? ' ' : '') + fill.repeat(Math.max(0, rest - (name === '' ? 0 : 1)));
    text += ' '.repeat(from - at) + paint(bar, tones[step], options);
    at = from + room;
  }
  return text;
}

const nameOf = (model: Model, { entity }: FlameNode, room: number, options: RenderOptions): string =>
  cut(clean(shortLabel(model, item(model.entities, entity), room, options), options), room, options);

function legend(model: Model, options: RenderOptions): string[] {
  if (model.processors <= 1) return [];
  const signs = [0, 1, 2, 3, 4].map((step) =>
    paint(options.colour ? ' ' : item(options.ascii ? plainFills : fills, step), item(tones, step), options),
  );
  return ['', `ran alone ${signs.join('')} all ${model.processors} processors busy`];
}

/** `options.top`: the maximum number of rows, 0 = no limit. */
export function flameReport(model: Model, root: FlameNode, options: RenderOptions): string {
  const name = root.entity === 0 ? '' : ` of ${label(item(model.entities, root.entity), options)}`;
  const { rows, deeper } = icicle(root, options.width, options.top);
  const share = percent(root.nptNs, model.elapsedNs);
  const ns = `${time(root.nptNs, options)} of ${time(model.elapsedNs, options)} (${share})`;
  const title = `Calling contexts${name} by elapsed time: ${ns}`;
  const lines = [
    ...heading(title, options),
    '',
    ...(rows.length > 0
      ? rows.map((row) => line(model, row, options))
      : ['Nothing was seen at work; "quartz report" shows why.']),
    ...legend(model, options),
    ...(deeper
      ? [
          '',
          ...wrap(
            'There are more contexts below; --top 0 shows all, --focus NAME only those in NAME.',
            options.width,
            0,
            options,
          ),
        ]
      : []),
  ];
  return `${lines.join('\n')}\n`;
}
