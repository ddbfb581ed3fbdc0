/**
 * How the effort of a run is divided among work, overhead and idleness, in percent, with what this indicates about the
 * division of the work.
 */
import { overheadKinds, type Finding, type Guidance, type Model, type OverheadKind } from '../../model/index.js';
import type { RenderOptions } from '../format/options.js';
import { percent, time } from '../format/units.js';

/** Names of the kinds of overhead. */
export const kindNames: Record<OverheadKind, string> = {
  synchronization: 'synchronization',
  scheduling: 'scheduling',
  threads: 'making threads',
  library: 'run-time library',
};

/** The guidance for a context, as the text of a table column. */
export const divisionNames: Record<Guidance, string> = {
  effective: 'good',
  coarser: 'too fine',
  finer: 'too coarse',
  another: 'switch it',
};

/** The same in a sentence for the run. It points to the division of the work at most; the findings give advice. */
const guidance: Record<Exclude<Guidance, 'effective'>, string> = {
  coarser: 'Overhead is high, idleness low: dividing the work takes much of the effort.',
  finer: 'Idleness is high, overhead low: too little runs in parallel.',
  another:
    'Both are high: unless a finding names another cause, a different grain does not help; parallelize differently ' +
    '(another loop, another algorithm).',
};

const onlyCode = 'Both are low: what is left is to make the code itself faster.';
const alsoOther = 'Both are low: what is left is what the findings name.';
/** What findings are about if only less work helps; all others are about the division of the work, or waiting. */
const ofWork: ReadonlySet<Finding['kind']> = new Set(['optimize', 'kernel', 'sharing']);

function guidanceText(its: Guidance, findings: readonly Finding[]): string {
  if (its !== 'effective') return guidance[its];
  return findings.every(({ kind }) => ofWork.has(kind)) ? onlyCode : alsoOther;
}

/** The least share of overhead in the effort that is worth two lines. */
const leastOverhead = 0.05;

/**
 * One sentence for the run and one for the guidance; '' if nothing ran, if other programs had the CPUs, or if there is
 * hardly any overhead.
 */
export function effortText({ effort: its, findings }: Model, options: Pick<RenderOptions, 'ascii'>): string {
  if (its === undefined || its.guidance === null || its.overheadNs < leastOverhead * its.effortNs) return '';
  const of = (ns: number): string => percent(ns, its.effortNs);
  const parts = overheadKinds
    .filter((kind) => its.overhead[kind] >= 0.001 * its.effortNs)
    .map((kind) => `${kindNames[kind]} ${of(its.overhead[kind])}`);
  const shares = parts.length > 0 ? `: ${parts.join(', ')}` : '';
  const overhead = ` (overhead ${of(its.overheadNs)}${shares})`;
  const spinning = its.spinningNs > 0 ? `, spinning ${of(its.spinningNs)}` : '';
  return (
    `Effort: ${time(its.effortNs, options)} of processor time: work ${of(its.workNs)}${overhead}, ` +
    `idleness ${of(its.idlenessNs)}${spinning}. ${guidanceText(its.guidance, findings)}`
  );
}
