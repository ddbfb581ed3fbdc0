/** Where the effort of a run went, in percent of it, and what that says of how it is divided. */
import { overheadKinds, type Guidance, type Model, type OverheadKind } from '../../model/index.js';
import type { RenderOptions } from '../format/options.js';
import { percent, time } from '../format/units.js';

/** Kinds of overhead. */
export const kindNames: Record<OverheadKind, string> = {
  synchronization: 'synchronization',
  scheduling: 'scheduling',
  threads: 'making threads',
  library: 'run-time library',
};

/** Of a context, as a column has it. */
export const divisionNames: Record<Guidance, string> = {
  effective: 'good',
  coarser: 'too fine',
  finer: 'too coarse',
  another: 'switch it',
};

/** Findings say what to do: these say no more than how far the division of the work is the place to look. */
const guidance: Record<Guidance, string> = {
  effective: 'Both are low: what is left is to make the code itself faster.',
  coarser: 'Overhead is high, idleness low: dividing the work costs much of it.',
  finer: 'Idleness is high, overhead low: too little runs in parallel.',
  another:
    'Both are high: where no finding names another cause, the grain alone does not help; switch the parallelization ' +
    '(another loop, another algorithm).',
};

/** Less overhead than this part of effort is not worth two lines. */
const leastOverhead = 0.05;

/**
 * One sentence for the run, one for how it is divided; '': nothing ran, other programs had the CPUs, or there is hardly
 * any overhead, or nothing is known of it.
 */
export function effortText({ effort: its }: Model, options: Pick<RenderOptions, 'ascii'>): string {
  if (its === undefined || its.guidance === null || its.overheadNs < leastOverhead * its.effortNs) return '';
  const of = (ns: number): string => percent(ns, its.effortNs);
  const parts = overheadKinds
    .filter((kind) => its.overhead[kind] >= 0.001 * its.effortNs)
    .map((kind) => `${kindNames[kind]} ${of(its.overhead[kind])}`);
  const shares = parts.length > 0 ? `: ${parts.join(', ')}` : '';
  const overhead = ` (overhead ${of(its.overheadNs)}${shares})`;
  const spinning = its.spinningNs > 0 ? `, spinning ${of(its.spinningNs)}` : '';
  return (
    `Effort: ${time(its.effortNs, options)} of processors' time: work ${of(its.workNs)}${overhead}, ` +
    `idleness ${of(its.idlenessNs)}${spinning}. ${guidance[its.guidance]}`
  );
}
