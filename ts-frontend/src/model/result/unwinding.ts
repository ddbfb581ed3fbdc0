/** How callers were found on threads' stacks (docs/reference/call-paths.md). */

import { cuts, type CutReason, unwoundWays, type UnwoundBy } from '../profile/abi.js';

export type { CutReason };

/** Why a walk ended before the thread's beginning. */
export const cutReasons = Object.keys(cuts) as CutReason[];

/** By unwind information, by machine code, by the frame pointer. */
export const unwoundBy = Object.keys(unwoundWays) as UnwoundBy[];

/** Steps from a procedure to its caller, by what precedes the return address: enum qz_link. */
interface UnwindSteps {
  valid: number; // a call of that procedure
  likely: number; // another call, which may have led to it
  invalid: number; // no such call; steps by machine code or frame pointer are then rejected
}

export interface UnwindingModule {
  module: string; // path; '': code in no file
  walks: number; // number of walks whose outermost procedure belongs to this module
  cut: Record<CutReason, number>; // number of these that were cut short, by reason
  steps: Record<UnwoundBy, UnwindSteps>; // steps from the module's procedures to their callers
}

export interface Unwinding extends Omit<UnwindingModule, 'module'> {
  modules: UnwindingModule[];
}
