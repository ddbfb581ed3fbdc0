/* System call filters (seccomp) that a process has inherited, and that may kill it for a call.
 *
 * Such a filter cannot be queried for what it allows, so a child makes the calls on trial. That child differs from
 * those that the program makes: it sends no signal when it ends, no at-fork handler runs, and its parent is suspended
 * until it ends (CLONE_VFORK, memory copied).
 *
 * Owns:    nothing that lasts.
 * Writer, reader: code that is about to make system calls that the program would not make: the publishing side in the
 * program, the sampler.
 * Must not: make a system call in the program itself that the dynamic linker has not made there; allocate; take a lock.
 */
#ifndef QZ_ABI_SANDBOX_H
#define QZ_ABI_SANDBOX_H

#pragma GCC visibility push(hidden)

/* Returns the number of filters of process `pid` (0: this one); 0: none, or unknown. Kernels before 5.9 do not
 * report the number; then 1 stands for any. -1: /proc does not show it. It also works for a process that has ended
 * but has not been waited for. */
int qz_sandbox_filters(long pid);

/* Returns whether a child survives `rehearsal`, which makes each call with the relevant arguments and ignores the
 * results: a call that is merely refused is harmless. Async-signal-safe. Returns 1 at once if there are no filters,
 * and 0 if no child can be made. A filter that kills for clone3, or for clone if clone3 does not exist, kills the
 * caller: such a process cannot create threads either. */
int qz_sandbox_survives(void (*rehearsal)(void));

#pragma GCC visibility pop
#endif
