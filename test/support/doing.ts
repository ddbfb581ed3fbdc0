/** What a thread does in a stretch of time that a test describes (profile-builder.ts). */
import type { KernelWork } from '../../ts-frontend/src/model/index.js';

export type ThreadState = 'useful' | 'overhead' | 'spinning' | 'ready' | 'blocked' | 'io';
export interface Doing {
  thread: string;
  state: ThreadState;
  stack: string[];
  waiting: boolean;
  woken?: true;
  kernel?: keyof typeof KernelWork; // what the kernel does for it
}

const doing =
  (state: ThreadState, waiting: boolean) =>
  (thread: string, stack: string[]): Doing => ({ thread, state, stack, waiting });
export const run = doing('useful', false);
export const overhead = doing('overhead', false);
export const ready = doing('ready', false);
export const io = doing('io', false);
/** Ready: the object at the top of the stack has let it go on. */
export const woken = (thread: string, stack: string[]): Doing => ({
  thread,
  state: 'ready',
  stack,
  waiting: false,
  woken: true,
});
/** The same on a processor. */
export const tries = (thread: string, stack: string[]): Doing => ({
  thread,
  state: 'useful',
  stack,
  waiting: false,
  woken: true,
});
/** On a processor, in the kernel. */
export const inKernel = (kernel: keyof typeof KernelWork, thread: string, stack: string[]): Doing => ({
  ...run(thread, stack),
  kernel,
});
/** On a processor, in the thread package, for that (abi/profile_rows.h). */
export const overheadFor = (kernel: keyof typeof KernelWork, thread: string, stack: string[]): Doing => ({
  ...overhead(thread, stack),
  kernel,
});
/** Blocked, or spinning, on the object at the top of the stack. */
export const wait = doing('blocked', true);
export const spin = doing('spinning', true);
