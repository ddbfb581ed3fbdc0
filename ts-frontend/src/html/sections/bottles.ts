/**
 * Bottle graph of the threads (Du Bois et al., OOPSLA 2013): one box per thread, whose height is the elapsed time that
 * it accounts for (its NPT) and whose width is the mean number of busy processors while it ran. Heights add up to the
 * program's NPT; narrow boxes ran alone. Pure functions.
 */
import type { Entity, Model } from '../../model/index.js';
import { nameWithoutKind, threadNumbers } from '../../render/wording/names.js';
import { figure, time } from '../../render/format/units.js';
import { cut } from '../../render/format/text.js';
import { escape } from '../drawing/escape.js';

const letters = { ascii: false };
const width = 520;
const height = 360;
const half = 170; // half of the widest box, in px
const most = 40;

interface Bottle {
  name: string;
  nptNs: number;
  parallelism: number;
}

/** One box for each thread that ran, widest first; the smallest ones are merged into one box. */
export function bottlesOf(model: Model): Bottle[] {
  const all = model.entities
    .filter((entity: Entity) => entity.kind === 'thread' && entity.members.length === 0 && entity.nptNs > 0)
    .sort((a, b) => b.nptNs - a.nptNs);
  const rest = all.slice(most);
  const npt = rest.reduce((sum, { nptNs }) => sum + nptNs, 0);
  const work = rest.reduce((sum, { processorTimeNs }) => sum + processorTimeNs, 0);
  const shown = all.slice(0, most);
  const numberOf = threadNumbers(
    model,
    all.map(({ id }) => id),
  );
  return [
    ...shown.map((entity) => ({
      name: nameWithoutKind(entity, letters) + numberOf(entity.id),
      nptNs: entity.nptNs,
      parallelism: entity.parallelism,
    })),
    ...(rest.length > 0 ? [{ name: `${rest.length} more threads`, nptNs: npt, parallelism: work / npt }] : []),
  ].sort((a, b) => b.parallelism - a.parallelism || b.nptNs - a.nptNs);
}

export function bottles(model: Model): string {
  const boxes = bottlesOf(model);
  const whole = boxes.reduce((sum, { nptNs }) => sum + nptNs, 0);
  if (whole === 0) return '<p>No thread was seen at work.</p>';
  let y = height;
  const parts = boxes.map(({ name, nptNs, parallelism }) => {
    const tall = (height * nptNs) / whole;
    const wide = Math.max(1, (half * parallelism) / model.processors);
    y -= tall;
    const text = `${name}: ${time(nptNs)}, ${figure(parallelism)} processors busy at that time`;
    return (
      `<g><rect x="${(half - wide).toFixed(1)}" y="${y.toFixed(1)}" width="${(2 * wide).toFixed(1)}" ` +
      `height="${Math.max(0.5, tall - 1).toFixed(1)}"/><title>${escape(text)}</title>` +
      (tall >= 13
        ? `<text x="${2 * half + 8}" y="${(y + tall / 2 + 4).toFixed(1)}">${escape(cut(name, 26, letters))}</text>`
        : '') +
      '</g>'
    );
  });
  return (
    `<figure><svg class="bottles" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" ` +
    `aria-label="${escape(
      `Bottle graph of ${boxes.length} threads; the table below has the same numbers`,
    )}">${parts.join('')}</svg>` +
    '<figcaption>A box is as high as the elapsed time that a thread accounts for, and as wide as the number of ' +
    `processors busy at that time (whole width: ${model.processors}). ` +
    'A high and narrow box ran alone.</figcaption></figure>'
  );
}
