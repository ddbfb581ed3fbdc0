/** How callers were found on threads' stacks (docs/reference/call-paths.md). */

/** Why a walk ended before the thread's beginning: abi/profile_rows.h, enum qz_cut. */
export const cutReasons = ['no-rule', 'wrong', 'memory', 'generated', 'later', 'deep'] as const;
export type CutReason = (typeof cutReasons)[number];

/** By unwind information, by machine code, by the frame pointer: enum qz_unwound_by. */
export const unwoundBy = ['table', 'code', 'pointer'] as const;
export type UnwoundBy = (typeof unwoundBy)[number];

/** Steps from a procedure to its caller, by what stands before the return address: enum qz_link. */
export interface UnwindSteps {
  valid: number; // a call of this very procedure
  likely: number; // another call, which may have led here
  invalid: number; // no such call; by machine code or frame pointer the step was not made then
}

export interface UnwindingModule {
  module: string; // path; '': code in no file
  walks: number; // whose outermost procedure found is of it
  cut: Record<CutReason, number>; // of these
  steps: Record<UnwoundBy, UnwindSteps>; // from its procedures
}

export interface Unwinding extends Omit<UnwindingModule, 'module'> {
  modules: UnwindingModule[];
}
