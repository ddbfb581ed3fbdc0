/** The tree of stacks and what each tuple weighs, for who makes other profiles of them. Pure. */
import { ownOf } from '../evidence/code-origin.js';
import { tablesOf } from '../metrics/tables.js';
import type { Model } from '../result/types.js';

export interface StackWeights {
  /** Of a node of the tree of stacks, less than it; node 0 is the empty stack. */
  parent: Uint32Array;
  entity: Uint32Array;
  /** 1: a run-time library's procedure, called from something else. */
  runtime: Uint8Array;
  /** ns of each tuple of the profile, the cost of the hooks taken out where the model has done so. */
  weights: Float64Array;
}

/** Of a model made by buildModel. */
export function stackWeights(model: Model): StackWeights {
  const { stacks, weights } = tablesOf(model);
  return { parent: stacks.parent, entity: stacks.entity, runtime: ownOf(model.raw, stacks).hidden, weights };
}
