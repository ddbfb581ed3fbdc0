/** How callers were found on threads' stacks (docs/reference/call-paths.md). */

/** Why a walk ended before the thread's beginning: abi/profile_rows.h, enum qz_cut. */
export const cutReasons = ['no-rule', 'wrong', 'memory', 'generated', 'later', 'deep'] as const;
export type CutReason = (typeof cutReasons)[number];

/** By unwind information, by machine code, by the frame pointer: enum qz_unwound_by. */
export const unwoundBy = ['table', 'code', 'pointer'] as const;
type UnwoundBy = (typeof unwoundBy)[number];

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
