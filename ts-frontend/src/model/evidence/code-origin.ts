/**
 * Whose code a stack is in, for those who can change the program: procedures of the run-time libraries of C, C++ and
 * OpenMP belong to the procedure that calls them, however deep. Only findings look at it so; tables and paths show
 * every procedure. Pure.
 */
import { item, u32 } from '../profile/columns.js';
import type { Origin, RawProfile } from '../profile/raw-profile.js';
import type { Stacks } from '../profile/stack-tree.js';

export interface Own {
  /** By node: 1 where it is a run-time library's procedure, called from something else. */
  hidden: Uint8Array;
  /** By node: the entity that it belongs to: its own, or that of the nearest node below it that is not hidden. */
  owner: Uint32Array;
  /** By node: the innermost procedure that is not hidden, 0 = none. */
  procedure: Uint32Array;
}

/** A run-time library's; which these are, the sampler decides (abi/origin.h). */
export const isRuntime = ({ origin }: { origin: Origin }): boolean => origin === 'runtime' || origin === 'openmp';
/** A library's that the system installed, which starts threads or passes on what the program gave it. */
export const isOfSystem = (of: { origin: Origin }): boolean => of.origin === 'installed' || isRuntime(of);
/** Neither that, nor of C++'s or Rust's own library: what the program's authors wrote, as far as is known. */
export const isOwn = ({ origin }: { origin: Origin }): boolean => origin === 'own' || origin === 'unknown';

export function ownOf(raw: RawProfile, stacks: Stacks): Own {
  const { count, parent, entity } = stacks;
  const foreign = raw.entities.map((one) => one.kind === 'procedure' && isRuntime(one));
  const hidden = new Uint8Array(count),
    owner = new Uint32Array(count),
    procedure = new Uint32Array(count);
  const called = new Uint8Array(count); // something that is not foreign is at or below it
  for (let n = 1; n < count; n++) {
    // parents come before their children
    const up = u32(parent, n),
      e = u32(entity, n);
    called[n] = foreign[e] && called[up] === 0 ? 0 : 1;
    hidden[n] = foreign[e] && called[up] === 1 ? 1 : 0;
    owner[n] = hidden[n] === 1 ? u32(owner, up) : e;
    procedure[n] = hidden[n] === 0 && item(raw.entities, e).kind === 'procedure' ? e : u32(procedure, up);
  }
  return { hidden, owner, procedure };
}
