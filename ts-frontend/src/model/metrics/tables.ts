/** The arrays from which a model's numbers are computed, for later use by findings, focus and invariants. */
import type { RowsBy } from '../profile/row-index.js';
import type { RawProfile } from '../profile/raw-profile.js';
import type { Stacks } from '../profile/stack-tree.js';
import type { Model } from '../result/types.js';
import type { Calls } from './call-counts.js';
import type { Sums } from './sums.js';

/** What findings, focus and invariants need in addition to the model. */
export interface Tables {
  entities: number; // number of entities of the model: the root, those of the profile, and groups
  stacks: Stacks; // without loops and lines of code
  byStack: RowsBy; // tuples of each stack
  weights: Float64Array; // ns of each tuple, compensated
  overhead: Uint8Array; // kind of overhead of each tuple: overheadOf
  sums: Sums;
  groupOf: Uint32Array; // the group of each entity of the profile, 0 = none
  calls: Calls;
  /** The profile with loops of code on its paths; if there are none, the same as the model's. */
  loops: { raw: RawProfile; stacks: Stacks };
  /** The profile with loops and lines of code on its paths; if there are none, the same as the model's. */
  lines: { raw: RawProfile; stacks: Stacks };
  /**
   * The profile as recorded, without loops (`raw`) and with them: the same tuples, and the same stacks as the model's.
   */
  places: { raw: RawProfile; loops: { raw: RawProfile; stacks: Stacks } };
  /**
   * The profile as recorded, without loops and lines. The model's tuples differ from it if the model describes what the
   * program would have done without other programs.
   */
  measured: RawProfile;
}
const tables = new WeakMap<Model, Tables>();

/** Whether the model was made by buildModel and is not a modified copy of one. */
export const isBuilt = (model: Model): boolean => tables.has(model);

/** The tables of a model made by buildModel; throws for other models. */
export function tablesOf(model: Model): Tables {
  const found = tables.get(model);
  if (!found) throw new Error('not a model made by buildModel');
  return found;
}

export function rememberTables(model: Model, its: Tables): void {
  tables.set(model, its);
}
