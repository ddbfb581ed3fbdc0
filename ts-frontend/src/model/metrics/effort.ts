/**
 * Where the effort of a run went, and what this indicates about the division of the work (docs/reference/metrics.md,
 * section 4): overhead by kind, and the guidance of Tallent and Mellor-Crummey (PPoPP 2009, table 1). Pure.
 */
import { addAt, f64, u8 } from '../profile/columns.js';
import type { RawProfile } from '../profile/raw-profile.js';
import { overheadKinds, type Effort, type Guidance, type OverheadKind } from '../result/effort.js';
import type { Entity } from '../result/types.js';
import { isOverheadKnown } from './overhead.js';

/** The shares of the effort from which idleness and overhead count as high. */
const highIdleness = 0.2;
const highOverhead = 0.1;

export function guidanceOf(idleness: number, overhead: number): Guidance {
  if (idleness >= highIdleness) return overhead >= highOverhead ? 'another' : 'finer';
  return overhead >= highOverhead ? 'coarser' : 'effective';
}

/** undefined: nothing ran. `kinds` and `weights` are the kind of overhead (overheadOf) and the ns of each tuple. */
export function effortOf(raw: RawProfile, root: Entity, kinds: Uint8Array, weights: Float64Array): Effort | undefined {
  const workNs = root.processorTimeNs;
  const waitingNs = root.idlenessNs + root.spinBlameNs;
  const effortNs = workNs + waitingNs;
  if (effortNs === 0) return undefined;
  const sums = new Float64Array(overheadKinds.length + 1);
  for (let k = 0; k < kinds.length; k++) addAt(sums, u8(kinds, k), f64(weights, k));
  const of = (kind: OverheadKind): number => f64(sums, overheadKinds.indexOf(kind) + 1);
  const overheadNs = overheadKinds.reduce((sum, kind) => sum + of(kind), 0);
  return {
    effortNs,
    workNs,
    idlenessNs: root.idlenessNs,
    spinningNs: root.spinBlameNs,
    overheadNs,
    overhead: {
      synchronization: of('synchronization'),
      scheduling: of('scheduling'),
      threads: of('threads'),
      library: of('library'),
    },
    guidance: isOverheadKnown(raw) ? guidanceOf(waitingNs / effortNs, overheadNs / effortNs) : null,
  };
}
