/** The tree of stacks and the weight of each tuple, for conversion to other profile formats. Pure. */
import { ownOf } from '../evidence/code-origin.js';
import { tablesOf } from '../metrics/tables.js';
import type { Model } from '../result/types.js';

export interface StackWeights {
  /** By node of the tree of stacks: its parent, which has a smaller number; node 0 is the empty stack. */
  parent: Uint32Array;
  entity: Uint32Array;
  /** By node: 1 if it is a run-time library's procedure called from something else. */
  runtime: Uint8Array;
  /** By tuple of the profile: its node and its ns; the cost of hooks is subtracted if the model does so. */
  stack: Uint32Array;
  weights: Float64Array;
}

/** For models made by buildModel. `loops`: whether loops of code are nodes of their own (docs/reference/loops.md). */
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
