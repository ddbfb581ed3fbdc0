/**
 * The arrays from which a model's numbers are made, for whatever asks more of it later: findings, focus, invariants.
 */
import type { RowsBy } from '../profile/row-index.js';
import type { RawProfile } from '../profile/raw-profile.js';
import type { Stacks } from '../profile/stack-tree.js';
import type { Model } from '../result/types.js';
import type { Calls } from './call-counts.js';
import type { Sums } from './sums.js';

/** What findings, focus and invariants need besides the model itself. */
export interface Tables {
  entities: number; // of the model: the root, those of the profile, groups
  stacks: Stacks; // without loops and lines of code
  byStack: RowsBy; // tuples of each stack
  weights: Float64Array; // ns of each tuple, compensated
  overhead: Uint8Array; // kind of overhead of each tuple: overheadOf
  sums: Sums;
  groupOf: Uint32Array; // by entity of the profile, 0 = none
  calls: Calls;
  /** The profile with loops of code on its paths, too; where it has none, the same as the model's. */
  loops: { raw: RawProfile; stacks: Stacks };
  /** The profile as it is, with loops and lines of code on its paths; where it has none, the same. */
  lines: { raw: RawProfile; stacks: Stacks };
  /** As it was recorded, without loops and lines: where the model is of what the program would have shown by itself. */
  measured: RawProfile;
}
const tables = new WeakMap<Model, Tables>();

/** Whether a model was made by buildModel, and is not a changed copy of one. */
export const isBuilt = (model: Model): boolean => tables.has(model);

/** Of a model made by buildModel; throws otherwise. */
export function tablesOf(model: Model): Tables {
  const found = tables.get(model);
  if (!found) throw new Error('not a model made by buildModel');
  return found;
}

export function rememberTables(model: Model, its: Tables): void {
  tables.set(model, its);
}
