/**
 * What a set of profiles uses of one member (docs/reference/sets.md): the weights of its tuples as in a report, names,
 * and where it waits for other processes. A report on that profile alone gives the same numbers. Pure.
 */
import { isOfProcesses } from '../evidence/wait-kinds.js';
import { withoutCpu, type WithoutCpu } from '../evidence/without-cpu.js';
import { factorsOf, weightsOf } from '../metrics/compensation.js';
import { kindOf, namer } from '../metrics/naming.js';
import { item, u32 } from '../profile/columns.js';
import type { RawEntity, RawObject, RawProfile } from '../profile/raw-profile.js';
import type { Kind } from '../result/types.js';

/** The part of a profile that a set uses. */
export interface MemberProfile extends Pick<
  RawProfile,
  'head' | 'stacks' | 'balance' | 'onPath' | 'calls' | 'threads' | 'messages'
> {
  entities: readonly Pick<
    RawEntity,
    'kind' | 'name' | 'file' | 'line' | 'address' | 'module' | 'record' | 'naming' | 'libraryWait'
  >[];
  tuples: Omit<RawProfile['tuples'], 'torn' | 'kernel'>;
  objects: readonly Omit<RawObject, 'capacity' | 'observedNs' | 'queueNs' | 'waitHist' | 'holdHist'>[];
  modules: readonly Pick<RawProfile['modules'][number], 'path' | 'bias'>[];
}

export interface Member {
  raw: MemberProfile;
  weights: Float64Array; // compensated weight of each tuple, in ns
  /** The name of an entity in reports. */
  nameOf: (entity: number) => string;
  kindOf: (entity: number) => Kind;
  /** Threads that could work but have no CPU; `aloneNs` is that of waits for other processes. */
  withoutCpu: WithoutCpu;
}

/** By node of the tree of stacks: the innermost procedure, 0 = none. */
function innermostOf({ stacks, entities }: MemberProfile): Uint32Array {
  const procedure = new Uint32Array(Math.max(1, stacks.parent.length));
  for (let n = 1; n < stacks.parent.length; n++) {
    const its = u32(stacks.entity, n);
    procedure[n] = item(entities, its).kind === 'procedure' ? its : u32(procedure, u32(stacks.parent, n));
  }
  return procedure;
}

export function memberOf(raw: MemberProfile): Member {
  const stacks = { procedure: innermostOf(raw), entity: raw.stacks.entity };
  return {
    raw,
    weights: weightsOf(raw, stacks, factorsOf(raw, stacks, true)).ns,
    nameOf: namer(raw),
    kindOf: (id) => kindOf(item(raw.entities, id).kind),
    withoutCpu: withoutCpu(raw, (id) => isOfProcesses(item(raw.entities, id))),
  };
}
