/**
 * Whose code a stack is in, for those who can change the program: procedures of the run-time libraries of C, C++ and
 * OpenMP belong to the procedure that calls them, however deep. Only findings look at it so; tables and paths show
 * every procedure. Pure.
 */
import type { RawProfile } from '../profile/raw-profile.js';
import type { Stacks } from '../profile/stack-tree.js';

export interface Own {
  /** By node: 1 where it is a run-time library's procedure, called from something else. */
  hidden: Uint8Array;
  /** By node: the entity that it belongs to: its own, or that of the nearest node below it that is not hidden. */
  owner: Uint32Array;
  /** By node: the innermost procedure that is not hidden, 0 = none. */
  procedure: Uint32Array;
}

const runtime =
  /^(libc|libm|libmvec|libgfortran|libquadmath|libpthread|librt|libdl|libstdc\+\+|libc\+\+|libc\+\+abi|libunwind|libgcc_s|libgomp|libomp|libiomp5|ld-linux[^/]*|ld-musl[^/]*|libquartz-pthread)(-[0-9.]+)?\.so(\.|$)/;

export function isRuntime(path: string): boolean {
  return runtime.test(path.slice(path.lastIndexOf('/') + 1));
}

export function ownOf(raw: RawProfile, stacks: Stacks): Own {
  const { count, parent, entity } = stacks;
  const modules = raw.modules.map(({ path }) => isRuntime(path));
  const foreign = raw.entities.map(({ kind, module }) => kind === 'procedure' && module > 0 && modules[module - 1]);
  const hidden = new Uint8Array(count),
    owner = new Uint32Array(count),
    procedure = new Uint32Array(count);
  const called = new Uint8Array(count); // something that is not foreign is at or below it
  for (let n = 1; n < count; n++) {
    // parents come before their children
    const up = parent[n]!,
      e = entity[n]!;
    called[n] = foreign[e] && called[up] === 0 ? 0 : 1;
    hidden[n] = foreign[e] && called[up] === 1 ? 1 : 0;
    owner[n] = hidden[n] === 1 ? owner[up]! : e;
    procedure[n] = hidden[n] === 0 && raw.entities[e]!.kind === 'procedure' ? e : procedure[up]!;
  }
  return { hidden, owner, procedure };
}
