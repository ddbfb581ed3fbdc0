/**
 * Work of procedures with a known purpose, including everything that they call: each sample counts for the outermost
 * one on its path. Pure functions.
 */
import { f64, u16, u32, u8 } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import { State } from '../../profile/raw-profile.js';
import type { FindingContext } from '../context.js';
import { shownId } from '../context.js';
import { isFor } from '../purposes.js';

export interface WorkBelow {
  cost: number; // NPT
  busy: number; // processor time
  spinning: number; // number of processors that spun then, times cost
  byEntry: Map<number, number>; // NPT by the outermost procedure for it
  byCaller: Map<number, number>; // by the program's procedure that called it, 0 if unknown
  isOf: (tuple: number) => boolean;
}

/** `purposes`: any of these bits. */
export function workBelow({ model, tables, own }: FindingContext, purposes: number): WorkBelow {
  const { tuples } = model.raw;
  const { stacks, weights } = tables;
  const isOne = Uint8Array.from(model.entities, (entity) =>
    entity.kind === 'procedure' && isFor(entity, purposes) ? 1 : 0,
  );
  const entry = new Uint32Array(stacks.count); // by node: the outermost such node on its path, 0 if none
  for (let n = 1; n < stacks.count; n++)
    entry[n] = entry[u32(stacks.parent, n)] || (isOne[u32(stacks.entity, n)] === 1 ? n : 0);
  const isOf = (k: number): boolean => tuples.state[k] === State.useful && entry[u32(tuples.stack, k)] !== 0;
  const work: WorkBelow = { cost: 0, busy: 0, spinning: 0, byEntry: new Map(), byCaller: new Map(), isOf };
  for (let k = 0; k < weights.length; k++) {
    if (!isOf(k)) continue;
    const at = u32(entry, u32(tuples.stack, k));
    const busy = f64(weights, k),
      npt = busy / Math.max(1, u16(tuples.busy, k));
    work.cost += npt;
    work.busy += busy;
    work.spinning += npt * u16(tuples.spinning, k);
    addTo(work.byEntry, shownId(model, u32(stacks.entity, at)), npt);
    addTo(work.byCaller, shownId(model, u32(own.procedure, u32(stacks.parent, at))), npt);
  }
  return work;
}

export const mostOf = (map: ReadonlyMap<number, number>): [number, number] | undefined =>
  [...map].sort((a, b) => b[1] - a[1])[0];

/** Marks its samples as explained by a finding (FindingContext.covered). */
export function cover({ covered }: FindingContext, { isOf }: Pick<WorkBelow, 'isOf'>): void {
  for (let k = 0; k < covered.length; k++) covered[k] = u8(covered, k) | (isOf(k) ? 1 : 0);
}
