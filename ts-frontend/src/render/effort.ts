/** Where the effort of a run went, in percent of it, and what that says of how it is divided. */
import type { Effort, Guidance, Model } from '../model/index.js';
import type { RenderOptions } from './format/options.js';
import { percent, time } from './format/units.js';

const kinds: readonly (readonly [keyof Effort['overhead'], string])[] = [
  ['synchronization', 'synchronization'],
  ['scheduling', 'scheduling'],
  ['threads', 'making threads'],
  ['library', 'run-time library'],
];

const guidance: Record<Guidance, string> = {
  effective: 'Both are low: the work is divided well; what is left is to make the code itself faster.',
  coarser: 'Overhead is high, idleness low: the pieces of work are too small.',
  finer: 'Idleness is high, overhead low: too little runs in parallel; smaller pieces of work would cost little.',
  another:
    'Both are high: smaller pieces of work would cost more overhead, larger ones more idleness; switch the ' +
    'parallelization (another loop, another algorithm).',
};

/** One sentence for the run, one for what to do; '': nothing ran, or other programs had the CPUs. */
export function effortText({ effort: its }: Model, options: Pick<RenderOptions, 'ascii'>): string {
  if (its === undefined) return '';
  const of = (ns: number): string => percent(ns, its.effortNs);
  const parts = kinds
    .filter(([kind]) => its.overhead[kind] >= 0.001 * its.effortNs)
    .map(([kind, name]) => `${name} ${of(its.overhead[kind])}`);
  const shares = parts.length > 0 ? `: ${parts.join(', ')}` : '';
  const overhead = its.guidance === null ? '' : ` (overhead ${of(its.overheadNs)}${shares})`;
  const spinning = its.spinningNs > 0 ? `, spinning ${of(its.spinningNs)}` : '';
  return (
    `Effort: ${time(its.effortNs, options)} of processors' time: work ${of(its.workNs)}${overhead}, ` +
    `idleness ${of(its.idlenessNs)}${spinning}.${its.guidance === null ? '' : ` ${guidance[its.guidance]}`}`
  );
}
