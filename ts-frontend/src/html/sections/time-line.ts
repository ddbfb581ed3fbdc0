/** Busy, useful, spinning and idle processors over time, and the number of runnable threads. Pure functions. */
import type { Model, TimelineStretch } from '../../model/index.js';
import { count, figure, time } from '../../render/format/units.js';
import { escape } from '../drawing/escape.js';

const width = 1100;
const height = 180;
const left = 40;
const bottom = 22;

const layers = [
  ['useful', ({ usefulNs }: TimelineStretch) => usefulNs],
  ['overhead', ({ overheadNs }: TimelineStretch) => overheadNs],
  ['spinning', ({ spinningNs }: TimelineStretch) => spinningNs],
  ['idle', ({ idleNs }: TimelineStretch) => idleNs],
] as const;

/** Adjacent stretches are merged so that at most this many remain: a screen has no pixels for more. */
const mostStretches = 400;
function joined(all: readonly TimelineStretch[]): TimelineStretch[] {
  const size = Math.max(1, Math.ceil(all.length / mostStretches));
  const groups = Array.from({ length: Math.ceil(all.length / size) }, (_, k) => all.slice(k * size, (k + 1) * size));
  return groups.map((group) =>
    group.reduce((a, b) => {
      const ns = a.ns + b.ns;
      return {
        ...a,
        ns,
        usefulNs: a.usefulNs + b.usefulNs,
        overheadNs: a.overheadNs + b.overheadNs,
        spinningNs: a.spinningNs + b.spinningNs,
        idleNs: a.idleNs + b.idleNs,
        meanRunnable: (a.meanRunnable * a.ns + b.meanRunnable * b.ns) / ns,
        snapshots: a.snapshots + b.snapshots,
      };
    }),
  );
}

export function timeLine(model: Model): string {
  const stretches = joined(model.timeline.filter(({ ns }) => ns > 0));
  const last = stretches.at(-1);
  if (last === undefined) return '<p>No snapshot was taken.</p>';
  const from = stretches[0]?.startNs ?? 0;
  const whole = Math.max(1, last.startNs + last.ns - from);
  const most = Math.max(...stretches.map(({ meanRunnable }) => meanRunnable));
  // The axis is limited to twice the number of processors: more runnable threads would make the processors' share
  // invisible.
  const top = Math.max(model.processors, Math.min(most, 2 * model.processors), 1);
  const x = (ns: number): string => (left + ((width - left) * (ns - from)) / whole).toFixed(1);
  const y = (number: number): string => (4 + (height - bottom - 4) * (1 - Math.min(top, number) / top)).toFixed(1);
  /** A step line from the left edge of the first stretch to the right edge of the last one. */
  const steps = (of: readonly TimelineStretch[], heights: readonly string[]): string =>
    of.map(({ startNs, ns }, at) => `V${heights[at] ?? ''}H${x(startNs + ns)}`).join('');
  const begin = `M${x(from)},`;
  const below = stretches.map(() => 0);
  // Each layer is drawn from its upper bound down to the axis; the layers below it are drawn over it.
  const areas = layers.map(([name, of]) => {
    stretches.forEach((stretch, at) => {
      below[at] = (below[at] ?? 0) + of(stretch) / stretch.ns;
    });
    return `<path class="s-${name}" d="${begin}${y(0)}${steps(stretches, below.map(y))}V${y(0)}Z"/>`;
  });
  const heights = stretches.map(({ meanRunnable }) => y(meanRunnable));
  const runnable = `${begin}${heights[0] ?? ''}${steps(stretches, heights)}`;
  const cut =
    most > top ? ` The line is cut off at ${figure(top)}; at most ${figure(most)} threads were runnable.` : '';
  const summary =
    `On average ${figure(model.balance.meanBusy)} of ${model.processors} processors were busy, and ` +
    `${figure(model.balance.meanRunnable)} threads runnable.`;
  return (
    `<figure><svg class="line" viewBox="0 0 ${width} ${height}" role="img" ` +
    `aria-label="${escape(`Processors over time. ${summary}`)}">` +
    areas.reverse().join('') +
    `<path class="runnable" d="${runnable}"/>` +
    `<text x="${left - 4}" y="12" text-anchor="end">${Number.isInteger(top) ? count(top) : figure(top)}</text>` +
    `<text x="${left - 4}" ` +
    `y="${height - bottom}" text-anchor="end">0</text>` +
    `<text x="${left}" y="${height - 6}">0</text><text x="${width}" y="${height - 6}" ` +
    `text-anchor="end">${escape(time(whole))}</text></svg>` +
    `<figcaption>${layers.map(([name]) => `<span class="key s-${name}"></span>${name} `).join('')}processors; <span ` +
    `class="key line-key"></span>runnable threads. ${escape(summary + cut)}</figcaption></figure>`
  );
}
