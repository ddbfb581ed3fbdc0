/**
 * Determines for each tuple whether its time is overhead of dividing the work, and of which kind
 * (docs/reference/metrics.md, section 4). Pure.
 */
import { item, u32, u8 } from '../profile/columns.js';
import { KernelWork, State, type RawProfile } from '../profile/raw-profile.js';
import type { Stacks } from '../profile/stack-tree.js';
import { overheadKinds } from '../result/effort.js';

/** Index into overheadKinds plus 1; 0: no overhead. */
type OverheadIndex = number;

const [synchronization, scheduling, threads, library] = overheadKinds.map((_, index) => index + 1) as [
  OverheadIndex,
  OverheadIndex,
  OverheadIndex,
  OverheadIndex,
];

/** By kind of work of the kernel or the library. */
const byWork = new Uint8Array(256);
byWork[KernelWork.futex] = byWork[KernelWork.lock] = synchronization;
byWork[KernelWork.yield] = scheduling;
byWork[KernelWork.thread] = threads;

/** By procedure: whether it belongs to a library that divides work among threads. */
const areRuntime = ({ entities }: RawProfile): Uint8Array =>
  Uint8Array.from(entities, ({ kind, origin }) => Number(kind === 'procedure' && origin === 'openmp'));

/** The kind of overhead of each tuple. `procedure`: of the profile's stacks. */
export function overheadOf(raw: RawProfile, { procedure }: Pick<Stacks, 'procedure'>): Uint8Array {
  const { stack, state, kernel } = raw.tuples;
  const isRuntime = areRuntime(raw);
  const kinds = new Uint8Array(stack.length);
  for (let k = 0; k < kinds.length; k++) {
    const its = u8(state, k);
    if (its === State.overhead) kinds[k] = u8(byWork, u8(kernel, k)) || scheduling;
    else if (its === State.useful)
      kinds[k] = u8(byWork, u8(kernel, k)) || (item(isRuntime, u32(procedure, u32(stack, k))) === 1 ? library : 0);
  }
  return kinds;
}

/** Whether overhead is known: for kernel threads, only samples of the kernel's own work show it. */
export const isOverheadKnown = ({ head }: Pick<RawProfile, 'head'>): boolean =>
  head.publisher === 'threadlib' || head.paths.kernel;
