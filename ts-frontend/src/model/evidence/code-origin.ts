/**
 * Attributes stacks to code that a user can change: procedures of the run-time libraries of C, C++ and OpenMP, and what
 * the program's module has of the C++ and Rust libraries (instances of templates), belong to the procedure that calls
 * them, however deep. Used by findings only; tables and paths show every procedure. Pure
 * functions.
 */
import { isNameless } from '../metrics/public-names.js';
import { Purpose } from '../profile/abi.js';
import { item, u32 } from '../profile/columns.js';
import type { Origin, RawProfile } from '../profile/raw-profile.js';
import type { Stacks } from '../profile/stack-tree.js';

export interface Own {
  /** By node: 1 if it is a procedure of a run-time library that other code called. */
  hidden: Uint8Array;
  /** By node: the entity to which it belongs: its own, or that of the nearest ancestor that is not hidden. */
  owner: Uint32Array;
  /** By node: the innermost procedure that is not hidden, 0 if none. */
  procedure: Uint32Array;
}

/** Whether it belongs to a run-time library; the sampler decides which these are (abi/origin.h). */
export const isRuntime = ({ origin }: { origin: Origin }): boolean => origin === 'runtime' || origin === 'openmp';
/** Whether it belongs to such a library, or is the program's copy of code of the C++ or Rust library. */
export const isLibraryCode = (of: { origin: Origin }): boolean => of.origin === 'standard' || isRuntime(of);
/** Whether it belongs to a library that the system installed, which starts threads or passes on the program's calls. */
export const isOfSystem = (of: { origin: Origin }): boolean => of.origin === 'installed' || isRuntime(of);
/** Whether, as far as is known, the program's authors wrote it: neither the former nor the libraries of C++ or Rust. */
export const isOwn = ({ origin }: { origin: Origin }): boolean => origin === 'own' || origin === 'unknown';

/**
 * By node: whether a run-time's thread begins there: in a procedure known for it, or in a nameless one that such a
 * procedure starts (cgo's `threadentry` in a stripped Go program).
 */
function startsOfRuntime(raw: RawProfile, { count, parent, entity }: Stacks): Uint8Array {
  const starts = raw.entities.map(
    ({ kind, purposes }) => kind === 'procedure' && (purposes & Purpose.threadStart) !== 0,
  );
  const isStart = new Uint8Array(count);
  for (let n = 1; n < count; n++) {
    const e = u32(entity, n),
      its = item(raw.entities, e);
    isStart[n] =
      starts[e] || (its.kind === 'procedure' && isNameless(its) && starts[u32(entity, u32(parent, n))]) ? 1 : 0;
  }
  return isStart;
}

export function ownOf(raw: RawProfile, stacks: Stacks): Own {
  const { count, parent, entity } = stacks;
  const isProcedure = ({ kind }: RawProfile['entities'][number]): boolean => kind === 'procedure';
  const runtime = raw.entities.map((one) => isProcedure(one) && isRuntime(one)),
    foreign = raw.entities.map((one) => isProcedure(one) && isLibraryCode(one));
  const hidden = new Uint8Array(count),
    owner = new Uint32Array(count),
    procedure = new Uint32Array(count);
  const isStart = startsOfRuntime(raw, stacks);
  const called = new Uint8Array(count); // whether a node or one of its ancestors is not of a run-time library
  for (let n = 1; n < count; n++) {
    // parents precede their children
    const up = u32(parent, n),
      e = u32(entity, n);
    // what created a run-time's thread did not call what runs there
    called[n] = isStart[n] === 1 || (runtime[e] && called[up] === 0) ? 0 : 1;
    hidden[n] = isStart[n] === 1 || (foreign[e] && called[up] === 1) ? 1 : 0;
    owner[n] = hidden[n] === 1 && isStart[n] === 0 ? u32(owner, up) : e;
    procedure[n] =
      isStart[n] === 1 ? 0 : hidden[n] === 0 && item(raw.entities, e).kind === 'procedure' ? e : u32(procedure, up);
  }
  return { hidden, owner, procedure };
}
