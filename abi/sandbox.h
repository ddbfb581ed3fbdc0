/* Filters of system calls (seccomp) that a process has inherited, and that may kill it for a call.
 *
 * Nobody can ask such a filter what it allows, so the calls are made for trial, by a child. That child is made like
 * none of the program's own: it sends no signal when it ends, no at-fork handler runs, and its parent is stopped in the
 * meantime (CLONE_VFORK, memory copied).
 *
 * Owns:    nothing that lasts. Writer, reader: who is about to make system calls that the program would not make: the
 * publishing side in the program, the sampler. Must not: make a system call in the program itself that the dynamic
 * linker has not made there; allocate; take a lock.
 */
#ifndef QZ_ABI_SANDBOX_H
#define QZ_ABI_SANDBOX_H

#pragma GCC visibility push(hidden)

/* Filters that process `pid` (0: this one) is under; 0: none, or not known. A kernel before 5.9 does not give their
 * number: 1 stands for any. -1: /proc does not say. Of a process that has ended, until it is waited for. */
int qz_sandbox_filters(long pid);

/* Whether a child gets through `rehearsal` alive, which makes each call with the arguments that matter, and ignores
 * what becomes of it: a call that is refused is no harm. Async-signal-safe. At once 1 where there are no filters. 0
 * also where no child can be made. A filter that kills for clone3, or for clone where clone3 is not there, kills the
 * caller: such a process makes no threads either. */
int qz_sandbox_survives(void (*rehearsal)(void));

#pragma GCC visibility pop
#endif
