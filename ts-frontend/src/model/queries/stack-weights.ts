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
  /**
   * Of each tuple of the profile: its node, and its ns, the cost of the hooks taken out where the model has done so.
   */
  stack: Uint32Array;
  weights: Float64Array;
}

/** Of a model made by buildModel. `loops`: loops of code are nodes of their own (docs/reference/loops.md). */
export function stackWeights(model: Model, { loops }: { loops: boolean }): StackWeights {
  const { stacks: plain, weights, loops: looped } = tablesOf(model);
  const { raw, stacks } = loops ? looped : { raw: model.raw, stacks: plain };
  return {
    parent: stacks.parent,
    entity: stacks.entity,
    runtime: ownOf(raw, stacks).hidden,
    stack: raw.tuples.stack,
    weights,
  };
}
