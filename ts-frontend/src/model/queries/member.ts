/**
 * What a set of profiles takes from one of them (docs/reference/sets.md): the weights of its tuples as a report has
 * them, names, and where it waits for other processes. A report on that profile alone gives the same numbers. Pure.
 */
import { measureLevels, waitedAlone } from '../evidence/activity-levels.js';
import { isOfProcesses } from '../evidence/wait-kinds.js';
import { factorsOf, weightsOf } from '../metrics/compensation.js';
import { kindOf, namingOf } from '../metrics/naming.js';
import { item } from '../profile/columns.js';
import type { RawEntity, RawProfile } from '../profile/raw-profile.js';
import { prepareStacks } from '../profile/stack-tree.js';
import type { Kind } from '../result/types.js';

export interface Member {
  raw: RawProfile;
  weights: Float64Array; // of each tuple, compensated: ns
  /** Of an entity of the profile: how a report calls it. */
  nameOf: (entity: number) => string;
  kindOf: (entity: number) => Kind;
  /** By object: elapsed time in which it is waited for there that other processes come, and nothing else runs. */
  aloneNs: ReadonlyMap<number, number>;
}

export function memberOf(raw: RawProfile): Member {
  const { names, groupOf } = namingOf(raw);
  const none = new Uint32Array(groupOf.length);
  const stacks = prepareStacks(raw, none, groupOf.length);
  const entityOf = (id: number): RawEntity => item(raw.entities, id);
  return {
    raw,
    weights: weightsOf(raw, stacks, factorsOf(raw, stacks, true)).ns,
    nameOf: (id) => item(names, id),
    kindOf: (id) => kindOf(entityOf(id).kind),
    aloneNs: waitedAlone(measureLevels(raw, stacks, none), (id) => isOfProcesses(entityOf(id))).at,
  };
}
